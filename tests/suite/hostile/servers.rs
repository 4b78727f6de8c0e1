//! Servers on the loopback interface, honest and not, which count who comes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A connection is looked after for this long at most, whatever the peer does.
const PATIENCE: Duration = Duration::from_secs(10);

type Serve = dyn Fn(&mut TcpStream, &Shared) + Send + Sync;

pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
pub struct Shared {
    connections: AtomicUsize,
    requests: Mutex<Vec<String>>,
    stop: AtomicBool,
}

impl Shared {
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Server {
    /// Serves every connection, one after the other, on a thread of its own.
    pub fn start(serve: impl Fn(&mut TcpStream, &Shared) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let (inside, serve): (_, Box<Serve>) = (Arc::clone(&shared), Box::new(serve));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if inside.stopped() {
                    return;
                }
                inside.connections.fetch_add(1, Ordering::Relaxed);
                let Ok(mut stream) = stream else { continue };
                // A peer that hangs up is no fault of the server's.
                let _ = stream.set_read_timeout(Some(PATIENCE));
                serve(&mut stream, &inside);
            }
        });
        Server { address, shared, thread: Some(thread) }
    }

    /// Answers every request with these bytes.
    pub fn answering(response: impl Into<Vec<u8>>) -> Server {
        let response = response.into();
        Server::start(move |stream, shared| {
            shared.requests.lock().unwrap().push(read_head(stream));
            let _ = stream.write_all(&response);
        })
    }

    /// Says hello.
    pub fn honest() -> Server {
        Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
    }

    /// Sends everybody elsewhere.
    pub fn redirecting(to: &str) -> Server {
        Server::answering(format!(
            "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        ))
    }

    /// Reads and never answers.
    pub fn silent() -> Server {
        Server::start(|stream, shared| {
            let mut buffer = [0; 1024];
            let _ = stream.set_read_timeout(Some(Duration::from_millis(10)));
            while !shared.stopped() && !matches!(stream.read(&mut buffer), Ok(0)) {}
        })
    }

    /// Promises much, and sends a byte every ten seconds.
    pub fn dripping() -> Server {
        Server::start(|stream, shared| {
            read_head(stream);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nx");
            let mut buffer = [0; 1024];
            let _ = stream.set_read_timeout(Some(Duration::from_millis(10)));
            while !shared.stopped() && !matches!(stream.read(&mut buffer), Ok(0)) {}
        })
    }

    /// A head, and then the same bytes again and again until the peer hangs up.
    pub fn endless(head: &'static str, chunk: Vec<u8>) -> Server {
        Server::start(move |stream, shared| {
            read_head(stream);
            let _ = stream.set_write_timeout(Some(PATIENCE));
            let mut sent = stream.write_all(head.as_bytes());
            while sent.is_ok() && !shared.stopped() {
                sent = stream.write_all(&chunk);
            }
        })
    }

    /// `127.0.0.1:PORT`.
    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections there were.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// The heads of the requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // Wakes it up.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Up to the empty line that ends a request's head.
fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}
