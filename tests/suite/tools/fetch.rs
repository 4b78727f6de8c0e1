//! `fetch`, against servers of the test's own on loopback.

mod bounds;
mod content;
mod redirects;
mod server;

use serde_json::{Value, json};
use xzatoma::policy::Authority;
use xzatoma::tool::ErrorCase::{Denied, Failed, InvalidInput, LimitExceeded, NotFound};

use super::{Caller, fact};
use crate::harness::World;
use crate::harness::grant::{self, Add};
use server::{Server, answer, send};

/// A grant of these servers and no others. Tests ask more often than an agent may.
fn granted(servers: &[&Server]) -> Authority {
    let authority = grant::nothing().requests_per_minute(1000);
    servers.iter().fold(authority, |authority, server| authority.host(&server.address.to_string()))
}

fn client<'w>(world: &'w World, servers: &[&Server]) -> Caller<'w> {
    Caller::new(world, "fetch", granted(servers))
}

/// `url` with further parameters.
fn with(url: &str, more: Value) -> Value {
    let mut arguments = json!({"url": url});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    arguments
}

#[test]
fn get_is_the_default() {
    let world = World::new();
    let server = Server::fixed("200 OK\nContent-Type: text/plain", "hello\n");
    let url = server.url("/a%20path?q=1#part");
    let report = client(&world, &[&server]).report(json!({"url": url}));
    let output = report.result.unwrap();
    assert_eq!(output.text, "hello\n");
    for (key, value) in [
        ("status", "200"),
        ("content_type", "text/plain"),
        ("bytes", "6"),
        ("truncated", "false"),
        ("redirects", "0"),
    ] {
        assert_eq!(fact(&output, key), value);
    }
    assert_eq!(fact(&output, "final_url"), server.url("/a%20path?q=1"));
    let seen = server.only();
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("GET", "/a%20path?q=1"));
    assert_eq!(seen.header("host"), [server.address.to_string()]);
    assert!(seen.header("user-agent")[0].starts_with("xzatoma-fetch/"));
    assert!(seen.body.is_empty() && seen.header("transfer-encoding").is_empty(), "{seen:?}");
    let used = &report.receipt.http[0];
    assert_eq!((used.method.as_str(), used.status, used.received_bytes), ("GET", Some(200), 6));
    assert_eq!(used.address, Some(server.address.to_string()));
}

#[test]
fn head_answers_the_headers() {
    let world = World::new();
    let server = Server::start(|_, stream| {
        send(
            stream,
            b"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\nX-Thing: a\r\nX-Thing: b\r\n\r\n",
        );
    });
    let output = client(&world, &[&server]).ok(with(&server.url("/"), json!({"method": "HEAD"})));
    assert!(output.text.starts_with("HTTP status 200 for http://127.0.0.1:"), "{}", output.text);
    for line in ["content-length: 12345", "x-thing: a", "x-thing: b"] {
        assert!(output.text.to_lowercase().contains(line), "{}", output.text);
    }
    assert_eq!(server.only().method, "HEAD");
}

#[test]
fn post_sends_a_body_and_headers() {
    let world = World::new();
    let server = Server::fixed("201 Created\nContent-Type: text/plain", "made");
    let client = client(&world, &[&server]);
    let post = |more: Value| {
        let mut arguments = with(&server.url("/new"), more);
        arguments["method"] = json!("POST");
        client.ok(arguments)
    };
    let output = post(json!({
        "body": "{\"grüße\": 1}",
        "headers": {"Authorization": "Bearer token", "X-Custom": "one, two", "Accept": "text/csv"},
    }));
    assert_eq!((output.text.as_str(), fact(&output, "status")), ("made", "201"));
    let seen = server.only();
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/new"));
    assert_eq!(seen.body, "{\"grüße\": 1}".as_bytes());
    assert_eq!(seen.header("authorization"), ["Bearer token"]);
    assert_eq!(seen.header("x-custom"), ["one, two"]);
    assert_eq!(seen.header("accept"), ["text/csv"]);
    assert_eq!(seen.header("content-type"), ["application/json"]);

    post(json!({"body": "plain", "headers": {"content-type": "text/x-own"}}));
    post(json!({"body": "x".repeat(300_000)}));
    post(json!({}));
    let seen = server.seen();
    assert_eq!(seen[1].header("content-type"), ["text/x-own"]);
    assert_eq!(seen[2].body.len(), 300_000);
    assert_eq!(seen[2].header("content-type"), ["text/plain; charset=utf-8"]);
    assert!(seen[3].body.is_empty());
}

#[test]
fn a_status_of_failure_is_one() {
    let world = World::new();
    let page = "<html><title>Oh</title><body><h1>No such page</h1><script>x()</script></body>";
    for (head, parts) in [
        (
            "404 Not Found\nContent-Type: text/html",
            vec!["HTTP status 404", "check the URL", "No such page"],
        ),
        (
            "500 Internal Server Error\nContent-Type: text/html",
            vec!["HTTP status 500", "try again later"],
        ),
        ("403 Forbidden\nContent-Type: text/html", vec!["HTTP status 403", "Authorization"]),
        (
            "429 Too Many Requests\nRetry-After: 17\nContent-Type: text/html",
            vec!["429", "Retry-After: 17"],
        ),
    ] {
        let server = Server::fixed(head, page);
        let client = client(&world, &[&server]);
        let message = client.fails(json!({"url": server.url("/p")}), Failed, &parts);
        assert!(message.contains(&server.url("/p")) && !message.contains("x()"), "{message}");
    }
    let server = Server::fixed("503 Unavailable\nContent-Type: text/plain", "y".repeat(1 << 20));
    let message =
        client(&world, &[&server]).fails(json!({"url": server.url("/")}), Failed, &["503"]);
    assert!(message.len() < 3000 && message.contains("yyy") && message.ends_with("[cut]"));
    let head = with(&server.url("/"), json!({"method": "HEAD"}));
    client(&world, &[&server]).fails(head, Failed, &["503"]);
}

