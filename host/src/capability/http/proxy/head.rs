//! Reads the header of one request, strictly.
//!
//! A request that two servers could read differently is how a second one is hidden inside the
//! first. So: lines end in CRLF only, no folding, no blanks around a name, one `Host`, and one
//! way to tell where the body ends.

use bytes::Buf;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};

use super::Refusal;
use super::inbound::Inbound;

const MAX_HEAD_BYTES: usize = 32 * 1024;

/// As many as hyper takes from a server.
const MAX_FIELDS: usize = 100;

#[derive(Debug)]
pub(super) struct Head {
    pub(super) method: Method,
    /// As sent, printable ASCII.
    pub(super) target: String,
    /// HTTP/1.0, whose clients know neither chunks nor `100 Continue`.
    pub(super) is_old: bool,
    pub(super) headers: HeaderMap,
    pub(super) framing: Framing,
}

/// Where the request's body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
}

/// None if the peer closed without having sent anything.
pub(super) async fn read(inbound: &mut Inbound) -> Result<Option<Head>, Refusal> {
    let mut scanned = 0;
    loop {
        if let Some(end) = find_end(&inbound.buffer, scanned)? {
            let bytes = inbound.buffer.split_to(end).freeze();
            // Of the end, the last line's own CRLF stays out too.
            return parse(&bytes[..end - b"\r\n\r\n".len()]).map(Some);
        }
        scanned = inbound.buffer.len();
        if scanned >= MAX_HEAD_BYTES {
            return Err(Refusal {
                status: StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                message: format!("the request's header is larger than {MAX_HEAD_BYTES} bytes"),
            });
        }
        match inbound.fill().await {
            Ok(true) => {}
            Ok(false) if inbound.buffer.is_empty() => return Ok(None),
            Ok(false) => return Err(Refusal::bad_request("the request ends within its header")),
            Err(error) => {
                return Err(Refusal::bad_request(format!("the request cannot be read: {error}")));
            }
        }
    }
}

/// Where the empty line ends, looking at what came after `scanned`; any line end but CRLF is
/// refused as soon as it is seen.
fn find_end(buffer: &[u8], scanned: usize) -> Result<Option<usize>, Refusal> {
    for at in scanned..buffer.len().min(MAX_HEAD_BYTES) {
        let after_cr = at > 0 && buffer[at - 1] == b'\r';
        if after_cr != (buffer[at] == b'\n') {
            return Err(Refusal::bad_request("lines must end in CRLF and hold no other CR or LF"));
        }
        if buffer[at] == b'\n' && buffer[..=at].ends_with(b"\r\n\r\n") {
            return Ok(Some(at + 1));
        }
    }
    Ok(None)
}

/// `bytes` without the empty line; every CR is followed by LF and every LF preceded by CR.
fn parse(bytes: &[u8]) -> Result<Head, Refusal> {
    let mut lines = Lines { rest: Some(bytes) };
    let (method, target, is_old) = parse_request_line(lines.next().unwrap_or_default())?;
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = parse_field(line)?;
        if name == header::HOST && headers.contains_key(header::HOST) {
            return Err(Refusal::bad_request("there is more than one Host"));
        }
        if headers.len() >= MAX_FIELDS {
            return Err(Refusal {
                status: StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                message: format!("the request has more than {MAX_FIELDS} header fields"),
            });
        }
        headers.append(name, value);
    }
    let framing = parse_framing(&headers, is_old)?;
    Ok(Head { method, target, is_old, headers, framing })
}

struct Lines<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let Some(end) = rest.iter().position(|byte| *byte == b'\r') else {
            return self.rest.take();
        };
        let (line, mut after) = rest.split_at(end);
        after.advance(b"\r\n".len());
        self.rest = Some(after);
        Some(line)
    }
}

fn parse_request_line(line: &[u8]) -> Result<(Method, String, bool), Refusal> {
    let invalid = || Refusal::bad_request("the request line must be METHOD TARGET HTTP/1.1");
    let parts: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let [method, target, version] = parts[..] else { return Err(invalid()) };
    let is_old = match version {
        b"HTTP/1.1" => false,
        b"HTTP/1.0" => true,
        _ => return Err(invalid()),
    };
    if target.is_empty() || !target.iter().all(u8::is_ascii_graphic) {
        return Err(invalid());
    }
    let method = Method::from_bytes(method).map_err(|_| invalid())?;
    let target = std::str::from_utf8(target).map_err(|_| invalid())?.to_owned();
    Ok((method, target, is_old))
}

fn parse_field(line: &[u8]) -> Result<(HeaderName, HeaderValue), Refusal> {
    if line.starts_with(b" ") || line.starts_with(b"\t") {
        return Err(Refusal::bad_request("folded header lines are not supported"));
    }
    let invalid = || {
        Refusal::bad_request("a header field must be NAME: VALUE, without blanks before the colon")
    };
    let colon = line.iter().position(|byte| *byte == b':').ok_or_else(invalid)?;
    // A token and nothing else: neither a blank nor a control character passes.
    let name = HeaderName::from_bytes(&line[..colon]).map_err(|_| invalid())?;
    let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).map_err(|_| invalid())?;
    Ok((name, value))
}

fn parse_framing(headers: &HeaderMap, is_old: bool) -> Result<Framing, Refusal> {
    let lengths: Vec<&HeaderValue> = headers.get_all(header::CONTENT_LENGTH).iter().collect();
    let codings: Vec<&HeaderValue> = headers.get_all(header::TRANSFER_ENCODING).iter().collect();
    match (&lengths[..], &codings[..]) {
        ([], []) => Ok(Framing::Length(0)),
        ([length], []) => {
            // Digits only: the standard parser also takes a sign.
            let digits =
                length.to_str().ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
            match digits.and_then(|text| text.parse().ok()) {
                Some(length) => Ok(Framing::Length(length)),
                None => Err(Refusal::bad_request("Content-Length must be a number")),
            }
        }
        ([], [coding]) if !is_old && coding.as_bytes().eq_ignore_ascii_case(b"chunked") => {
            Ok(Framing::Chunked)
        }
        ([], _) => Err(Refusal::bad_request(
            "the only Transfer-Encoding supported is chunked, once, in HTTP/1.1",
        )),
        (_, []) => Err(Refusal::bad_request("there is more than one Content-Length")),
        (_, _) => {
            Err(Refusal::bad_request("Content-Length and Transfer-Encoding exclude each other"))
        }
    }
}
