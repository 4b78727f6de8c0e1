use super::super::super::dial::support::{
    Scripted, Server, Trap, dialler, local, named, network, read_head,
};
use super::*;
use crate::policy::Permission::{Allow, Deny};
use crate::policy::{HostRule, Network};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: keep-alive\r\nkeep-alive: timeout=5\r\nx-a: 1\r\n\r\nhello";

#[tokio::test]
async fn an_absolute_request_goes_to_its_own_target_with_its_own_host() {
    let (server, seen) = Server::answering(OK).await;
    let dialler = named(server.port(), Scripted::finds(&["127.0.0.1"]));
    let proxy = start(&dialler);
    let port = server.port();
    let request = format!(
        "GET http://name.test:{port}/a?b=c HTTP/1.1\r\nHost: 169.254.169.254\r\nProxy-Connection: keep-alive\r\n\
         Proxy-Authorization: Basic eDp5\r\nConnection: x-hop\r\nX-Hop: 1\r\nX-End: 2\r\nUser-Agent: t\r\n\r\n"
    );
    let answer = exchange(&proxy, request).await;
    assert_eq!(status(&answer), "200");
    let answer = answer.to_ascii_lowercase();
    assert!(answer.contains("x-a: 1\r\n") && answer.ends_with("\r\n\r\nhello"), "{answer}");
    assert!(answer.contains("connection: close\r\n") && !answer.contains("keep-alive"), "{answer}");

    let seen = seen.lock().unwrap()[0].to_ascii_lowercase();
    let mut lines: Vec<&str> = seen.lines().filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    let host = format!("host: name.test:{port}");
    assert_eq!(lines, ["accept: */*", "get /a?b=c http/1.1", &host, "user-agent: t", "x-end: 2"]);

    soon(proxy.stop()).await;
    let http = dialler.ledger().snapshot().http;
    assert_eq!(http.len(), 1);
    assert_eq!(
        (http[0].method.as_str(), http[0].status, http[0].received_bytes),
        ("GET", Some(200), 5)
    );
    assert_eq!(http[0].address, Some(format!("127.0.0.1:{port}")));
}

#[tokio::test]
async fn denied_targets_answer_why_and_see_no_connection() {
    let trap = Trap::set();
    let proxy = start(&dialler(network(Allow, &[]), Scripted::finds(&["127.0.0.1"])));
    for host in ["127.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "inside.test"] {
        let answer =
            exchange(&proxy, format!("GET http://{host}:{}/ HTTP/1.1\r\n\r\n", trap.port())).await;
        assert_eq!(status(&answer), "403", "{host}: {answer}");
        assert!(
            answer.contains("xzatoma: denied: ") && answer.contains("--allow-host "),
            "{answer}"
        );
    }
    trap.assert_untouched();
}

#[tokio::test]
async fn the_grant_sees_the_method() {
    let (server, _) = Server::answering(OK).await;
    let rule = HostRule::parse(&format!("127.0.0.1:{}", server.port())).unwrap();
    let rules = vec![HostRule { methods: Some(["GET".to_owned()].into()), ..rule }];
    let proxy = start(&dialler(Network { public: Deny, rules }, Scripted::nothing()));
    let url = format!("http://127.0.0.1:{}/", server.port());
    assert_eq!(status(&exchange(&proxy, format!("GET {url} HTTP/1.1\r\n\r\n")).await), "200");
    for method in ["POST", "DELETE", "get", "X"] {
        let answer =
            exchange(&proxy, format!("{method} {url} HTTP/1.1\r\nContent-Length: 0\r\n\r\n")).await;
        assert_eq!(status(&answer), "403", "{method}: {answer}");
    }
    assert_eq!(server.connections(), 1);
}

/// Keeps all that arrives on each connection; answers once it ends with `end`.
async fn recording(end: &'static str) -> (Server, Arc<std::sync::Mutex<Vec<String>>>) {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let server = Server::start(move |mut stream| {
        let log = Arc::clone(&log);
        async move {
            let mut got = read_head(&mut stream).await;
            while !got.ends_with(end) {
                let Ok(byte) = stream.read_u8().await else { break };
                got.push(char::from(byte));
            }
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
            // Whatever else would come after the request.
            let rest = read_to_close(&mut stream).await;
            got.push_str(&String::from_utf8_lossy(&rest));
            log.lock().unwrap().push(got);
        }
    })
    .await;
    (server, seen)
}

