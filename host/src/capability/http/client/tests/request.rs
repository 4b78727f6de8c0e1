//! What is sent, what comes back, and what the receipt says of it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::Frame;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::super::dial::support::{Scripted, Server, dialler, local, read_head};
use super::*;
use crate::policy::{HostRule, Network, Permission};
use crate::tool::ErrorCase;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx-a: 1\r\nx-a: 2\r\n\r\nhello";

#[tokio::test]
async fn a_response_comes_back_whole_and_is_recorded_once() {
    let (server, seen) = Server::answering(OK).await;
    let dialler = local(server.port());
    let url = format!("http://127.0.0.1:{}/a/../b?q=1", server.port());
    let response = send(get(&url), &dialler).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers().get_all("x-a").iter().count(), 2);
    assert!(dialler.ledger().snapshot().http.is_empty(), "not before it is over");
    assert_eq!(text(response).await.unwrap(), "hello");

    let entry = only_entry(&dialler);
    assert_eq!(entry.method, "GET");
    assert_eq!(entry.url, format!("http://127.0.0.1:{}/b?q=1", server.port()));
    assert_eq!(entry.address, Some(format!("127.0.0.1:{}", server.port())));
    assert_eq!((entry.status, entry.received_bytes), (Some(200), 5));
    assert!(seen.lock().unwrap()[0].starts_with("GET /b?q=1 HTTP/1.1\r\n"));
}

