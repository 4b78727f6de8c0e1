use tokio::sync::mpsc;

use super::super::super::dial::support::{
    Says, Scripted, Server, Trap, asking, dialler, local, named, network, read_head,
};
use super::*;
use crate::policy::Permission::{Allow, Ask, Deny};
use crate::policy::{HostRule, Network};
use crate::tool::Answer;

/// Sends back what it gets.
async fn echo() -> Server {
    Server::start(|mut stream| async move {
        let (mut reader, mut writer) = stream.split();
        let _ = tokio::io::copy(&mut reader, &mut writer).await;
        let _ = writer.shutdown().await;
    })
    .await
}

async fn connect(proxy: &Proxy, target: &str) -> (TcpStream, String) {
    let mut stream = soon(TcpStream::connect(proxy.address())).await.unwrap();
    stream
        .write_all(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let head = soon(read_head(&mut stream)).await;
    (stream, head)
}

#[tokio::test]
async fn a_granted_target_gets_a_tunnel_and_the_receipt_its_bytes() {
    let server = echo().await;
    let dialler = named(server.port(), Scripted::finds(&["127.0.0.1"]));
    let proxy = start(&dialler);
    let (mut stream, head) = connect(&proxy, &format!("name.test:{}", server.port())).await;
    assert_eq!(head, "HTTP/1.1 200 Connection established\r\n\r\n");
    let sent: Vec<u8> = (0..200_000u32).map(|n| n as u8).collect();
    let (mut reader, mut writer) = stream.split();
    let (_, received) = soon(async {
        tokio::join!(
            async {
                writer.write_all(&sent).await.unwrap();
                // Half closed: what is under way still comes back.
                writer.shutdown().await.unwrap();
            },
            async {
                let mut received = Vec::new();
                reader.read_to_end(&mut received).await.unwrap();
                received
            }
        )
    })
    .await;
    assert!(received == sent);
    soon(proxy.stop()).await;
    let http = dialler.ledger().snapshot().http;
    assert_eq!(http.len(), 1);
    assert_eq!((http[0].method.as_str(), http[0].status), ("CONNECT", Some(200)));
    assert_eq!(http[0].url, format!("name.test:{}", server.port()));
    assert_eq!(http[0].address, Some(format!("127.0.0.1:{}", server.port())));
    assert_eq!(http[0].received_bytes, sent.len() as u64);
}

#[tokio::test]
async fn bytes_sent_before_the_answer_are_not_lost() {
    let server = echo().await;
    let proxy = start(&local(server.port()));
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    let request = format!("CONNECT 127.0.0.1:{} HTTP/1.1\r\n\r\nearly", server.port());
    stream.write_all(request.as_bytes()).await.unwrap();
    soon(read_head(&mut stream)).await;
    let mut back = [0; 5];
    soon(stream.read_exact(&mut back)).await.unwrap();
    assert_eq!(&back, b"early");
}

#[tokio::test]
async fn an_address_inside_is_refused_in_every_spelling_and_sees_no_connection() {
    let trap = Trap::set();
    let rule = format!("localhost:{}", trap.port());
    for spelling in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.0.0.1.",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "localhost",
        "0.0.0.0",
    ] {
        let dialler = dialler(network(Allow, &[&rule]), Scripted::finds(&["127.0.0.1"]));
        let proxy = start(&dialler);
        let target = format!("{spelling}:{}", trap.port());
        let answer = exchange(&proxy, format!("CONNECT {target} HTTP/1.1\r\n\r\n")).await;
        assert_eq!(status(&answer), "403", "{spelling}: {answer}");
        assert!(answer.contains("--allow-host"), "{spelling}: {answer}");
        soon(proxy.stop()).await;
        let receipt = dialler.ledger().snapshot();
        assert_eq!(receipt.denials.len(), 1, "{spelling}");
        assert_eq!((receipt.http.len(), &receipt.http[0].address), (1, &None), "{spelling}");
    }
    trap.assert_untouched();
}

#[tokio::test]
async fn only_granted_hosts_and_ports() {
    let trap = Trap::set();
    let grant = network(Deny, &["name.test:443", &format!("127.0.0.1:{}", trap.port())]);
    let resolver = Scripted::finds(&["127.0.0.1"]);
    let proxy = start(&dialler(grant, resolver.clone()));
    for target in
        ["name.test:22", "name.test:80", "other.test:443", "name.test.:444", "127.0.0.1:1"]
    {
        let answer = exchange(&proxy, format!("CONNECT {target} HTTP/1.1\r\n\r\n")).await;
        assert_eq!(status(&answer), "403", "{target}: {answer}");
    }
    assert_eq!(resolver.lookups(), 0);
    // A forged Host changes nothing.
    let forged =
        format!("CONNECT evil.test:443 HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", trap.port());
    assert_eq!(status(&exchange(&proxy, forged).await), "403");
    trap.assert_untouched();
}

