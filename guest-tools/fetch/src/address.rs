//! Which addresses are taken at all. Whether a host may be reached is the host's to say.

use url::Url;
use xzatoma_tool::{Error, Result};

/// Longest address taken; servers refuse longer ones.
const MAX_URL_BYTES: usize = 8 * 1024;

/// An address as the model gave it.
pub fn parse(given: &str) -> Result<Url> {
    let given = given.trim();
    if given.len() > MAX_URL_BYTES {
        return Err(Error::invalid_input(format!(
            "the URL has {} bytes; at most {MAX_URL_BYTES} are taken",
            given.len()
        )));
    }
    // The parser would drop or replace these without a word, so that another address would be
    // fetched than the one that a reader sees.
    if given.contains(|character: char| character.is_control() || character == '\\') {
        return Err(Error::invalid_input(
            "the URL has a control character or a backslash; encode it as %XX",
        ));
    }
    let url = Url::parse(given).map_err(|error| {
        Error::invalid_input(format!(
            "{given:?} is not a URL ({error}); give one such as https://example.com/page"
        ))
    })?;
    match refused(&url) {
        Some(why) => Err(Error::invalid_input(why)),
        None => Ok(without_fragment(url)),
    }
}

/// The address that a redirect from `from` leads to.
pub fn follow(from: &Url, location: &str) -> Result<Url> {
    if location.len() > MAX_URL_BYTES {
        return Err(Error::failed(format!(
            "{from} redirects to an address of {} bytes; at most {MAX_URL_BYTES} are taken",
            location.len()
        )));
    }
    let url = from.join(location.trim()).map_err(|error| {
        Error::failed(format!("{from} redirects to {location:?}, which is not a URL ({error})"))
    })?;
    if let Some(why) = refused(&url) {
        return Err(Error::denied(format!("{from} redirects to an address not followed: {why}")));
    }
    if from.scheme() == "https" && url.scheme() == "http" {
        return Err(Error::denied(format!(
            "{from} redirects from https to {url}, which is not encrypted; fetch that address \
             yourself if that is meant"
        )));
    }
    Ok(without_fragment(url))
}

fn refused(url: &Url) -> Option<String> {
    if !matches!(url.scheme(), "http" | "https") {
        Some(format!("the scheme {:?} is not http or https", url.scheme()))
    } else if !url.username().is_empty() || url.password().is_some() {
        Some("a name or password in the URL is not taken; use an Authorization header".to_owned())
    } else if url.host_str().is_none_or(str::is_empty) {
        Some("the URL has no host".to_owned())
    } else {
        None
    }
}

/// A fragment is never sent, and two addresses that differ only there are the same.
fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}

/// Host and port as they stand in a request.
pub fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

pub fn path_with_query(url: &Url) -> String {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_web_addresses() {
        for given in [
            "",
            "example.com",
            "/path",
            "file:///etc/passwd",
            "ftp://h/",
            "data:text/plain,x",
            "javascript:alert(1)",
            "http://user@h/",
            "http://user:secret@h/",
            "http://:secret@h/",
            "http:///",
            "http://h\\@evil/",
            "http://h/\tx",
            "http://ex\nample.com/",
            "http://h:99999/",
            "http://[::1/",
            "http://a\0b/",
        ] {
            let error = parse(given).unwrap_err();
            assert_eq!(error.case(), "invalid-input", "{given:?}");
            assert!(!error.message().contains("secret") || given.is_empty(), "{error}");
        }
        assert_eq!(
            parse(&format!("http://h/{}", "x".repeat(9000))).unwrap_err().case(),
            "invalid-input"
        );
    }

    #[test]
    fn parts_of_a_request() {
        let url = parse(" https://EXAMPLE.com:443/a b?q=1#part ").unwrap();
        assert_eq!(url.as_str(), "https://example.com/a%20b?q=1");
        assert_eq!(authority(&url), "example.com");
        assert_eq!(path_with_query(&url), "/a%20b?q=1");
        assert_eq!(authority(&parse("http://h:8080").unwrap()), "h:8080");
        assert_eq!(path_with_query(&parse("http://h:8080").unwrap()), "/");
        assert_eq!(authority(&parse("http://[::1]:80/").unwrap()), "[::1]");
        // One spelling, whatever the disguise: the host checks what is really dialled.
        assert_eq!(authority(&parse("http://0xA9.0376.43518/").unwrap()), "169.254.169.254");
    }

    #[test]
    fn redirects() {
        let from = parse("https://h/a/b").unwrap();
        let to = |location: &str| follow(&from, location);
        assert_eq!(to("c?d#e").unwrap().as_str(), "https://h/a/c?d");
        assert_eq!(to("//other/x").unwrap().as_str(), "https://other/x");
        for location in ["http://h/", "file:///etc/passwd", "https://u:p@h/", "gopher://h/"] {
            assert_eq!(to(location).unwrap_err().case(), "denied", "{location}");
        }
        assert_eq!(to("https://[").unwrap_err().case(), "failed");
        assert_eq!(to(&"x".repeat(9000)).unwrap_err().case(), "failed");
        let plain = parse("http://h/").unwrap();
        assert_eq!(follow(&plain, "https://h/").unwrap().as_str(), "https://h/");
    }
}
