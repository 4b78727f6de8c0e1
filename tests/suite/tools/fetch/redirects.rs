//! Redirects, each of which is a request of its own.

use serde_json::json;
use xzatoma::tool::ErrorCase::{Denied, Failed};

use super::super::fact;
use super::server::{Server, answer, send};
use super::{client, with};
use crate::harness::World;

/// Redirects `/N` to where the test says, and answers anything else with its method.
fn redirecting(
    status: u16,
    location: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Server {
    Server::start(move |seen, stream| {
        let reply = match location(&seen.target) {
            Some(to) => answer(&format!("{status} Moved\nLocation: {to}"), b"moved"),
            None => {
                let body = format!("{} {}", seen.method, seen.target);
                answer("200 OK\nContent-Type: text/plain", body.as_bytes())
            }
        };
        send(stream, &reply);
    })
}

#[test]
fn are_followed_one_by_one() {
    let world = World::new();
    for status in [301, 302, 303, 307, 308] {
        let server = redirecting(status, |target| match target {
            "/a/start" => Some("next?q=1".to_owned()),
            "/a/next?q=1" => Some("/end#part".to_owned()),
            _ => None,
        });
        let report = client(&world, &[&server]).report(json!({"url": server.url("/a/start")}));
        let output = report.result.unwrap();
        assert_eq!(output.text, "GET /end", "{status}");
        assert_eq!(
            (fact(&output, "redirects"), fact(&output, "final_url")),
            ("2", server.url("/end").as_str())
        );
        // All three are in the receipt.
        let statuses: Vec<_> = report.receipt.http.iter().map(|used| used.status).collect();
        assert_eq!(statuses, [Some(status), Some(status), Some(200)]);
    }
}

#[test]
fn a_post_becomes_a_get_or_stays() {
    let world = World::new();
    let post = json!({"method": "POST", "body": "data", "headers": {"Content-Type": "text/x-own", "X-Own": "1"}});
    for (status, method, body) in [
        (301, "GET", ""),
        (302, "GET", ""),
        (303, "GET", ""),
        (307, "POST", "data"),
        (308, "POST", "data"),
    ] {
        let server = redirecting(status, |target| (target == "/start").then(|| "/end".to_owned()));
        client(&world, &[&server]).ok(with(&server.url("/start"), post.clone()));
        let seen = server.seen();
        assert_eq!(
            (seen[1].method.as_str(), seen[1].body.as_slice()),
            (method, body.as_bytes()),
            "{status}"
        );
        assert_eq!(seen[1].header("content-type").is_empty(), method == "GET", "{status}");
        assert_eq!(seen[1].header("x-own"), ["1"]);
    }
}

#[test]
fn what_was_meant_for_one_server_does_not_reach_another() {
    let world = World::new();
    let other = redirecting(302, |_| None);
    let to = other.url("/end");
    let server = redirecting(307, move |_| Some(to.clone()));
    let headers = json!({"Authorization": "Bearer secret", "Cookie": "c", "X-Api-Key": "k", "Accept-Language": "de"});
    let both = client(&world, &[&server, &other]);
    let output = both.ok(with(&server.url("/"), json!({"headers": headers})));
    assert_eq!(output.text, "GET /end");
    let seen = other.only();
    for name in ["authorization", "cookie", "x-api-key"] {
        assert!(seen.header(name).is_empty(), "{seen:?}");
    }
    assert_eq!(seen.header("accept-language"), ["de"]);
    let post = json!({"method": "POST", "body": "secret"});
    both.fails(with(&server.url("/"), post), Denied, &["another server", &other.url("/end")]);
    assert_eq!(other.seen().len(), 1);
}

#[test]
fn are_checked_like_any_request() {
    let world = World::new();
    let other = redirecting(302, |_| None);
    let places = [
        other.url("/secret"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[::ffff:169.254.169.254]/".to_owned(),
        "http://2852039166/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://user:pw@127.0.0.1/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "gopher://127.0.0.1:70/".to_owned(),
    ];
    for place in places {
        let to = place.clone();
        let server = redirecting(302, move |_| Some(to.clone()));
        let report = client(&world, &[&server]).report(json!({"url": server.url("/")}));
        let error = report.result.unwrap_err();
        assert_eq!(error.case, Denied, "{place}: {error}");
    }
    assert!(other.seen().is_empty());
}

#[test]
fn have_an_end() {
    let world = World::new();
    let circle =
        redirecting(302, |target| Some(if target == "/a" { "/b" } else { "/a" }.to_owned()));
    client(&world, &[&circle]).fails(json!({"url": circle.url("/a")}), Failed, &["circle"]);
    let itself = redirecting(301, |target| Some(target.to_owned()));
    client(&world, &[&itself]).fails(json!({"url": itself.url("/a")}), Failed, &["circle"]);
    let endless = redirecting(302, |target| Some(format!("{target}x")));
    client(&world, &[&endless]).fails(
        json!({"url": endless.url("/")}),
        Failed,
        &["more than 10 redirects"],
    );
    assert_eq!(endless.seen().len(), 11);
    let nowhere = Server::fixed("302 Found", "");
    client(&world, &[&nowhere]).fails(
        json!({"url": nowhere.url("/")}),
        Failed,
        &["without saying where"],
    );
    let malformed = redirecting(302, |_| Some("http://[".to_owned()));
    client(&world, &[&malformed]).fails(json!({"url": malformed.url("/")}), Failed, &["not a URL"]);
    let long = redirecting(302, |_| Some(format!("/{}", "x".repeat(20_000))));
    client(&world, &[&long]).fails(json!({"url": long.url("/")}), Failed, &["at most"]);
}