#[tokio::test]
async fn a_grant_for_some_methods_gives_no_tunnel() {
    let trap = Trap::set();
    let rule = HostRule::parse(&format!("127.0.0.1:{}", trap.port())).unwrap();
    let rules = vec![HostRule { methods: Some(["GET".into(), "CONNECT".into()].into()), ..rule }];
    let proxy = start(&dialler(Network { public: Deny, rules }, Scripted::nothing()));
    let answer =
        exchange(&proxy, format!("CONNECT 127.0.0.1:{} HTTP/1.1\r\n\r\n", trap.port())).await;
    assert_eq!(status(&answer), "403", "{answer}");
    trap.assert_untouched();
}

#[tokio::test]
async fn the_user_is_asked_where_the_grant_says_so() {
    let approver = Says::new(Answer::Refuse);
    let proxy = start(&asking(network(Ask, &[]), Scripted::nothing(), approver.clone()));
    let answer = exchange(&proxy, "CONNECT web.test:443 HTTP/1.1\r\n\r\n").await;
    assert_eq!(status(&answer), "403", "{answer}");
    let questions = approver.questions.lock().unwrap();
    assert_eq!(questions.len(), 1);
    assert_eq!(questions[0].subject, "host web.test");
    assert_eq!(questions[0].act, "CONNECT web.test:443");
}

#[tokio::test]
async fn what_is_no_target_is_refused() {
    let proxy = start(&dialler(network(Allow, &[]), Scripted::nothing()));
    for target in [
        "web.test",
        "web.test:",
        ":443",
        "web.test:0",
        "web.test:+443",
        "web.test:65536",
        "web.test:443:443",
        "user@web.test:443",
        "http://web.test:443",
        "web.test:443/",
        "::1:443",
        "[::1:443",
        "[fe80::1%25eth0]:443",
        "web%2etest:443",
        "*",
        "/",
    ] {
        let answer = exchange(&proxy, format!("CONNECT {target} HTTP/1.1\r\n\r\n")).await;
        assert_eq!(status(&answer), "400", "{target}: {answer}");
    }
}

#[tokio::test]
async fn a_target_that_is_not_there_is_a_bad_gateway() {
    let closed = Trap::set();
    let port = closed.port();
    drop(closed);
    let proxy = start(&local(port));
    let answer = exchange(&proxy, format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n")).await;
    assert_eq!(status(&answer), "502", "{answer}");
    let proxy = start(&dialler(network(Allow, &[]), Scripted::nothing()));
    let answer = exchange(&proxy, "CONNECT nowhere.test:443 HTTP/1.1\r\n\r\n").await;
    assert_eq!(status(&answer), "502", "{answer}");
    assert!(answer.contains("not-found"), "{answer}");
}

#[tokio::test]
async fn an_idle_tunnel_is_closed_and_a_busy_one_is_not() {
    let server = echo().await;
    let proxy = start_quick(&local(server.port()));
    let (mut stream, _) = connect(&proxy, &format!("127.0.0.1:{}", server.port())).await;
    let started = std::time::Instant::now();
    while started.elapsed() < QUICK.idle * 4 {
        stream.write_all(b"x").await.unwrap();
        assert_eq!(soon(stream.read_u8()).await.unwrap(), b'x');
        tokio::time::sleep(QUICK.idle / 10).await;
    }
    assert_eq!(soon(read_to_close(&mut stream)).await, b"");
}

#[tokio::test]
async fn dropping_the_proxy_closes_its_tunnels() {
    let (closed, mut was_closed) = mpsc::channel(1);
    let server = Server::start(move |mut stream| {
        let closed = closed.clone();
        async move {
            read_to_close(&mut stream).await;
            let _ = closed.send(()).await;
        }
    })
    .await;
    let dialler = local(server.port());
    let proxy = start(&dialler);
    let address = proxy.address();
    let (mut stream, _) = connect(&proxy, &format!("127.0.0.1:{}", server.port())).await;
    drop(proxy);
    soon(read_to_close(&mut stream)).await;
    soon(was_closed.recv()).await.unwrap();
    soon(TcpStream::connect(address)).await.unwrap_err();
    assert_eq!(dialler.ledger().snapshot().http.len(), 1);
}
