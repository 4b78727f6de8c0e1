//! Servers that send too much, too slowly or nonsense.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;
use xzatoma::tool::ErrorCase::{Failed, LimitExceeded, TimedOut};

use super::super::{Caller, fact};
use super::server::{Server, answer, send, send_until_gone};
use super::{client, granted, with};
use crate::harness::World;
use crate::harness::grant::Add;

/// Longer than any of these may take, far below the time that they would take without bounds.
const SOON: Duration = Duration::from_secs(15);

#[test]
fn a_body_is_cut_at_max_bytes() {
    let world = World::new();
    let server = Server::fixed("200 OK\nContent-Type: text/plain", "é".repeat(100_000));
    let client = client(&world, &[&server]);
    let output = client.ok(with(&server.url("/"), json!({"max_bytes": 11})));
    assert!(output.text.starts_with("ééééé"), "{}", output.text);
    assert!(
        output
            .text
            .contains("[cut: only the first 11 bytes of the body were read; raise max_bytes"),
        "{}",
        output.text
    );
    assert_eq!((fact(&output, "truncated"), fact(&output, "bytes")), ("true", "11"));
    let whole = client.ok(with(&server.url("/"), json!({"max_bytes": 200_000})));
    assert_eq!((fact(&whole, "truncated"), whole.text.len()), ("false", 200_000));
    let less = client.ok(with(&server.url("/"), json!({"max_bytes": 199_999})));
    assert_eq!(fact(&less, "truncated"), "true");
    // By default a mebibyte.
    let server = Server::fixed("200 OK\nContent-Type: text/plain", "x".repeat(2 << 20));
    let client = super::client(&world, &[&server]);
    let output = client.ok(json!({"url": server.url("/")}));
    assert_eq!((fact(&output, "bytes"), fact(&output, "truncated")), ("1048576", "true"));
    assert!(output.text.len() <= 1 << 20);
}

