//! Redirects against a scripted server.

use super::*;
use crate::arguments::Arguments;

fn wanted(json: &str) -> Wanted {
    let arguments: Arguments = serde_json::from_str(json).unwrap();
    Wanted::try_from(arguments).unwrap()
}

fn answer(status: u16, location: &str) -> Answer<()> {
    let headers = match location {
        "" => Vec::new(),
        location => vec![("Location".to_owned(), location.as_bytes().to_vec())],
    };
    Answer { status, headers, body: () }
}

/// Runs the exchange against `server`, which is given each URL, and records the requests.
fn run(json: &str, server: impl Fn(&str) -> Answer<()>) -> (Result<Arrived<()>>, Vec<Request>) {
    let mut requests = Vec::new();
    let arrived = exchange(&wanted(json), |request| {
        requests.push(request.clone());
        let scheme = if matches!(request.scheme, Scheme::Https) { "https" } else { "http" };
        let url = format!("{scheme}://{}{}", request.authority, request.path_with_query);
        Ok(server(&url))
    });
    (arrived, requests)
}

fn header<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    let (_, value) = request.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    std::str::from_utf8(value).ok()
}

const WITH_SECRETS: &str = r#"{"url":"https://a/1","headers":
    {"Authorization":"Bearer s","Cookie":"c=1","Proxy-Authorization":"p","X-Api-Key":"k","Accept":"x/y"}}"#;

#[test]
fn no_redirect() {
    let (arrived, requests) = run(r#"{"url":"http://a/"}"#, |_| answer(200, ""));
    let arrived = arrived.unwrap();
    assert_eq!((arrived.url.as_str(), arrived.redirects), ("http://a/", 0));
    assert_eq!(requests.len(), 1);
    assert_eq!(header(&requests[0], "accept-encoding"), Some("identity"));
    assert!(header(&requests[0], "user-agent").unwrap().starts_with("xzatoma-fetch/"));
}

#[test]
fn secrets_stay_with_their_origin() {
    let secrets = ["authorization", "cookie", "proxy-authorization", "x-api-key"];
    for elsewhere in ["https://b/2", "https://a:8443/2", "//b/2"] {
        let (arrived, requests) = run(WITH_SECRETS, |url| match url {
            "https://a/1" => answer(302, elsewhere),
            _ => answer(200, ""),
        });
        assert_eq!(arrived.unwrap().redirects, 1);
        for name in secrets {
            assert!(header(&requests[0], name).is_some());
            assert_eq!(header(&requests[1], name), None, "{name} to {elsewhere}");
        }
        assert_eq!(header(&requests[1], "accept"), Some("x/y"));
    }
    let (_, requests) = run(WITH_SECRETS, |url| match url {
        "https://a/1" => answer(302, "/2"),
        _ => answer(200, ""),
    });
    assert!(secrets.iter().all(|name| header(&requests[1], name).is_some()));
}

#[test]
fn secrets_do_not_come_back() {
    let (_, requests) = run(WITH_SECRETS, |url| match url {
        "https://a/1" => answer(302, "https://b/"),
        "https://b/" => answer(302, "https://a/3"),
        _ => answer(200, ""),
    });
    assert_eq!(requests.len(), 3);
    assert_eq!(header(&requests[2], "authorization"), None);
}

#[test]
fn methods() {
    let post = r#"{"url":"http://a/1","method":"POST","body":"{\"x\":1}"}"#;
    for (status, becomes_get) in [(301, true), (302, true), (303, true), (307, false), (308, false)]
    {
        let (_, requests) = run(post, |url| match url {
            "http://a/1" => answer(status, "/2"),
            _ => answer(200, ""),
        });
        assert_eq!(header(&requests[0], "content-type"), Some("application/json"));
        assert_eq!(matches!(requests[1].method, http::Method::Get), becomes_get, "{status}");
        assert_eq!(requests[1].body.is_empty(), becomes_get, "{status}");
        assert_eq!(header(&requests[1], "content-type").is_none(), becomes_get, "{status}");
    }
    let (_, requests) = run(r#"{"url":"http://a/1","method":"HEAD"}"#, |url| match url {
        "http://a/1" => answer(302, "/2"),
        _ => answer(200, ""),
    });
    assert!(matches!(requests[1].method, http::Method::Head));
}

#[test]
fn a_body_does_not_go_elsewhere() {
    let post = r#"{"url":"http://a/1","method":"POST","body":"secret"}"#;
    let (arrived, requests) = run(post, |_| answer(307, "http://b/"));
    assert_eq!(arrived.unwrap_err().case(), "denied");
    assert_eq!(requests.len(), 1);
    let (arrived, requests) = run(post, |url| match url {
        "http://a/1" => answer(303, "http://b/"),
        _ => answer(200, ""),
    });
    assert!(arrived.is_ok() && requests[1].body.is_empty());
}

#[test]
fn ways_that_end_badly() {
    let case = |server: &dyn Fn(&str) -> Answer<()>| {
        let (arrived, requests) = run(r#"{"url":"https://a/1"}"#, server);
        (arrived.unwrap_err().case(), requests.len())
    };
    assert_eq!(case(&|_| answer(302, "/1")), ("failed", 1));
    let circle = |url: &str| answer(302, if url.ends_with('1') { "/2" } else { "/1" });
    assert_eq!(case(&circle), ("failed", 2));
    assert_eq!(case(&|url| answer(302, &format!("{url}x"))), ("failed", MAX_REDIRECTS + 1));
    assert_eq!(case(&|_| answer(302, "")), ("failed", 1));
    assert_eq!(case(&|_| answer(302, "http://a/")), ("denied", 1));
    assert_eq!(case(&|_| answer(302, "file:///etc/passwd")), ("denied", 1));
}

#[test]
fn a_way_of_ten_is_followed() {
    let (arrived, _) = run(r#"{"url":"https://a/"}"#, |url| match url.len() {
        20 => answer(200, ""),
        _ => answer(302, &format!("{url}x")),
    });
    assert_eq!(arrived.unwrap().redirects, MAX_REDIRECTS);
}

#[test]
fn failures_name_the_address_and_keep_their_case() {
    let error = exchange::<()>(&wanted(r#"{"url":"http://a/"}"#), |_| Err(Error::denied("no")));
    let error = error.unwrap_err();
    assert_eq!((error.case(), error.message()), ("denied", "fetching http://a/: no"));
}
