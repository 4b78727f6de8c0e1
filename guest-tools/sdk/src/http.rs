//! Sends HTTP requests by `wasi:http`. The host decides which hosts may be reached; redirects are
//! not followed here, since each hop has to be asked for again.

use std::io::{self, Read};
use std::time::Duration;

use crate::bindings::wasi::http::outgoing_handler;
pub use crate::bindings::wasi::http::types::{ErrorCode, Method, Scheme};
use crate::bindings::wasi::http::types::{
    Fields, HeaderError, IncomingBody, IncomingResponse, OutgoingBody, OutgoingRequest,
    RequestOptions,
};
use crate::bindings::wasi::io::streams::{InputStream, StreamError};
use crate::error::refusal;
use crate::{Error, Result};

/// Bytes asked for in one read of a body: large enough that crossing the boundary is cheap.
const READ_SIZE: u64 = 64 * 1024;

/// Bytes written at once; the most that `blocking-write-and-flush` takes.
const WRITE_SIZE: usize = 4096;

/// A request, in the parts that `wasi:http` wants.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: Method,
    pub scheme: Scheme,
    /// `host` or `host:port`.
    pub authority: String,
    /// Begins with `/`.
    pub path_with_query: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
    /// For connecting and until the first byte; the call's deadline holds anyway.
    pub timeout: Option<Duration>,
}

/// The answer's head; the body is read from `body` as it arrives.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Body,
}

impl Response {
    /// The first value of a header, where it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok()
    }
}

/// Sends the request and waits for the answer's head. An HTTP status is never an error here.
pub fn send(request: &Request) -> Result<Response> {
    let headers = Fields::from_list(&request.headers).map_err(|error| match error {
        HeaderError::InvalidSyntax => {
            Error::invalid_input("a header has a malformed name or value; correct it")
        }
        HeaderError::Forbidden => Error::denied(
            "a header is not allowed: Host, Content-Length and those of the connection are set \
             by the host; leave them out",
        )
        .or_refusal(),
        HeaderError::Immutable => Error::failed("the headers could not be set"),
    })?;
    let outgoing = OutgoingRequest::new(headers);
    let refused = |part: &str| {
        let message = format!("the {part} is malformed; correct the URL or the method");
        move |()| Error::invalid_input(message)
    };
    outgoing.set_method(&request.method).map_err(refused("method"))?;
    outgoing.set_scheme(Some(&request.scheme)).map_err(refused("scheme"))?;
    outgoing.set_authority(Some(&request.authority)).map_err(refused("host"))?;
    outgoing.set_path_with_query(Some(&request.path_with_query)).map_err(refused("path"))?;
    let body = outgoing.body().map_err(|()| Error::failed("the request has no body to write"))?;

    // The host takes the request before the body is written: a body larger than its buffer could
    // otherwise never be written.
    let future = outgoing_handler::handle(outgoing, options(request.timeout)?).map_err(explain)?;
    write_body(body, &request.body)?;
    future.subscribe().block();
    match future.get() {
        Some(Ok(Ok(incoming))) => read_head(incoming),
        Some(Ok(Err(code))) => Err(explain(code)),
        Some(Err(())) | None => Err(Error::failed("the host gave no answer to the request")),
    }
}

fn options(timeout: Option<Duration>) -> Result<Option<RequestOptions>> {
    let Some(timeout) = timeout else { return Ok(None) };
    let nanoseconds = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    let options = RequestOptions::new();
    let unsupported = |()| Error::failed("the host does not support timeouts of requests");
    options.set_connect_timeout(Some(nanoseconds)).map_err(unsupported)?;
    options.set_first_byte_timeout(Some(nanoseconds)).map_err(unsupported)?;
    options.set_between_bytes_timeout(Some(nanoseconds)).map_err(unsupported)?;
    Ok(Some(options))
}

fn write_body(body: OutgoingBody, bytes: &[u8]) -> Result<()> {
    if !bytes.is_empty() {
        let stream =
            body.write().map_err(|()| Error::failed("the request's body cannot be written"))?;
        for chunk in bytes.chunks(WRITE_SIZE) {
            match stream.blocking_write_and_flush(chunk) {
                Ok(()) => {}
                // The server or the host hung up; the answer says why.
                Err(StreamError::Closed) => return Ok(()),
                Err(StreamError::LastOperationFailed(_)) => return Ok(()),
            }
        }
    }
    OutgoingBody::finish(body, None).map_err(explain)
}

