//! A web server for one test, on loopback, that answers whatever the test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub method: String,
    pub target: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Seen {
    /// The values of a header; its name in lower case.
    pub fn header(&self, name: &str) -> Vec<&str> {
        let named = self.headers.iter().filter(|(known, _)| known == name);
        named.map(|(_, value)| value.as_str()).collect()
    }
}

pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    stopping: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Every request goes to `answer`, which writes the answer and may take its time.
    pub fn start(answer: impl Fn(&Seen, &mut TcpStream) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, stopping) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (all, stop, answer) = (Arc::clone(&seen), Arc::clone(&stopping), Arc::new(answer));
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), all, answer) = (stream, Arc::clone(&all), Arc::clone(&answer))
                else {
                    continue;
                };
                std::thread::spawn(move || serve(stream, &all, &*answer));
            }
        });
        Server { address, seen, stopping, accepting: Some(accepting) }
    }

    /// Every request gets the same answer.
    pub fn fixed(head: &str, body: impl AsRef<[u8]>) -> Server {
        let answer = answer(head, body.as_ref());
        Server::start(move |_, stream| send(stream, &answer))
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The only request there was.
    #[track_caller]
    pub fn only(&self) -> Seen {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen[0].clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // Wakes it from waiting.
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

/// An answer: its status line and headers (lines, without the length), and its body.
pub fn answer(head: &str, body: &[u8]) -> Vec<u8> {
    let head = head.trim_end().replace('\n', "\r\n");
    let length = body.len();
    let mut answer =
        format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")
            .into_bytes();
    answer.extend_from_slice(body);
    answer
}

/// Writes; a client that has heard enough hangs up, which is no failure of the server.
pub fn send(stream: &mut TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

/// Writes, again and again, until the client hangs up.
pub fn send_until_gone(stream: &mut TcpStream, bytes: &[u8], pause: Duration) {
    while stream.write_all(bytes).is_ok() {
        std::thread::sleep(pause);
    }
}

fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Seen>>,
    answer: &(dyn Fn(&Seen, &mut TcpStream) + Send + Sync),
) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    stream.set_write_timeout(Some(Duration::from_secs(10))).ok()?;
    let request = read_request(&mut BufReader::new(stream.try_clone().ok()?))?;
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
    answer(&request, &mut stream);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    Some(())
}

fn read_request(reader: &mut impl BufRead) -> Option<Seen> {
    let first = line(reader)?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let field = line(reader)?;
        if field.is_empty() {
            break;
        }
        let (name, value) = field.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let value =
        |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let mut body = Vec::new();
    if let Some(length) = value("content-length") {
        body.resize(length.parse().ok()?, 0);
        reader.read_exact(&mut body).ok()?;
    } else if value("transfer-encoding").is_some() {
        loop {
            let length = usize::from_str_radix(&line(reader)?, 16).ok()?;
            let mut chunk = vec![0; length];
            reader.read_exact(&mut chunk).ok()?;
            line(reader)?;
            if length == 0 {
                break;
            }
            body.extend_from_slice(&chunk);
        }
    }
    Some(Seen { method, target, headers, body })
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut text = String::new();
    let read = reader.take(64 * 1024).read_line(&mut text).ok()?;
    (read > 0).then(|| text.trim_end_matches(['\r', '\n']).to_owned())
}
