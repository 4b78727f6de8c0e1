mod connections;
mod forward;
mod hostile;
mod tunnel;

use tokio::net::TcpStream;

use super::super::dial::support::{read_to_close, soon};
use super::*;

/// Long enough for anything on loopback, short enough to wait for.
const QUICK: Times = Times { head: Duration::from_millis(300), idle: Duration::from_millis(300) };

fn start(dialler: &Dialler) -> Proxy {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    Proxy::start(listener, Client::default(), dialler.clone()).unwrap()
}

fn start_quick(dialler: &Dialler) -> Proxy {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    Proxy::with_times(listener, Client::default(), dialler.clone(), QUICK).unwrap()
}

/// Sends these bytes and returns all that comes back until the proxy closes.
async fn exchange(proxy: &Proxy, request: impl AsRef<[u8]>) -> String {
    let mut stream = soon(TcpStream::connect(proxy.address())).await.unwrap();
    // The proxy may refuse before it has read everything.
    let _ = stream.write_all(request.as_ref()).await;
    let answer = soon(read_to_close(&mut stream)).await;
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> &str {
    answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).unwrap_or(answer)
}
