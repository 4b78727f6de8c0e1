//! Servers that send too much, too slowly, or not at all.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use super::super::super::dial::support::{Server, local, read_head, read_to_close};
use super::*;
use crate::tool::ErrorCase;

fn url(server: &Server) -> String {
    format!("http://127.0.0.1:{}/", server.port())
}

/// Writes `start`, then `again` until the client has had enough.
async fn endless(start: &'static str, again: &'static str) -> (Server, mpsc::Receiver<()>) {
    let (closed, was_closed) = mpsc::channel(16);
    let server = Server::start(move |mut stream: TcpStream| {
        let closed = closed.clone();
        async move {
            read_head(&mut stream).await;
            let piece = again.repeat(64 * 1024 / again.len());
            let mut outcome = stream.write_all(start.as_bytes()).await;
            while outcome.is_ok() {
                outcome = stream.write_all(piece.as_bytes()).await;
            }
            let _ = closed.send(()).await;
        }
    })
    .await;
    (server, was_closed)
}

#[tokio::test]
async fn header_bombs_end_with_a_limit() {
    let thousand: String = (0..1000).map(|n| format!("x-{n}: 1\r\n")).collect();
    let many = format!("HTTP/1.1 200 OK\r\n{thousand}\r\n");
    let (server, _) = Server::answering(many).await;
    let dialler = local(server.port());
    assert_eq!(refused(get(&url(&server)), &dialler).await.case, ErrorCase::LimitExceeded);
    assert_eq!(only_entry(&dialler).status, None);

    // Few enough and small enough for hyper, too much for a guest.
    let large: String = (0..90).map(|n| format!("x-{n}: {}\r\n", "v".repeat(1000))).collect();
    let (server, _) = Server::answering(format!("HTTP/1.1 200 OK\r\n{large}\r\n")).await;
    let error = refused(get(&url(&server)), &local(server.port())).await;
    assert_eq!(error.case, ErrorCase::LimitExceeded, "{error}");

    for again in ["x-more: and more\r\n", "v"] {
        let (server, mut was_closed) = endless("HTTP/1.1 200 OK\r\nx-first: ", again).await;
        let error = refused(get(&url(&server)), &local(server.port())).await;
        assert_eq!(error.case, ErrorCase::LimitExceeded, "{again:?}: {error}");
        soon(was_closed.recv()).await.unwrap();
    }
}

#[tokio::test]
async fn endless_bodies_are_cut_and_the_connection_closed() {
    let chunk = "4\r\nwiki\r\n";
    for (start, again) in [
        ("HTTP/1.1 200 OK\r\n\r\n", "x"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", chunk),
        ("HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551615\r\n\r\n", "x"),
    ] {
        let (server, mut was_closed) = endless(start, again).await;
        let dialler = local(server.port());
        let response = send(get(&url(&server)), &dialler).await;
        let error = match response {
            Ok(response) => text(response).await.unwrap_err(),
            // That length is above what hyper takes at all.
            Err(error) => error,
        };
        assert_eq!(error.case, ErrorCase::LimitExceeded, "{start:?}: {error}");
        soon(was_closed.recv()).await.unwrap();
        let entry = only_entry(&dialler);
        assert!(entry.received_bytes < 2 * MIB, "{entry:?}");
        if entry.status.is_some() {
            assert!(
                entry.received_bytes > MIB && error.message.contains(&MIB.to_string()),
                "{error}"
            );
        }
    }
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_passes() {
    let answer = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(1000));
    let (server, _) = Server::answering(answer).await;
    for (limit, passes) in [(1000, true), (999, false)] {
        let dialler = local(server.port());
        let client = Client::default();
        let sent = client.send(get(&url(&server)), Scheme::Http, &dialler, Bounds::new(limit));
        let outcome = text(soon(sent).await.unwrap()).await;
        assert_eq!(outcome.is_ok(), passes);
    }
}

#[tokio::test]
async fn endless_chunk_extensions_and_trailers_do_not_fill_memory() {
    for (start, again) in [
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4;", "ext"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", "x-trailer: yes\r\n"),
    ] {
        let (server, mut was_closed) = endless(start, again).await;
        let response = send(get(&url(&server)), &local(server.port())).await.unwrap();
        text(response).await.unwrap_err();
        soon(was_closed.recv()).await.unwrap();
    }
}