#[test]
fn what_is_no_request() {
    let world = World::new();
    let server = Server::fixed("200 OK", "");
    let client = client(&world, &[&server]);
    for (url, part) in [
        ("", "not a URL"),
        ("example.com/page", "not a URL"),
        ("file:///etc/passwd", "http or https"),
        ("ftp://127.0.0.1/", "http or https"),
        ("data:text/plain,x", "http or https"),
        ("http://user@127.0.0.1/", "Authorization"),
        ("http://user:secret@127.0.0.1/", "Authorization"),
        ("http://127.0.0.1\\@evil/", "backslash"),
        ("http://127.0.0.1/\tx", "control character"),
        ("http://127.0.0.1:99999/", "not a URL"),
    ] {
        let message = client.fails(json!({"url": url}), InvalidInput, &[part]);
        assert!(!message.contains("secret"), "{message}");
    }
    let url = server.url("/");
    let long = format!("{url}{}", "x".repeat(9000));
    client.fails(json!({"url": long}), InvalidInput, &["8192"]);
    client.fails(with(&url, json!({"body": "x"})), InvalidInput, &["POST"]);
    client.fails(with(&url, json!({"max_bytes": 0})), InvalidInput, &["`max_bytes`"]);
    client.fails(with(&url, json!({"max_bytes": 10_485_761})), InvalidInput, &["`max_bytes`"]);
    for name in ["Host", "content-length", "Transfer-Encoding", "Connection", "Upgrade", "TE"] {
        client.fails(with(&url, json!({"headers": {name: "1"}})), InvalidInput, &[name]);
    }
    for (name, value, part) in [
        ("a b", "x", "a b"),
        ("", "x", "malformed"),
        ("a:b", "x", "malformed"),
        ("x", "y\r\nHost: evil", "control characters"),
        ("x", "y\0", "control characters"),
    ] {
        client.fails(with(&url, json!({"headers": {name: value}})), InvalidInput, &[part]);
    }
    client.fails(with(&url, json!({"headers": {"a": "1", "A": "2"}})), InvalidInput, &["twice"]);
    let many: serde_json::Map<_, _> = (0..65).map(|n| (format!("x-{n}"), json!(""))).collect();
    client.fails(with(&url, json!({"headers": many})), InvalidInput, &["65 entries"]);
    assert!(server.seen().is_empty());
}

#[test]
fn what_is_not_granted_is_not_reached() {
    let world = World::new();
    let (granted, other) = (Server::fixed("200 OK", ""), Server::fixed("200 OK", ""));
    let port = other.address.port();
    let client = client(&world, &[&granted]);
    let message = client.fails(json!({"url": other.url("/")}), Denied, &["--allow-host"]);
    assert!(message.contains(&other.address.to_string()), "{message}");
    for host in ["localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "127.1"] {
        let report = client.report(json!({"url": format!("http://{host}:{port}/")}));
        let error = report.result.unwrap_err();
        assert_eq!(error.case, Denied, "{host}: {error}");
        assert!(!report.receipt.denials.is_empty(), "{host}");
    }
    let nothing = Caller::new(&world, "fetch", grant::nothing());
    nothing.fails(json!({"url": granted.url("/")}), Denied, &["network"]);
    let public = Caller::new(&world, "fetch", grant::nothing().public());
    public.fails(json!({"url": other.url("/")}), Denied, &["loopback"]);
    assert!(granted.seen().is_empty() && other.seen().is_empty());
    // A rule can name the methods, too; this one names all of them.
    client.ok(json!({"url": granted.url("/")}));
}

#[test]
fn names_that_do_not_resolve_and_ports_that_do_not_answer() {
    let world = World::new();
    let gone = Server::fixed("200 OK", "");
    let authority = granted(&[&gone]).host("nowhere.invalid:80");
    let url = gone.url("/");
    drop(gone);
    let client = Caller::new(&world, "fetch", authority);
    client.fails(json!({"url": url}), Failed, &[&url, "connect"]);
    client.fails(json!({"url": "http://nowhere.invalid/"}), NotFound, &["nowhere.invalid"]);
}

#[test]
fn a_host_is_asked_only_so_often() {
    let world = World::new();
    let server = Server::fixed("200 OK\nContent-Type: text/plain", "x");
    let client = Caller::new(&world, "fetch", granted(&[&server]).requests_per_minute(2));
    client.ok(json!({"url": server.url("/1")}));
    client.ok(json!({"url": server.url("/2")}));
    let message = client.fails(json!({"url": server.url("/3")}), LimitExceeded, &["limit is 2"]);
    assert!(message.contains("try again in"), "{message}");
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn redirects_count_as_requests() {
    let world = World::new();
    let server = Server::start(|seen, stream| {
        let next = format!("302 Found\nLocation: {}x", seen.target);
        send(stream, &answer(&next, b""));
    });
    let client = Caller::new(&world, "fetch", granted(&[&server]).requests_per_minute(3));
    client.fails(json!({"url": server.url("/")}), LimitExceeded, &["limit is 3"]);
    assert_eq!(server.seen().len(), 3);
}
