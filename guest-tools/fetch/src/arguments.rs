//! What the model may ask for, and the same as a request that makes sense.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;
use xzatoma_tool::{Error, Result};

use crate::address;

const DEFAULT_MAX_BYTES: u64 = 1024 * 1024;

/// What the host lets one body have; more could not arrive.
const MAX_BYTES: u64 = 10 * 1024 * 1024;

/// Headers in one request; browsers send about twenty.
const MAX_HEADERS: usize = 64;

/// Names and values together; servers refuse more than about this.
const MAX_HEADER_BYTES: usize = 16 * 1024;

/// Set by the host, about the connection rather than the request, or decided here: given by
/// somebody else they would make the server see another request than the one that was checked.
const FORBIDDEN_HEADERS: [&str; 16] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-forwarded-host",
];

// What the model reads about the fields are their doc comments; the struct itself has none.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Address, http or https.
    pub url: String,
    /// Default GET.
    #[serde(default)]
    pub method: Option<Method>,
    /// Further request headers by name.
    #[serde(default)]
    pub headers: Option<BTreeMap<String, String>>,
    /// Body of a POST.
    #[serde(default)]
    pub body: Option<String>,
    /// `markdown` (default) turns HTML into Markdown, `text` into plain text, `raw` leaves it as
    /// it is. JSON is indented unless raw.
    #[serde(default)]
    pub format: Option<Format>,
    /// Bytes read of the body, 1 to 10485760; default 1048576. The answer says where it was cut.
    #[serde(default)]
    pub max_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    #[default]
    Get,
    Head,
    Post,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    #[default]
    Markdown,
    Text,
    Raw,
}

/// A call that makes sense.
#[derive(Debug)]
pub struct Wanted {
    pub url: Url,
    pub method: Method,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub format: Format,
    pub max_bytes: usize,
}

impl TryFrom<Arguments> for Wanted {
    type Error = Error;

    fn try_from(arguments: Arguments) -> Result<Wanted> {
        let url = address::parse(&arguments.url)?;
        let method = arguments.method.unwrap_or_default();
        if arguments.body.is_some() && method != Method::Post {
            return Err(Error::invalid_input("only a POST has a body; set `method` to POST"));
        }
        let max_bytes = arguments.max_bytes.unwrap_or(DEFAULT_MAX_BYTES);
        if !(1..=MAX_BYTES).contains(&max_bytes) {
            return Err(Error::invalid_input(format!(
                "`max_bytes` is {max_bytes}; it can be 1 to {MAX_BYTES}"
            )));
        }
        let headers = arguments.headers.unwrap_or_default();
        check_headers(&headers)?;
        Ok(Wanted {
            url,
            method,
            headers: headers.into_iter().collect(),
            body: arguments.body.unwrap_or_default().into_bytes(),
            format: arguments.format.unwrap_or_default(),
            // Checked to be small above.
            max_bytes: max_bytes as usize,
        })
    }
}

fn check_headers(headers: &BTreeMap<String, String>) -> Result<()> {
    let bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if headers.len() > MAX_HEADERS || bytes > MAX_HEADER_BYTES {
        return Err(Error::invalid_input(format!(
            "`headers` has {} entries with {bytes} bytes; at most {MAX_HEADERS} with \
             {MAX_HEADER_BYTES} bytes are taken",
            headers.len()
        )));
    }
    for (name, value) in headers {
        let lower = name.to_ascii_lowercase();
        if FORBIDDEN_HEADERS.contains(&lower.as_str()) {
            return Err(Error::invalid_input(format!(
                "the header {name:?} cannot be given: it is set by itself; leave it out"
            )));
        }
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(Error::invalid_input(format!(
                "the header name {name:?} is malformed; letters, digits and `-` are usual"
            )));
        }
        let visible = |byte: u8| byte == b'\t' || (byte >= b' ' && byte != 0x7F);
        if !value.bytes().all(visible) {
            return Err(Error::invalid_input(format!(
                "the value of the header {name:?} has control characters; remove them"
            )));
        }
        let again = headers.keys().filter(|other| other.eq_ignore_ascii_case(name)).count();
        if again > 1 {
            return Err(Error::invalid_input(format!("the header {name:?} is given twice")));
        }
    }
    Ok(())
}

/// What a header's name may consist of.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(json: &str) -> Result<Wanted> {
        let arguments: Arguments = serde_json::from_str(json).unwrap();
        Wanted::try_from(arguments)
    }

    #[test]
    fn defaults() {
        let wanted = wanted(r#"{"url":"http://h/"}"#).unwrap();
        assert_eq!((wanted.method, wanted.format), (Method::Get, Format::Markdown));
        assert_eq!(wanted.max_bytes, 1024 * 1024);
        assert!(wanted.headers.is_empty() && wanted.body.is_empty());
    }

    #[test]
    fn nonsense_is_invalid() {
        for json in [
            r#"{"url":"http://h/","body":"x"}"#,
            r#"{"url":"http://h/","method":"HEAD","body":""}"#,
            r#"{"url":"http://h/","max_bytes":0}"#,
            r#"{"url":"http://h/","max_bytes":10485761}"#,
            r#"{"url":"http://h/","headers":{"Host":"other"}}"#,
            r#"{"url":"http://h/","headers":{"CONTENT-length":"1"}}"#,
            r#"{"url":"http://h/","headers":{"Transfer-Encoding":"chunked"}}"#,
            r#"{"url":"http://h/","headers":{"Connection":"close"}}"#,
            r#"{"url":"http://h/","headers":{"":"x"}}"#,
            r#"{"url":"http://h/","headers":{"a b":"x"}}"#,
            r#"{"url":"http://h/","headers":{"a:b":"x"}}"#,
            r#"{"url":"http://h/","headers":{"a":"x\r\nHost: y"}}"#,
            r#"{"url":"http://h/","headers":{"a":"x","A":"y"}}"#,
        ] {
            assert_eq!(wanted(json).unwrap_err().case(), "invalid-input", "{json}");
        }
        let many: BTreeMap<_, _> = (0..65).map(|n| (format!("x-{n}"), String::new())).collect();
        assert!(check_headers(&many).is_err());
        let long = BTreeMap::from([("x".to_owned(), "y".repeat(20_000))]);
        assert!(check_headers(&long).is_err());
    }

    #[test]
    fn ordinary_headers_are_taken() {
        let json = r#"{"url":"http://h/","method":"POST","body":"{}",
            "headers":{"Authorization":"Bearer x","X-A_b.c":"é\ty"}}"#;
        let wanted = wanted(json).unwrap();
        assert_eq!(wanted.headers.len(), 2);
        assert_eq!(wanted.body, b"{}");
    }
}