#[tokio::test]
async fn bodies_are_passed_on_exactly_and_nothing_after_them() {
    let second = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
    for (fields, body, end) in [
        ("Content-Length: 4", "body", "body"),
        ("Transfer-Encoding: chunked", "2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: Chunked", "4\r\nbody\r\n0\r\nHost: forged\r\n\r\n", "0\r\n\r\n"),
        ("Content-Length: 4\r\nExpect: 100-continue", "body", "body"),
    ] {
        let (server, seen) = recording(end).await;
        let proxy = start(&local(server.port()));
        let head = format!("POST http://127.0.0.1:{}/ HTTP/1.1\r\n{fields}\r\n\r\n", server.port());
        let answer = exchange(&proxy, format!("{head}{body}{second}")).await;
        let answer = answer.strip_prefix("HTTP/1.1 100 Continue\r\n\r\n").unwrap_or(&answer);
        assert_eq!(status(answer), "200", "{fields}: {answer}");
        soon(proxy.stop()).await;
        let seen = soon(async {
            loop {
                if let Some(seen) = seen.lock().unwrap().pop() {
                    return seen;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        assert!(seen.ends_with(end), "{fields}: {seen}");
        for absent in ["smuggled", "forged", "xpect"] {
            assert!(!seen.contains(absent), "{fields}: {seen}");
        }
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_does_not_become_a_whole_one() {
    for (fields, body) in [
        ("Content-Length: 10", "body"),
        ("Transfer-Encoding: chunked", "4\r\nbody\r\n"),
        ("Transfer-Encoding: chunked", "ffff\r\nbody"),
        ("Transfer-Encoding: chunked", "4\r\nbodyXX0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "4;ext=1\r\nbody\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "+4\r\nbody\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "4\nbody\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "\r\n\r\n"),
        ("Transfer-Encoding: chunked", "fffffffffffffffff\r\nbody"),
    ] {
        let server = Server::start(|mut stream| async move {
            // Answers only a request that is whole.
            let got = read_to_close(&mut stream).await;
            let got = String::from_utf8_lossy(&got);
            assert!(!got.ends_with("0\r\n\r\n"), "{got}");
        })
        .await;
        let proxy = start(&local(server.port()));
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        let head =
            format!("POST http://127.0.0.1:{}/ HTTP/1.1\r\n{fields}\r\n\r\n{body}", server.port());
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let answer = String::from_utf8(soon(read_to_close(&mut stream)).await).unwrap();
        assert_eq!(status(&answer), "502", "{fields} {body:?}: {answer}");
    }
}

#[tokio::test]
async fn answers_without_a_length_are_chunked_or_closed_and_cut_ones_stay_cut() {
    let answered = async |upstream: &'static str, line: &str| {
        let (server, _) = Server::answering(upstream).await;
        let proxy = start(&local(server.port()));
        let line = line.replace("URL", &format!("http://127.0.0.1:{}/", server.port()));
        exchange(&proxy, format!("{line}\r\n\r\n")).await
    };
    let by_close = "HTTP/1.1 200 OK\r\n\r\nhello";
    assert!(
        answered(by_close, "GET URL HTTP/1.1").await.ends_with("\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
    );
    assert!(answered(by_close, "GET URL HTTP/1.0").await.ends_with("\r\n\r\nhello"));
    let cut = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n";
    assert!(answered(cut, "GET URL HTTP/1.1").await.ends_with("5\r\nhello\r\n"));
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello";
    let answer = answered(cut, "GET URL HTTP/1.1").await;
    assert!(answer.contains("content-length: 9") && answer.ends_with("\r\n\r\nhello"), "{answer}");

    let head = answered("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", "HEAD URL HTTP/1.1").await;
    assert!(head.contains("content-length: 5") && head.ends_with("\r\n\r\n"), "{head}");
    let none = answered("HTTP/1.1 204 No Content\r\n\r\n", "GET URL HTTP/1.1").await;
    assert!(none.ends_with("\r\n\r\n") && !none.contains("chunked"), "{none}");
    let unasked =
        answered("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n", "GET URL HTTP/1.1")
            .await;
    assert_eq!(status(&unasked), "502", "{unasked}");
}

#[tokio::test]
async fn a_target_that_says_nothing_times_out() {
    let server =
        Server::start(|mut stream| async move { drop(read_to_close(&mut stream).await) }).await;
    let proxy = start_quick(&local(server.port()));
    let answer =
        exchange(&proxy, format!("GET http://127.0.0.1:{}/ HTTP/1.1\r\n\r\n", server.port())).await;
    assert_eq!(status(&answer), "504", "{answer}");
}

#[tokio::test]
async fn a_large_answer_is_not_gathered() {
    const SIZE: usize = 8 * 1024 * 1024;
    let (server, _) =
        Server::answering([b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; SIZE]].concat()).await;
    let dialler = local(server.port());
    let proxy = start(&dialler);
    let answer =
        exchange(&proxy, format!("GET http://127.0.0.1:{}/ HTTP/1.0\r\n\r\n", server.port())).await;
    assert_eq!(answer.bytes().filter(|byte| *byte == b'x').count(), SIZE);
    soon(proxy.stop()).await;
    assert_eq!(dialler.ledger().snapshot().http[0].received_bytes, SIZE as u64);
}
