//! Many at once, and nothing left behind.

use tokio::task::JoinSet;

use super::super::super::dial::support::{Server, local};
use super::*;

fn alive() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// Tasks end soon after they are told to.
async fn back_to(tasks: usize) {
    soon(async {
        while alive() > tasks {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_flood_is_served_in_turn() {
    let (server, _) = Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").await;
    let before = alive();
    let dialler = local(server.port());
    let proxy = start(&dialler);
    let address = proxy.address();
    let mut clients = JoinSet::new();
    const FLOOD: usize = 300;
    for n in 0..FLOOD {
        let port = server.port();
        clients.spawn(async move {
            let target = if n % 2 == 0 { port } else { 1 };
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = format!("GET http://127.0.0.1:{target}/ HTTP/1.1\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let answer = String::from_utf8(read_to_close(&mut stream).await).unwrap();
            assert_eq!(status(&answer), if n % 2 == 0 { "200" } else { "403" }, "{answer}");
        });
    }
    soon(async {
        while let Some(ended) = clients.join_next().await {
            ended.unwrap();
        }
    })
    .await;
    assert_eq!(server.connections(), FLOOD / 2);
    soon(proxy.stop()).await;
    // What the server still runs is not ours, but it ends too.
    back_to(before).await;
    let receipt = dialler.ledger().snapshot();
    assert_eq!(
        receipt.http.len() + receipt.denials.len() + receipt.omitted as usize,
        FLOOD + FLOOD / 2
    );
}

#[tokio::test]
async fn those_who_hold_every_place_lose_it_in_time() {
    let (server, _) = Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").await;
    let before = alive();
    // Long enough for all of them to be there at once, also on a busy machine.
    let times = Times { head: Duration::from_secs(1), ..QUICK };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dialler = local(server.port());
    let proxy = Proxy::with_times(listener, Client::default(), dialler, times).unwrap();
    let mut silent = Vec::new();
    for _ in 0..MAX_CONNECTIONS + 8 {
        silent.push(TcpStream::connect(proxy.address()).await.unwrap());
    }
    tokio::time::sleep(times.head / 4).await;
    // One task accepts; no more than the places are taken.
    assert_eq!(alive(), before + 1 + MAX_CONNECTIONS);
    let answer =
        exchange(&proxy, format!("GET http://127.0.0.1:{}/ HTTP/1.1\r\n\r\n", server.port())).await;
    assert_eq!(status(&answer), "200", "{answer}");
    drop(proxy);
    back_to(before).await;
}

#[tokio::test]
async fn stopping_ends_connections_in_every_state() {
    let server =
        Server::start(|mut stream| async move { drop(read_to_close(&mut stream).await) }).await;
    let before = alive();
    let dialler = local(server.port());
    let proxy = start(&dialler);
    let mut held = Vec::new();
    let port = server.port();
    for request in [
        String::new(),
        "GET http".to_owned(),
        format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n"),
        format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n"),
        format!("POST http://127.0.0.1:{port}/ HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf"),
    ] {
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        held.push(stream);
    }
    soon(async {
        while server.connections() < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    soon(proxy.stop()).await;
    assert_eq!(dialler.ledger().snapshot().http.len(), 3, "all of it is in the receipt");
    for stream in &mut held {
        soon(read_to_close(stream)).await;
    }
    back_to(before).await;
}