#[tokio::test]
async fn fields_of_the_hop_are_ours() {
    let (server, seen) = Server::answering(OK).await;
    let mut request = get(&format!("http://127.0.0.1:{}/", server.port()));
    for (name, value) in [
        ("host", "169.254.169.254"),
        ("connection", "keep-alive, x-kept"),
        ("keep-alive", "timeout=99"),
        ("proxy-authorization", "Basic eDp5"),
        ("te", "trailers"),
        ("trailer", "host"),
        ("transfer-encoding", "chunked"),
        ("upgrade", "h2c"),
        ("x-kept", "yes"),
        ("authorization", "Bearer its-own"),
    ] {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    text(send(request, &local(server.port())).await.unwrap()).await.unwrap();
    let seen = seen.lock().unwrap()[0].to_ascii_lowercase();
    let mut fields: Vec<&str> = seen.lines().skip(1).filter(|line| !line.is_empty()).collect();
    fields.sort_unstable();
    let host = format!("host: 127.0.0.1:{}", server.port());
    assert_eq!(fields, ["accept: */*", "authorization: bearer its-own", &host, "x-kept: yes"]);
}

#[tokio::test]
async fn methods_that_open_or_echo_are_refused() {
    for method in [Method::CONNECT, Method::TRACE] {
        let mut request = get("http://127.0.0.1:1/");
        *request.method_mut() = method;
        assert_eq!(refused(request, &local(1)).await.case, ErrorCase::InvalidInput);
    }
}

#[tokio::test]
async fn the_grant_sees_the_method() {
    let (server, _) = Server::answering(OK).await;
    let rule = HostRule::parse(&format!("127.0.0.1:{}", server.port())).unwrap();
    let rules = vec![HostRule { methods: Some(["POST".to_owned()].into()), ..rule }];
    let dialler = dialler(Network { public: Permission::Deny, rules }, Scripted::nothing());
    let url = format!("http://127.0.0.1:{}/", server.port());
    assert_eq!(refused(get(&url), &dialler).await.case, ErrorCase::Denied);
    assert_eq!(server.connections(), 0);
    let client = Client::default();
    let sent = client.send(post(&url, "x"), Scheme::Http, &dialler, Bounds::new(MIB));
    assert_eq!(soon(sent).await.unwrap().status(), 200);
}

/// Answers with the header and the body that it got, as they came.
async fn echo() -> Server {
    Server::start(|mut stream| async move {
        let mut seen = read_head(&mut stream).await.to_ascii_lowercase().into_bytes();
        let chunked = String::from_utf8_lossy(&seen).contains("transfer-encoding: chunked");
        let length = String::from_utf8_lossy(&seen)
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        let mut got = 0;
        while if chunked { !seen.ends_with(b"0\r\n\r\n") } else { got < length.unwrap_or(0) } {
            let Ok(byte) = stream.read_u8().await else { return };
            seen.push(byte);
            got += 1;
        }
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", seen.len());
        let _ = stream.write_all(&[head.as_bytes(), &seen].concat()).await;
    })
    .await
}

/// A body of these frames, each ready at once, whose length nobody knows.
struct Pieces<E>(VecDeque<Result<Frame<Bytes>, E>>);

fn pieces<E>(frames: Vec<Result<Frame<Bytes>, E>>) -> Pieces<E> {
    Pieces(frames.into())
}

impl<E: Unpin> http_body::Body for Pieces<E> {
    type Data = Bytes;
    type Error = E;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, E>>> {
        Poll::Ready(self.0.pop_front())
    }
}

#[tokio::test]
async fn a_body_is_sent_with_one_length_or_in_chunks_and_without_trailers() {
    let server = echo().await;
    let dialler = local(server.port());
    let url = format!("http://127.0.0.1:{}/", server.port());
    let bounds = Bounds::new(MIB);
    let client = Client::default();

    let known =
        text(soon(client.send(post(&url, "body"), Scheme::Http, &dialler, bounds)).await.unwrap());
    let known = known.await.unwrap();
    assert!(known.contains("content-length: 4\r\n") && known.ends_with("\r\n\r\nbody"), "{known}");

    let frames = || {
        let mut trailers = HeaderMap::new();
        trailers.insert("host", "169.254.169.254".parse().unwrap());
        pieces::<Infallible>(vec![
            Ok(Frame::data("bo".into())),
            Ok(Frame::data("dy".into())),
            Ok(Frame::trailers(trailers)),
        ])
    };
    let request = Request::post(&url).body(frames()).unwrap();
    let unknown = text(soon(client.send(request, Scheme::Http, &dialler, bounds)).await.unwrap())
        .await
        .unwrap();
    assert!(unknown.ends_with("2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n"), "{unknown}");
    assert!(!unknown.contains("169.254"), "{unknown}");

    let request = Request::post(&url).header("content-length", "4").body(frames()).unwrap();
    let stated = text(soon(client.send(request, Scheme::Http, &dialler, bounds)).await.unwrap())
        .await
        .unwrap();
    assert!(
        stated.contains("content-length: 4\r\n") && stated.ends_with("\r\n\r\nbody"),
        "{stated}"
    );
}

#[tokio::test]
async fn a_forged_length_is_refused_or_kept_to() {
    let server = echo().await;
    let dialler = local(server.port());
    let url = format!("http://127.0.0.1:{}/", server.port());
    for lengths in
        [&["4", "4"][..], &["4", "5"], &["4, 4"], &["+4"], &["-1"], &["0x4"], &[""], &["4 "]]
    {
        let mut request = get(&url);
        for length in lengths {
            // Blanks at the ends are no part of a value, but whoever builds one can put them in.
            request.headers_mut().append("content-length", length.parse().unwrap());
        }
        assert_eq!(refused(request, &dialler).await.case, ErrorCase::InvalidInput, "{lengths:?}");
    }
    assert_eq!(server.connections(), 0);

    // Shorter than the body: no byte of a second request gets through after the first.
    let smuggled =
        pieces::<Infallible>(vec![Ok(Frame::data("bodyGET /x HTTP/1.1\r\n\r\n".into()))]);
    let request = Request::post(&url).header("content-length", "4").body(smuggled).unwrap();
    let client = Client::default();
    let sent = client.send(request, Scheme::Http, &dialler, Bounds::new(MIB));
    if let Ok(response) = soon(sent).await {
        let seen = text(response).await.unwrap_or_default();
        assert!(!seen.contains("get /x"), "{seen}");
    }
    // Longer than the body: an error, not a request that waits for ever.
    let short = pieces::<Infallible>(vec![Ok(Frame::data("body".into()))]);
    let request = Request::post(&url).header("content-length", "400").body(short).unwrap();
    let client = Client::default();
    let sent = client.send(request, Scheme::Http, &dialler, Bounds::new(MIB));
    assert_eq!(soon(sent).await.err().map(|error| error.case), Some(ErrorCase::Failed));
}

#[tokio::test]
async fn a_body_that_breaks_off_or_is_too_large_ends_the_request() {
    let server = echo().await;
    let dialler = local(server.port());
    let url = format!("http://127.0.0.1:{}/", server.port());
    let client = Client::default();

    let broken =
        pieces(vec![Ok(Frame::data("bo".into())), Err(io::Error::other("the guest is gone"))]);
    let request = Request::post(&url).body(broken).unwrap();
    let error =
        soon(client.send(request, Scheme::Http, &dialler, Bounds::new(MIB))).await.err().unwrap();
    assert_eq!(error.case, ErrorCase::Failed);
    assert!(error.message.contains("the guest is gone"), "{error}");

    let piece = Bytes::from(vec![b'x'; 1000]);
    let large = pieces::<Infallible>((0..11).map(|_| Ok(Frame::data(piece.clone()))).collect());
    let request = Request::post(&url).body(large).unwrap();
    let error = soon(client.send(request, Scheme::Http, &dialler, Bounds::new(10_000)))
        .await
        .err()
        .unwrap();
    assert_eq!(error.case, ErrorCase::LimitExceeded, "{error}");
}

#[tokio::test]
async fn compressed_bodies_pass_as_they_are() {
    // The gzip form of "hello".
    const GZIP: &[u8] = &[
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86, 0xa6, 0x10,
        0x36, 5, 0, 0, 0,
    ];
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        GZIP.len()
    );
    let (server, seen) = Server::answering([head.as_bytes(), GZIP].concat()).await;
    let dialler = local(server.port());
    let response =
        send(get(&format!("http://127.0.0.1:{}/", server.port())), &dialler).await.unwrap();
    assert_eq!(response.headers()["content-encoding"], "gzip");
    assert_eq!(soon(response.into_body().collect()).await.unwrap().to_bytes(), GZIP);
    assert_eq!(only_entry(&dialler).received_bytes, GZIP.len() as u64);
    assert!(!seen.lock().unwrap()[0].to_ascii_lowercase().contains("accept-encoding"));
}
