//! The one place where an error of reqwest becomes a [`ToolError`].

use std::error::Error;
use std::io;

use crate::tool::ToolError;

/// Hyper's words for more than it takes: 100 fields, 400 KiB of them, or a stated length near
/// 2^64. Clients have no other way to tell.
const HEADER_TOO_LARGE: &str = "message head is too large";

pub(super) fn explain(error: &reqwest::Error) -> ToolError {
    if let Some(ours) = find::<ToolError>(error) {
        return ours.clone();
    }
    if error.is_timeout() {
        return ToolError::timed_out("the connection was not made in time; try again later");
    }
    if error.is_dns() {
        return ToolError::not_found(format!(
            "the host cannot be looked up: {}",
            root_cause(error)
        ));
    }
    if let Some(tls) = find::<rustls::Error>(error) {
        return ToolError::failed(match tls {
            rustls::Error::InvalidCertificate(problem) => {
                format!("the server's certificate is not accepted: {problem}")
            }
            other => format!("no TLS connection: {other}"),
        });
    }
    let cause = root_cause(error);
    if cause.contains(HEADER_TOO_LARGE) {
        return ToolError::limit_exceeded(
            "the response's header is too large, or states a length that is",
        );
    }
    ToolError::failed(if error.is_connect() {
        format!("cannot connect: {cause}")
    } else {
        format!("the exchange broke off: {cause}")
    })
}

/// The first error of that type below, looking into I/O errors, which hide what they wrap.
fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match wrapped {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    None
}

/// What was really wrong; the layers above only repeat where it happened.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
