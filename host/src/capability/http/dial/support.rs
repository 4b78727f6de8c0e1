//! What the tests of this folder share. Every connection goes to loopback.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{Dialler, Resolve};
use crate::policy::{HostRule, Network, Permission};
use crate::receipt::Ledger;
use crate::tool::{Answer, Approver, Headless, Question};

/// Far above what anything on loopback takes, far below what a person would wait for.
pub const SOON: Duration = Duration::from_secs(10);

pub async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(SOON, future).await.expect("this should not take so long")
}

pub enum Lookup {
    Finds(Vec<&'static str>),
    Fails,
    Hangs,
}

/// Answers in the given order, and fails when there is no answer left.
pub struct Scripted {
    answers: Mutex<VecDeque<Lookup>>,
    lookups: AtomicUsize,
}

impl Scripted {
    pub fn new(answers: impl IntoIterator<Item = Lookup>) -> Arc<Self> {
        Arc::new(Scripted {
            answers: Mutex::new(answers.into_iter().collect()),
            lookups: AtomicUsize::new(0),
        })
    }

    pub fn nothing() -> Arc<Self> {
        Self::new([])
    }

    pub fn finds(addresses: &[&'static str]) -> Arc<Self> {
        Self::new([Lookup::Finds(addresses.to_vec())])
    }

    pub fn lookups(&self) -> usize {
        self.lookups.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Resolve for Scripted {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers.lock().unwrap().pop_front();
        match answer {
            Some(Lookup::Finds(addresses)) => {
                Ok(addresses.iter().map(|address| address.parse().unwrap()).collect())
            }
            Some(Lookup::Hangs) => std::future::pending().await,
            Some(Lookup::Fails) | None => Err(io::Error::other(format!("{name}: no such name"))),
        }
    }
}

/// Gives one answer to every question, and keeps the questions.
pub struct Says {
    answer: Answer,
    pub questions: Mutex<Vec<Question>>,
}

impl Says {
    pub fn new(answer: Answer) -> Arc<Self> {
        Arc::new(Says { answer, questions: Mutex::default() })
    }
}

#[async_trait]
impl Approver for Says {
    async fn ask(&self, question: Question) -> Answer {
        self.questions.lock().unwrap().push(question);
        self.answer
    }
}

pub fn network(public: Permission, rules: &[&str]) -> Network {
    Network { public, rules: rules.iter().map(|rule| HostRule::parse(rule).unwrap()).collect() }
}

/// With nobody to ask.
pub fn dialler(network: Network, resolver: Arc<Scripted>) -> Dialler {
    asking(network, resolver, Arc::new(Headless))
}

pub fn asking(network: Network, resolver: Arc<Scripted>, approver: Arc<dyn Approver>) -> Dialler {
    Dialler::new("fetch", Arc::new(network), resolver, approver, Ledger::default())
}

/// May reach that one port of 127.0.0.1 and nothing else.
pub fn local(port: u16) -> Dialler {
    dialler(network(Permission::Deny, &[&format!("127.0.0.1:{port}")]), Scripted::nothing())
}

/// May reach that port of 127.0.0.1, also by the name `name.test`, which points there.
pub fn named(port: u16, resolver: Arc<Scripted>) -> Dialler {
    let rules = [format!("127.0.0.1:{port}"), format!("name.test:{port}")];
    dialler(network(Permission::Deny, &[&rules[0], &rules[1]]), resolver)
}

/// A listener that nobody may connect to.
pub struct Trap(std::net::TcpListener);

impl Trap {
    pub fn set() -> Trap {
        Trap::at("127.0.0.1:0").unwrap()
    }

    pub fn at(address: &str) -> io::Result<Trap> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Trap(listener))
    }

    pub fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    /// A connection that was made waits in the queue, even if it was closed since.
    pub fn assert_untouched(&self) {
        match self.0.accept() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            other => panic!("somebody connected: {other:?}"),
        }
    }
}

/// A server for one test; it ends with it.
pub struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    /// Each connection is handled by `behave` until that returns.
    pub async fn start<F, R>(behave: F) -> Server
    where
        F: Fn(TcpStream) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            let mut running = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                running.spawn(behave(stream));
            }
        });
        Server { address, connections, task }
    }

    /// Reads each request to the end of its header, keeps it, answers these bytes and closes.
    pub async fn answering(answer: impl Into<Vec<u8>>) -> (Server, Arc<Mutex<Vec<String>>>) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (answer, log) = (Arc::new(answer.into()), Arc::clone(&seen));
        let server = Server::start(move |mut stream| {
            let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
            async move {
                let head = read_head(&mut stream).await;
                log.lock().unwrap().push(head);
                // The client may have had enough.
                let _ = stream.write_all(&answer).await;
                let _ = stream.shutdown().await;
                read_to_close(&mut stream).await;
            }
        })
        .await;
        (server, seen)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// What comes until the peer closes or resets.
pub async fn read_to_close(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    bytes
}
