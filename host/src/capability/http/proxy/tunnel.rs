//! `CONNECT host:port`: bytes both ways, to an authorised target.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::time::timeout;

use super::super::dial::{Entry, Target, authority};
use super::head::{Framing, Head};
use super::inbound::Inbound;
use super::{Refusal, Service};
use crate::policy::HostName;
use crate::tool::ToolError;

/// Copied at once, in each direction.
const PIECE_BYTES: usize = 16 * 1024;

pub(super) async fn serve(
    service: &Service,
    head: Head,
    inbound: &mut Inbound,
    writer: &mut OwnedWriteHalf,
) -> Result<(), Refusal> {
    if head.framing != Framing::Length(0) {
        return Err(Refusal::bad_request("CONNECT has no body"));
    }
    let (host, port) = parse_authority(&head.target)?;
    let place = authority(&host, port);
    let dialler = &service.dialler;
    let mut entry = Entry::new(dialler.ledger(), "CONNECT", &place);

    let act = format!("CONNECT {place}");
    let addresses =
        dialler.authorise(Target { host: &host, port, method: None, act: &act }).await?;
    entry.usage.address = addresses.first().map(ToString::to_string);
    let upstream = dialler.connect(&addresses).await?;
    if let Ok(address) = upstream.peer_addr() {
        entry.usage.address = Some(address.to_string());
    }

    let established = writer.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n");
    match timeout(service.times.idle, established).await {
        Ok(Ok(())) => {}
        // The process does not read or is gone: nobody to say it to.
        Ok(Err(_)) | Err(_) => return Ok(()),
    }
    entry.usage.status = Some(200);
    let (mut from_target, mut to_target) = upstream.into_split();

    // Sent by the process before it had our answer.
    let early = inbound.buffer.split();
    let moved = AtomicU64::new(0);
    let up = async {
        to_target.write_all(&early).await?;
        drop(early);
        relay(&mut inbound.reader, &mut to_target, |length| {
            moved.fetch_add(length, Ordering::Relaxed);
        })
        .await
    };
    let received = &mut entry.usage.received_bytes;
    let down = relay(&mut from_target, writer, |length| {
        *received += length;
        moved.fetch_add(length, Ordering::Relaxed);
    });
    tokio::select! {
        // Both directions to their ends; one that breaks takes the other with it.
        ended = async { tokio::try_join!(up, down) } => {
            if let Err(error) = ended {
                tracing::debug!(%error, place, "a tunnel broke");
            }
        }
        () = no_longer_moving(&moved, service.times.idle) => {
            tracing::debug!(place, "an idle tunnel was closed");
        }
    }
    Ok(())
}

/// Copies until the end and passes the end on.
async fn relay(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    mut count: impl FnMut(u64),
) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let length = from.read(&mut piece).await?;
        if length == 0 {
            return to.shutdown().await;
        }
        count(length as u64);
        to.write_all(&piece[..length]).await?;
    }
}

/// Returns after a time in which nothing was counted; at the latest after twice that time.
async fn no_longer_moving(moved: &AtomicU64, idle: Duration) {
    let mut before = moved.load(Ordering::Relaxed);
    loop {
        tokio::time::sleep(idle).await;
        let now = moved.load(Ordering::Relaxed);
        if now == before {
            return;
        }
        before = now;
    }
}

fn parse_authority(target: &str) -> Result<(HostName, u16), ToolError> {
    let invalid =
        || ToolError::invalid_input("CONNECT takes HOST:PORT, an IPv6 address in brackets");
    let (host, port) = target.rsplit_once(':').ok_or_else(invalid)?;
    if host.contains(':') && !host.starts_with('[') {
        return Err(invalid());
    }
    // Digits only: the standard parser also takes a sign.
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid());
    }
    let port = port.parse().map_err(|_| invalid())?;
    let host = HostName::parse(host).map_err(ToolError::invalid_input)?;
    Ok((host, port))
}
