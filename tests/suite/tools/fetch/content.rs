//! What is made of an answer: its format, its kind, its encoding.

use serde_json::json;
use xzatoma::tool::ErrorCase::Failed;
use xzatoma::tool::ToolOutput;

use super::super::fact;
use super::server::Server;
use super::{client, with};
use crate::harness::World;

#[track_caller]
fn fetch(content_type: &str, body: impl AsRef<[u8]>, format: &str) -> ToolOutput {
    let world = World::new();
    let server = Server::fixed(&format!("200 OK\nContent-Type: {content_type}"), body);
    client(&world, &[&server]).ok(with(&server.url("/dir/page?q"), json!({"format": format})))
}

const PAGE: &str = r#"<!DOCTYPE html><html><head><title>A  page</title><style>p{}</style></head>
<body><nav><a href="/menu">menu</a></nav><h1>Head</h1><p>Some <b>bold</b> &amp; <a href="next.html">a link</a>,
<a href="//other.example/x">other</a>.</p><ul><li>one</li><li>two</li></ul><pre><code>a  b</code></pre>
<img src="/i.png" alt="pic"><script>alert(1)</script></body></html>"#;

#[test]
fn html_becomes_markdown_with_absolute_links() {
    let world = World::new();
    let server = Server::fixed("200 OK\nContent-Type: text/html; charset=utf-8", PAGE);
    let output = client(&world, &[&server]).ok(json!({"url": server.url("/dir/page?q")}));
    for part in [
        "Title: A page\n\n# Head\n",
        "Some **bold** & [a link](",
        &format!("[a link]({})", server.url("/dir/next.html")),
        "[other](http://other.example/x)",
        &format!("![pic]({})", server.url("/i.png")),
        "one\n",
        "a  b",
    ] {
        assert!(output.text.contains(part), "{part:?} is not in:\n{}", output.text);
    }
    for noise in ["alert", "p{}", "menu", "<"] {
        assert!(!output.text.contains(noise), "{noise:?} is in:\n{}", output.text);
    }
    assert_eq!(fact(&output, "title"), "A page");
    assert_eq!(fact(&output, "content_type"), "text/html");
}

#[test]
fn formats() {
    let text = fetch("text/html", PAGE, "text").text;
    assert!(text.contains("Some bold & a link, other."), "{text}");
    assert!(!text.contains("**") && !text.contains("]("), "{text}");
    assert_eq!(fetch("text/html", PAGE, "raw").text, PAGE);
    assert_eq!(fetch("text/plain", "<b>no html</b>", "markdown").text, "<b>no html</b>");
    // What says nothing about itself is looked at.
    assert_eq!(fetch("application/octet-stream", "<html><p>x", "markdown").text, "x");
}

#[test]
fn json_is_indented() {
    let json = r#"{"b":[1.10,{}],"a":"é\"{"}"#;
    let indented = "{\n  \"b\": [\n    1.10,\n    {}\n  ],\n  \"a\": \"é\\\"{\"\n}";
    assert_eq!(fetch("application/json", json, "markdown").text, indented);
    assert_eq!(fetch("application/problem+json; charset=utf-8", json, "text").text, indented);
    assert_eq!(fetch("application/json", json, "raw").text, json);
    assert_eq!(fetch("application/json", "{\"broken\":", "markdown").text, "{\"broken\":");
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert!(fetch("application/json", deep, "markdown").text.starts_with("["));
}

#[test]
fn encodings() {
    for (content_type, body, text) in [
        ("text/plain; charset=iso-8859-1", b"gr\xFC\xDFe".as_slice(), "grüße"),
        ("text/plain; charset=\"Shift_JIS\"", b"\x82\xA0", "あ"),
        ("text/plain; charset=utf-16le", b"h\0i\0", "hi"),
        ("text/plain", b"\xFF\xFEh\0i\0", "hi"),
        ("text/plain", b"\xEF\xBB\xBFhi", "hi"),
        ("text/plain", "grüße".as_bytes(), "grüße"),
        ("text/plain; charset=nonsense", "grüße".as_bytes(), "grüße"),
        ("text/html", b"<meta charset=windows-1251><p>\xCF\xF0", "Пр"),
    ] {
        assert_eq!(fetch(content_type, body, "markdown").text, text, "{content_type}");
    }
}

#[test]
fn binary_content_is_not_shown() {
    for (content_type, body) in [
        ("image/png", b"\x89PNG\r\n\x1a\n".as_slice()),
        ("application/octet-stream", b"\0\x01\x02"),
        ("text/plain", b"text\0text"),
        ("application/zip", b"PK\x03\x04\0"),
    ] {
        for format in ["markdown", "text", "raw"] {
            let output = fetch(content_type, body, format);
            let said =
                format!("[binary content, {content_type}, {} bytes read; not shown]", body.len());
            assert_eq!(output.text, said);
        }
    }
}

#[test]
fn nothing_is_said_to_be_nothing() {
    let world = World::new();
    let server = Server::fixed("204 No Content", "");
    let output = client(&world, &[&server]).ok(json!({"url": server.url("/")}));
    assert_eq!((output.text.as_str(), fact(&output, "bytes")), ("[empty body, status 204]", "0"));
}

/// `gzip -9 -n` of "hello, compressed\n".
const GZIP: &[u8] = &[
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xd7,
    0x51, 0x48, 0xce, 0xcf, 0x2d, 0x28, 0x4a, 0x2d, 0x2e, 0x4e, 0x4d, 0xe1, 0x02, 0x00, 0xa5, 0x6e,
    0x16, 0xc1, 0x12, 0x00, 0x00, 0x00,
];

#[test]
fn compression_is_not_asked_for_and_undone_all_the_same() {
    let world = World::new();
    let server = Server::fixed("200 OK\nContent-Type: text/plain\nContent-Encoding: gzip", GZIP);
    let client_of =
        |server: &Server| client(&world, &[server]).report(json!({"url": server.url("/")}));
    let output = client_of(&server).result.unwrap();
    assert_eq!(output.text, "hello, compressed\n");
    assert_eq!(server.only().header("accept-encoding"), ["identity"]);
    // A file that is compressed in itself is a binary one.
    let server = Server::fixed("200 OK\nContent-Type: application/gzip", GZIP);
    assert!(client_of(&server).result.unwrap().text.starts_with("[binary content"));
    for (encoding, body) in [("gzip", &GZIP[..20]), ("br", GZIP), ("deflate", GZIP)] {
        let head = format!("200 OK\nContent-Type: text/plain\nContent-Encoding: {encoding}");
        let server = Server::fixed(&head, body);
        let error = client_of(&server).result.unwrap_err();
        assert_eq!(error.case, Failed, "{encoding}: {error}");
        assert!(error.message.contains("compress"), "{error}");
    }
}