/// A body without an end.
fn endless(stream: &mut TcpStream) {
    send(
        stream,
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    let chunk = format!("8000\r\n{}\r\n", "x".repeat(0x8000));
    send_until_gone(stream, chunk.as_bytes(), Duration::ZERO);
}

#[test]
fn an_endless_body_is_capped() {
    let world = World::new();
    let server = Server::start(|_, stream| endless(stream));
    let started = Instant::now();
    let report = client(&world, &[&server]).report(json!({"url": server.url("/")}));
    let output = report.result.unwrap();
    assert_eq!((fact(&output, "bytes"), fact(&output, "truncated")), ("1048576", "true"));
    assert!(report.receipt.http[0].received_bytes < 4 << 20, "{:?}", report.receipt.http);
    // The grant's own limit stands above what is asked for.
    let caller = Caller::new(&world, "fetch", granted(&[&server]).body_bytes(100_000));
    caller.fails(json!({"url": server.url("/")}), LimitExceeded, &["100000 bytes"]);
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}

/// A gzip stream that becomes `size` bytes: one letter, then copies of it, 258 at a time.
fn gzip_bomb(size: usize) -> Vec<u8> {
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    let (mut held, mut count) = (0_u32, 0);
    let mut put = |value: u32, length: u32, from_the_top: bool| {
        for place in 0..length {
            let bit = if from_the_top { value >> (length - 1 - place) } else { value >> place } & 1;
            held |= bit << count;
            count += 1;
            if count == 8 {
                bytes.push(held as u8);
                (held, count) = (0, 0);
            }
        }
    };
    // The last block, with the fixed codes; the letter a.
    put(1, 1, false);
    put(1, 2, false);
    put(0x30 + u32::from(b'a'), 8, true);
    for _ in 0..size / 258 {
        // Length 258, distance 1.
        put(0b1100_0101, 8, true);
        put(0, 5, true);
    }
    put(0, 7, true);
    put(0, 8, false);
    bytes
}

#[test]
fn a_gzip_bomb_is_capped() {
    let world = World::new();
    let bomb = gzip_bomb(500 << 20);
    assert!(bomb.len() < 4 << 20);
    let server = Server::fixed("200 OK\nContent-Type: text/plain\nContent-Encoding: gzip", bomb);
    let started = Instant::now();
    let output =
        client(&world, &[&server]).ok(with(&server.url("/"), json!({"max_bytes": 5_000_000})));
    assert_eq!((fact(&output, "bytes"), fact(&output, "truncated")), ("5000000", "true"));
    assert!(output.text.starts_with("aaaa"));
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}

#[test]
fn a_slow_server_times_out_with_the_call() {
    let world = World::new();
    let silent = Server::start(|_, _| std::thread::sleep(Duration::from_secs(4)));
    let dripping = Server::start(|_, stream| {
        send(
            stream,
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n",
        );
        send_until_gone(stream, b"x", Duration::from_millis(100));
    });
    for server in [&silent, &dripping] {
        let caller = Caller::new(&world, "fetch", granted(&[server]).deadline_ms(700));
        let started = Instant::now();
        caller.fails(json!({"url": server.url("/")}), TimedOut, &[]);
        let took = started.elapsed();
        assert!(took < Duration::from_millis(2500), "{took:?}");
        assert!(took >= Duration::from_millis(600), "{took:?}");
    }
}

#[test]
fn what_is_no_http_is_a_failure() {
    let world = World::new();
    for bytes in [
        b"".as_slice(),
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let server = Server::start(move |_, stream| send(stream, bytes));
        let client = client(&world, &[&server]);
        client.fails(json!({"url": server.url("/")}), Failed, &[&server.url("/")]);
    }
    let server = Server::start(|_, stream| {
        let fields: String = (0..5000).map(|n| format!("X-{n}: {}\r\n", "y".repeat(100))).collect();
        send(stream, format!("HTTP/1.1 200 OK\r\n{fields}\r\n").as_bytes());
    });
    client(&world, &[&server]).fails(json!({"url": server.url("/")}), LimitExceeded, &["header"]);
}

#[test]
fn pages_that_are_nested_without_measure() {
    let world = World::new();
    let deep = |tag: &str, count: usize| {
        format!("<html><body>{}deep inside", format!("<{tag}>").repeat(count))
    };
    for page in [
        deep("div", 100_000),
        deep("b", 100_000),
        deep("table", 100_000),
        deep("optgroup", 100_000),
        deep("dd><li", 50_000),
        deep("rt", 100_000),
        deep("p", 100_000),
        format!("<svg>{}", "<tr>".repeat(100_000)),
        format!("<math>{}", "<option>".repeat(100_000)),
        format!("{}x", "<div><p><b><i><font>".repeat(20_000)),
        "<a href=x>".repeat(50_000),
        "<!--".repeat(50_000),
        "<".repeat(100_000),
        "&amp".repeat(50_000),
        format!("<p {}>", "a=1 ".repeat(50_000)),
    ] {
        let server = Server::fixed("200 OK\nContent-Type: text/html", &page);
        let client = client(&world, &[&server]);
        let beginning = &page[..40];
        for format in ["markdown", "text"] {
            let started = Instant::now();
            let report = client.report(with(&server.url("/"), json!({"format": format})));
            if let Err(error) = &report.result {
                assert_eq!(error.case, LimitExceeded, "{beginning} as {format}: {error}");
                assert!(error.message.contains("raw"), "{error}");
            }
            let took = started.elapsed();
            assert!(took < SOON, "{beginning} as {format}: {took:?}");
        }
        let raw = client.ok(with(&server.url("/"), json!({"format": "raw"})));
        assert!(raw.text.starts_with(&page[..1000]));
    }
    // Deeper than Markdown can be made of, and still read.
    let server = Server::fixed("200 OK\nContent-Type: text/html", deep("div", 1500));
    let output = client(&world, &[&server]).ok(json!({"url": server.url("/")}));
    assert!(output.text.starts_with("deep inside"), "{}", output.text);
    assert!(
        output.text.contains("[nested too deeply for Markdown; shown as plain text]"),
        "{}",
        output.text
    );
}

#[test]
fn a_body_to_send_has_a_limit() {
    let world = World::new();
    let server = Server::start(|_, stream| send(stream, &answer("200 OK", b"")));
    let caller = Caller::new(&world, "fetch", granted(&[&server]).body_bytes(1000));
    let post =
        |size: usize| with(&server.url("/"), json!({"method": "POST", "body": "x".repeat(size)}));
    caller.ok(post(1000));
    caller.fails(post(1001), LimitExceeded, &["1000 bytes"]);
    // A large one goes through in pieces.
    let caller = client(&world, &[&server]);
    caller.ok(post(2 << 20));
    assert_eq!(server.seen().last().unwrap().body.len(), 2 << 20);
}