/// Says when the client has closed the connection after `answer`.
async fn stalling(answer: &'static str) -> (Server, mpsc::Receiver<()>) {
    let (closed, was_closed) = mpsc::channel(16);
    let server = Server::start(move |mut stream: TcpStream| {
        let closed = closed.clone();
        async move {
            read_head(&mut stream).await;
            let _ = stream.write_all(answer.as_bytes()).await;
            read_to_close(&mut stream).await;
            let _ = closed.send(()).await;
        }
    })
    .await;
    (server, was_closed)
}

#[tokio::test]
async fn a_caller_who_gives_up_on_a_slow_body_closes_the_connection() {
    let (server, mut was_closed) =
        stalling("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nslow").await;
    let dialler = local(server.port());
    let response = send(get(&url(&server)), &dialler).await.unwrap();
    let whole = response.into_body().collect();
    tokio::time::timeout(Duration::from_millis(100), whole).await.unwrap_err();
    soon(was_closed.recv()).await.unwrap();
    let entry = only_entry(&dialler);
    assert_eq!((entry.status, entry.received_bytes), (Some(200), 4));
}

#[tokio::test]
async fn a_caller_who_gives_up_on_a_silent_server_closes_the_connection() {
    let (server, mut was_closed) = stalling("").await;
    let dialler = local(server.port());
    let client = Client::default();
    let sent = client.send(get(&url(&server)), Scheme::Http, &dialler, Bounds::new(MIB));
    tokio::time::timeout(Duration::from_millis(100), sent).await.err().unwrap();
    soon(was_closed.recv()).await.unwrap();
    let entry = only_entry(&dialler);
    assert_eq!(entry.status, None);
    assert!(entry.address.is_some());
}

#[tokio::test]
async fn the_first_byte_is_waited_for_as_long_as_the_bounds_say() {
    // Interim answers are not the answer.
    for silence in ["", "HTTP/1.1 200 OK\r\nx: 1\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n"] {
        let (server, mut was_closed) = stalling(silence).await;
        let bounds = Bounds { first_byte: Duration::from_millis(100), ..Bounds::new(MIB) };
        let started = Instant::now();
        let dialler = local(server.port());
        let sent = Client::default().send(get(&url(&server)), Scheme::Http, &dialler, bounds).await;
        assert_eq!(sent.err().map(|error| error.case), Some(ErrorCase::TimedOut));
        assert!(started.elapsed() < Duration::from_secs(2));
        soon(was_closed.recv()).await.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_closes_or_talks_nonsense_is_a_failure() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let dialler = local(port);
    let error = refused(get(&format!("http://127.0.0.1:{port}/")), &dialler).await;
    assert_eq!(error.case, ErrorCase::Failed);
    assert!(error.message.contains("refused"), "{error}");
    assert_eq!(only_entry(&dialler).address, Some(format!("127.0.0.1:{port}")));

    for nonsense in
        ["", "220 smtp.test ESMTP\r\n", "HTTP/0.9 200\r\n\r\n", "HTTP/1.1 200 OK\r\nbroken\r\n\r\n"]
    {
        let (server, _) = Server::answering(nonsense).await;
        let error = refused(get(&url(&server)), &local(server.port())).await;
        assert_eq!(error.case, ErrorCase::Failed, "{nonsense:?}: {error}");
    }

    // Cut short: never taken for a whole answer.
    for cut in [
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\ncut",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\ncut\r\n",
    ] {
        let (server, _) = Server::answering(cut).await;
        let response = send(get(&url(&server)), &local(server.port())).await.unwrap();
        assert_eq!(text(response).await.unwrap_err().case, ErrorCase::Failed, "{cut:?}");
    }
}