fn read_head(incoming: IncomingResponse) -> Result<Response> {
    let status = incoming.status();
    let headers = incoming.headers().entries();
    let gone = |()| Error::failed("the answer's body cannot be read");
    let body = incoming.consume().map_err(gone)?;
    let stream = body.stream().map_err(gone)?;
    let body = Body { stream, _body: body, _response: incoming };
    Ok(Response { status, headers, body })
}

/// The body of an answer, read as it arrives. Dropping it ends the transfer.
#[derive(Debug)]
pub struct Body {
    // Children before parents: they are dropped in this order.
    stream: InputStream,
    _body: IncomingBody,
    _response: IncomingResponse,
}

impl Body {
    /// The next bytes, as the host has them; none at the end.
    pub fn chunk(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            match self.stream.blocking_read(READ_SIZE) {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Ok(Some(bytes)),
                Err(StreamError::Closed) => return Ok(None),
                Err(StreamError::LastOperationFailed(error)) => {
                    let code = crate::bindings::wasi::http::types::http_error_code(&error);
                    return Err(match code {
                        Some(code) => explain(code),
                        None => refusal().unwrap_or_else(|| {
                            Error::failed(format!(
                                "the transfer broke off: {}; try again",
                                error.to_debug_string()
                            ))
                        }),
                    });
                }
            }
        }
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let want = READ_SIZE.min(buffer.len() as u64);
        loop {
            match self.stream.blocking_read(want) {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => {
                    buffer[..bytes.len()].copy_from_slice(&bytes);
                    return Ok(bytes.len());
                }
                Err(StreamError::Closed) => return Ok(0),
                Err(StreamError::LastOperationFailed(error)) => {
                    return Err(io::Error::other(error.to_debug_string()));
                }
            }
        }
    }
}

/// The case of what went wrong with a request, in the host's words where it refused.
pub fn explain(code: ErrorCode) -> Error {
    let error = classify(&code);
    match error {
        Error::InvalidInput(_) => error,
        _ => refusal().unwrap_or(error),
    }
}

fn classify(code: &ErrorCode) -> Error {
    use ErrorCode as Code;
    match code {
        Code::HttpRequestDenied | Code::DestinationIpProhibited => Error::denied(
            "the grant does not cover this host or address; --allow-host HOST[:PORT] adds one",
        ),
        Code::DnsError(_) | Code::DestinationNotFound => {
            Error::not_found("the host name does not resolve; check its spelling")
        }
        Code::DnsTimeout
        | Code::ConnectionTimeout
        | Code::ConnectionReadTimeout
        | Code::ConnectionWriteTimeout
        | Code::HttpResponseTimeout => {
            Error::timed_out("the server did not answer in time; try again or another server")
        }
        Code::ConnectionLimitReached
        | Code::HttpRequestBodySize(_)
        | Code::HttpRequestHeaderSectionSize(_)
        | Code::HttpRequestHeaderSize(_)
        | Code::HttpRequestTrailerSectionSize(_)
        | Code::HttpRequestTrailerSize(_)
        | Code::HttpResponseHeaderSectionSize(_)
        | Code::HttpResponseHeaderSize(_)
        | Code::HttpResponseBodySize(_)
        | Code::HttpResponseTrailerSectionSize(_)
        | Code::HttpResponseTrailerSize(_) => {
            Error::limit_exceeded(format!("a limit of the connection was reached: {code:?}"))
        }
        Code::HttpRequestMethodInvalid
        | Code::HttpRequestUriInvalid
        | Code::HttpRequestUriTooLong => {
            Error::invalid_input(format!("the request is malformed: {code:?}; correct it"))
        }
        _ => Error::failed(format!("the request failed: {code:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_cases() {
        let expected = [
            (ErrorCode::HttpRequestDenied, "denied"),
            (ErrorCode::DestinationIpProhibited, "denied"),
            (ErrorCode::DestinationNotFound, "not-found"),
            (ErrorCode::ConnectionTimeout, "timed-out"),
            (ErrorCode::HttpResponseBodySize(None), "limit-exceeded"),
            (ErrorCode::HttpRequestUriInvalid, "invalid-input"),
            (ErrorCode::ConnectionRefused, "failed"),
            (ErrorCode::InternalError(None), "failed"),
        ];
        for (code, case) in expected {
            assert_eq!(explain(code.clone()).case(), case, "{code:?}");
        }
    }
}
