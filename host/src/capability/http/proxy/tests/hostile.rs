//! Requests that two readers could read differently, and such as never end.

use super::super::super::dial::support::{Server, local};
use super::*;

#[tokio::test]
async fn ambiguous_requests_are_refused_and_nothing_is_forwarded() {
    let (server, _) = Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let proxy = start(&local(server.port()));
    let url = format!("http://127.0.0.1:{}/", server.port());
    let post = |fields: &str| format!("POST {url} HTTP/1.1\r\n{fields}\r\n\r\n0\r\n\r\n");
    let requests = [
        // Where does the body end?
        post("Content-Length: 5\r\nTransfer-Encoding: chunked"),
        post("Transfer-Encoding: chunked\r\nContent-Length: 5"),
        post("Content-Length: 5\r\nContent-Length: 5"),
        post("Content-Length: 5\r\nContent-Length: 6"),
        post("Content-Length: 5, 5"),
        post("Content-Length: +5"),
        post("Content-Length: 0x5"),
        post("Content-Length: 5 5"),
        post("Content-Length:"),
        post("Content-Length: 99999999999999999999"),
        post("Transfer-Encoding: gzip, chunked"),
        post("Transfer-Encoding: chunked, identity"),
        post("Transfer-Encoding: xchunked"),
        post("Transfer-Encoding: \"chunked\""),
        post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        post("Transfer-Encoding: identity"),
        post("Transfer-Encoding: \x0bchunked"),
        format!("POST {url} HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        // Where does a line end, and where does a name?
        post("X: 1\r\n folded"),
        post("X: 1\r\n\tfolded"),
        post(" X: 1"),
        post("Transfer-Encoding : chunked"),
        post("Transfer-Encoding\t: chunked"),
        post("X\0Y: 1"),
        post("X: a\0b"),
        post("X: a\x7fb"),
        post(": empty"),
        post("no colon"),
        post("X\u{e9}: 1"),
        post("X: a\nContent-Length: 5"),
        post("X: a\rContent-Length: 5"),
        post("X: a\r\r\nY: 1"),
        format!("GET {url} HTTP/1.1\nHost: x\n\n"),
        format!("GET {url} HTTP/1.1\r\nHost: x\n\r\n"),
        // Who is meant?
        post("Host: a\r\nHost: b"),
        post("Host: a\r\nhOST: a"),
        // What is asked?
        format!("\r\nGET {url} HTTP/1.1\r\n\r\n"),
        format!("GET  {url} HTTP/1.1\r\n\r\n"),
        format!("GET\t{url} HTTP/1.1\r\n\r\n"),
        format!("GET {url} HTTP/1.1 \r\n\r\n"),
        format!(" GET {url} HTTP/1.1\r\n\r\n"),
        format!("GET {url} x HTTP/1.1\r\n\r\n"),
        format!("GET {url}\r\n\r\n"),
        format!("GET {url} HTTP/2.0\r\n\r\n"),
        format!("GET {url} HTTP/1.10\r\n\r\n"),
        format!("GET {url} http/1.1\r\n\r\n"),
        format!("G(T {url} HTTP/1.1\r\n\r\n"),
        format!("GET {url}\u{e9} HTTP/1.1\r\n\r\n"),
        format!("GET http://user:pw@127.0.0.1:{}/ HTTP/1.1\r\n\r\n", server.port()),
        format!("CONNECT 127.0.0.1:{} HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", server.port()),
        format!(
            "CONNECT 127.0.0.1:{} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            server.port()
        ),
        // What is not for a proxy.
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_owned(),
        "OPTIONS * HTTP/1.1\r\n\r\n".to_owned(),
        "GET https://127.0.0.1/ HTTP/1.1\r\n\r\n".to_owned(),
        "GET ftp://127.0.0.1/ HTTP/1.1\r\n\r\n".to_owned(),
        "GET file:///etc/passwd HTTP/1.1\r\n\r\n".to_owned(),
        "GET http:///etc HTTP/1.1\r\n\r\n".to_owned(),
        format!("TRACE {url} HTTP/1.1\r\n\r\n"),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "\x16\x03\x01\x02\x00\x01\r\n\r\n".to_owned(),
    ];
    for request in requests {
        let answer = exchange(&proxy, &request).await;
        assert_eq!(status(&answer), "400", "{request:?}: {answer}");
        assert!(answer.contains("Connection: close\r\n"), "{answer}");
    }
    assert_eq!(server.connections(), 0);
    // The same proxy still serves an honest one.
    assert_eq!(
        status(&exchange(&proxy, format!("GET {url} HTTP/1.1\r\nHost: x\r\n\r\n")).await),
        "200"
    );
}

#[tokio::test]
async fn large_headers_are_refused_before_they_are_whole() {
    let proxy = start(&local(1));
    let start_line = "GET http://127.0.0.1:1/ HTTP/1.1\r\n";
    for request in [
        format!("{start_line}X: {}", "v".repeat(200_000)),
        format!("{start_line}{}", "X: 1\r\n".repeat(40_000)),
        format!("GET http://127.0.0.1:1/{}", "a".repeat(200_000)),
        format!("{start_line}{}\r\n", "X: 1\r\n".repeat(101)),
    ] {
        let answer = exchange(&proxy, &request).await;
        assert_eq!(status(&answer), "431", "{answer}");
    }
}

#[tokio::test]
async fn a_header_that_does_not_come_is_not_waited_for() {
    let proxy = start_quick(&local(1));
    let mut silent = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(status(&String::from_utf8(soon(read_to_close(&mut silent)).await).unwrap()), "408");

    // A byte now and then does not help.
    let slow = TcpStream::connect(proxy.address()).await.unwrap();
    let (mut reader, mut writer) = slow.into_split();
    let drip = tokio::spawn(async move {
        while writer.write_all(b"G").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let mut answer = String::new();
    let _ = soon(reader.read_to_string(&mut answer)).await;
    assert_eq!(status(&answer), "408");
    drip.abort();

    // Closed halfway, and closed without a word.
    let mut half = TcpStream::connect(proxy.address()).await.unwrap();
    half.write_all(b"GET http://").await.unwrap();
    half.shutdown().await.unwrap();
    assert_eq!(status(&String::from_utf8(soon(read_to_close(&mut half)).await).unwrap()), "400");
    let mut mute = TcpStream::connect(proxy.address()).await.unwrap();
    mute.shutdown().await.unwrap();
    assert_eq!(soon(read_to_close(&mut mute)).await, b"");
}
