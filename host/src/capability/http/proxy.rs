//! The only way out for a sandboxed process: an HTTP proxy that checks every target.
//!
//! The process has a network namespace of its own with nothing in it but this proxy's listening
//! socket. Each connection carries one request: `CONNECT host:port` for a tunnel, or an absolute
//! `http://` URL, forwarded by [`Client`]. Whom to reach is read from the request line alone and
//! authorised by the same [`Dialler`] as a guest's requests, so a process can go where its
//! grant says and nowhere else, whatever its libraries do.
//!
//! The peer is hostile: what two readers could understand differently is refused, not repaired.

mod forward;
mod head;
mod inbound;
#[cfg(test)]
mod tests;
mod tunnel;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::client::Client;
use super::dial::Dialler;
use crate::tool::{ErrorCase, ToolError};
use inbound::Inbound;

/// Connections served at once; more wait in the listener's queue. Enough for a package manager,
/// and a flood costs the process its own network, not our descriptors.
const MAX_CONNECTIONS: usize = 64;

/// From a connection's start to the end of its request's header.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Without a byte in either direction. Above what servers use for slow answers; a process that
/// waits longer is ended by its own deadline.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// How long a peer may take to read a refusal, and what it may still send meanwhile. Closing on
/// unread bytes would reset the connection, and the refusal be lost with it.
const LINGER_TIMEOUT: Duration = Duration::from_secs(1);
const LINGER_BYTES: u64 = 256 * 1024;

/// After a failing `accept`, most likely for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A running proxy. Dropped, it ends with all its connections.
pub struct Proxy {
    address: SocketAddr,
    /// Dropping it is the signal.
    stop: Option<oneshot::Sender<()>>,
    task: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Serves `listener`, whose socket may belong to another network namespace. Must be called
    /// within a tokio runtime, whose tasks it uses.
    pub fn start(
        listener: std::net::TcpListener,
        client: Client,
        dialler: Dialler,
    ) -> io::Result<Proxy> {
        Proxy::with_times(
            listener,
            client,
            dialler,
            Times { head: HEAD_TIMEOUT, idle: IDLE_TIMEOUT },
        )
    }

    fn with_times(
        listener: std::net::TcpListener,
        client: Client,
        dialler: Dialler,
        times: Times,
    ) -> io::Result<Proxy> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let service = Arc::new(Service { client, dialler, times });
        let task = tokio::spawn(accept(listener, service, stopped));
        Ok(Proxy { address, stop: Some(stop), task: Some(task) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it and waits until nothing of it runs any more and the receipt has all of it.
    pub async fn stop(mut self) {
        self.stop = None;
        if let Some(task) = self.task.take()
            && let Err(error) = task.await
        {
            tracing::error!(%error, "the proxy ended badly");
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Times {
    head: Duration,
    idle: Duration,
}

/// What every connection needs.
struct Service {
    client: Client,
    dialler: Dialler,
    times: Times,
}

async fn accept(listener: TcpListener, service: Arc<Service>, mut stopped: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stopped => break,
            Some(ended) = connections.join_next() => {
                if let Err(error) = ended {
                    tracing::error!(%error, "a connection of the proxy ended badly");
                }
            }
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    let service = Arc::clone(&service);
                    connections.spawn(async move { service.serve(stream).await });
                }
                Err(error) => {
                    tracing::warn!(%error, "the proxy cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    connections.shutdown().await;
}

impl Service {
    async fn serve(&self, stream: TcpStream) {
        let (reader, mut writer) = stream.into_split();
        let mut inbound = Inbound::new(reader);
        let outcome = match timeout(self.times.head, head::read(&mut inbound)).await {
            // Closed without a request.
            Ok(Ok(None)) => return,
            Ok(Ok(Some(head))) if head.method == http::Method::CONNECT => {
                tunnel::serve(self, head, &mut inbound, &mut writer).await
            }
            Ok(Ok(Some(head))) => forward::serve(self, head, &mut inbound, &mut writer).await,
            Ok(Err(refusal)) => Err(refusal),
            Err(_) => Err(Refusal {
                status: StatusCode::REQUEST_TIMEOUT,
                message: "the request's header did not arrive in time".to_owned(),
            }),
        };
        if let Err(refusal) = outcome {
            refuse(inbound, writer, &refusal).await;
        }
    }
}

/// An answer of our own instead of the target's.
#[derive(Debug, PartialEq, Eq)]
struct Refusal {
    status: StatusCode,
    message: String,
}

impl Refusal {
    fn bad_request(message: impl Into<String>) -> Self {
        Refusal { status: StatusCode::BAD_REQUEST, message: message.into() }
    }
}

impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Self {
        let status = match error.case {
            ErrorCase::InvalidInput => StatusCode::BAD_REQUEST,
            ErrorCase::Denied => StatusCode::FORBIDDEN,
            ErrorCase::TimedOut => StatusCode::GATEWAY_TIMEOUT,
            ErrorCase::LimitExceeded => StatusCode::SERVICE_UNAVAILABLE,
            ErrorCase::NotFound | ErrorCase::Failed | ErrorCase::Crashed => StatusCode::BAD_GATEWAY,
        };
        Refusal { status, message: error.to_string() }
    }
}

async fn refuse(mut inbound: Inbound, mut writer: OwnedWriteHalf, refusal: &Refusal) {
    let Refusal { status, message } = refusal;
    let text = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\nxzatoma: {message}\n",
        status.as_u16(),
        status.canonical_reason().unwrap_or_default(),
        "xzatoma: \n".len() + message.len(),
    );
    let answer = async {
        writer.write_all(text.as_bytes()).await?;
        writer.shutdown().await?;
        let mut rest = (&mut inbound.reader).take(LINGER_BYTES);
        tokio::io::copy(&mut rest, &mut tokio::io::sink()).await
    };
    // A peer that is gone or does not read has no use for the reason.
    if let Ok(Err(error)) = timeout(LINGER_TIMEOUT, answer).await {
        tracing::debug!(%error, "a refusal of the proxy did not arrive");
    }
}
