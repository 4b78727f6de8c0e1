//! An absolute `http://` request, passed on by one hop.
//!
//! Nothing of the request's bytes goes through as it came: it is read, rebuilt and sent by
//! [`Client`](super::super::client::Client), so the target sees exactly one request, the one that
//! was authorised.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use http::header::{self, HeaderMap, HeaderName};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::super::client::{Bounds, HOP_FIELDS, ResponseBody, Scheme};
use super::head::{Framing, Head};
use super::inbound::{Inbound, broken};
use super::{Refusal, Service};
use crate::tool::ToolError;

/// A chunk's size in hexadecimal and its CRLF. Extensions are refused: no client sends them, and
/// servers differ in how they read them.
const MAX_CHUNK_LINE: usize = 16 + 2;

/// The fields after the last chunk, all together. They are read over.
const MAX_TRAILER_BYTES: usize = 8 * 1024;

pub(super) async fn serve(
    service: &Service,
    head: Head,
    inbound: &mut Inbound,
    writer: &mut OwnedWriteHalf,
) -> Result<(), Refusal> {
    let idle = service.times.idle;
    let Head { method, target, is_old, headers, framing } = head;
    let uri = parse_target(&target)?;
    let expects_continue = !is_old && headers.contains_key(header::EXPECT);
    if expects_continue && framing != Framing::Length(0) {
        // Asked for so that the body is not sent in vain; we take it either way.
        let go_on = writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
        if !matches!(timeout(idle, go_on).await, Ok(Ok(()))) {
            return Ok(());
        }
    }

    // One piece under way: the target's pace is the process's pace.
    let (pieces, body) = mpsc::channel(1);
    let body = PumpedBody { pieces: body, framing };
    let mut request = Request::new(body);
    *request.method_mut() = method.clone();
    *request.uri_mut() = uri;
    *request.headers_mut() = end_to_end(headers);
    request.headers_mut().remove(header::EXPECT);
    // Set anew from the body, so that there is one truth.
    request.headers_mut().remove(header::CONTENT_LENGTH);

    // What a process downloads fills its own disk and memory, which have their own limits;
    // nothing is gathered here.
    let mut bounds = Bounds::new(u64::MAX);
    if framing == Framing::Length(0) {
        // With a body it takes as long as sending that does.
        bounds.first_byte = idle;
    }
    let exchange = async {
        let response = service.client.send(request, Scheme::Http, &service.dialler, bounds).await?;
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            return Err(ToolError::failed("the target switched protocols unasked").into());
        }
        if let Err(error) = answer(response, &method, is_old, writer, idle).await {
            // The answer is under way; closing early is how the process learns of it.
            tracing::debug!(%error, target, "a forwarded answer broke off");
        }
        Ok(())
    };
    tokio::select! {
        outcome = exchange => outcome,
        // Ends only with the exchange: a target may answer before it has read everything.
        never = pump(inbound, framing, pieces, idle) => match never {},
    }
}

fn parse_target(target: &str) -> Result<Uri, Refusal> {
    let uri: Uri = target.parse().map_err(|error| {
        Refusal::bad_request(format!("the request's target is not a URL: {error}"))
    })?;
    match uri.scheme_str() {
        Some("http") => Ok(uri),
        Some("https") => Err(Refusal::bad_request("https needs a tunnel: use CONNECT")),
        _ => {
            Err(Refusal::bad_request("this is a proxy: it takes CONNECT and absolute http:// URLs"))
        }
    }
}

/// Without what was meant for this hop: the usual fields, and those that `Connection` names.
fn end_to_end(mut headers: HeaderMap) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in
        named.iter().chain(&HOP_FIELDS).chain([&HeaderName::from_static("proxy-connection")])
    {
        headers.remove(name);
    }
    headers
}

/// Hands the request's body over piece by piece, and then waits to be dropped.
async fn pump(
    inbound: &mut Inbound,
    framing: Framing,
    pieces: mpsc::Sender<io::Result<Bytes>>,
    idle: Duration,
) -> std::convert::Infallible {
    let ended = match framing {
        Framing::Length(length) => pump_exactly(inbound, length, &pieces, idle).await,
        Framing::Chunked => pump_chunks(inbound, &pieces, idle).await,
    };
    if let Err(error) = ended {
        // Nobody takes it if the exchange is at its end.
        let _ = pieces.send(Err(error)).await;
    }
    drop(pieces);
    std::future::pending().await
}

async fn pump_exactly(
    inbound: &mut Inbound,
    mut left: u64,
    pieces: &mpsc::Sender<io::Result<Bytes>>,
    idle: Duration,
) -> io::Result<()> {
    while left > 0 {
        let piece = timeout(idle, inbound.piece(left)).await??;
        if piece.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        left -= piece.len() as u64;
        if pieces.send(Ok(piece)).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}

async fn pump_chunks(
    inbound: &mut Inbound,
    pieces: &mpsc::Sender<io::Result<Bytes>>,
    idle: Duration,
) -> io::Result<()> {
    loop {
        let line = timeout(idle, inbound.line(MAX_CHUNK_LINE)).await??;
        // Digits only: the standard parser also takes a sign.
        let digits = std::str::from_utf8(&line)
            .ok()
            .filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
        let length = digits
            .and_then(|text| u64::from_str_radix(text, 16).ok())
            .ok_or_else(|| broken("a chunk's size is not a hexadecimal number"))?;
        if length == 0 {
            break;
        }
        pump_exactly(inbound, length, pieces, idle).await?;
        timeout(idle, inbound.expect(b"\r\n")).await??;
    }
    let mut left = MAX_TRAILER_BYTES;
    loop {
        let line = timeout(idle, inbound.line(left)).await??;
        if line.is_empty() {
            return Ok(());
        }
        left = left.saturating_sub(line.len() + 2);
    }
}

/// The request's body as the client takes it.
struct PumpedBody {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    /// How much is still to come.
    framing: Framing,
}

impl Body for PumpedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = self.get_mut();
        let piece = std::task::ready!(this.pieces.poll_recv(context));
        if let (Some(Ok(piece)), Framing::Length(left)) = (&piece, &mut this.framing) {
            *left = left.saturating_sub(piece.len() as u64);
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.framing == Framing::Length(0)
    }

    fn size_hint(&self) -> SizeHint {
        match self.framing {
            Framing::Length(left) => SizeHint::with_exact(left),
            Framing::Chunked => SizeHint::default(),
        }
    }
}

/// Writes a response as a message of our own, and closes after it.
async fn answer(
    response: Response<ResponseBody>,
    method: &Method,
    is_old: bool,
    writer: &mut OwnedWriteHalf,
    idle: Duration,
) -> io::Result<()> {
    let (parts, mut body) = response.into_parts();
    let has_body = !(method == Method::HEAD
        || parts.status == StatusCode::NO_CONTENT
        || parts.status == StatusCode::NOT_MODIFIED);
    let mut headers = end_to_end(parts.headers);
    let chunked = has_body && !is_old && !headers.contains_key(header::CONTENT_LENGTH);
    if chunked {
        headers.insert(header::TRANSFER_ENCODING, header::HeaderValue::from_static("chunked"));
    }
    headers.insert(header::CONNECTION, header::HeaderValue::from_static("close"));

    let mut head = BytesMut::new();
    let reason = parts.status.canonical_reason().unwrap_or_default();
    head.put_slice(format!("HTTP/1.1 {} {reason}\r\n", parts.status.as_u16()).as_bytes());
    for (name, value) in &headers {
        head.put_slice(name.as_str().as_bytes());
        head.put_slice(b": ");
        head.put_slice(value.as_bytes());
        head.put_slice(b"\r\n");
    }
    head.put_slice(b"\r\n");
    timeout(idle, writer.write_all(&head)).await??;

    if has_body {
        while let Some(frame) = timeout(idle, body.frame()).await? {
            let Ok(data) = frame.map_err(io::Error::other)?.into_data() else { continue };
            if data.is_empty() {
                continue;
            }
            if chunked {
                let size = format!("{:x}\r\n", data.len());
                timeout(idle, writer.write_all(size.as_bytes())).await??;
                timeout(idle, writer.write_all(&data)).await??;
                timeout(idle, writer.write_all(b"\r\n")).await??;
            } else {
                timeout(idle, writer.write_all(&data)).await??;
            }
        }
        if chunked {
            timeout(idle, writer.write_all(b"0\r\n\r\n")).await??;
        }
    }
    timeout(idle, writer.shutdown()).await?
}
