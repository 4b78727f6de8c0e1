//! The network: raw sockets, name look-up, and `wasi:http` without an honest library's care.

use crate::bindings::exports::xzatoma::tool::tool::ToolError;
use crate::bindings::wasi::http::outgoing_handler;
use crate::bindings::wasi::http::types::{
    Fields, IncomingResponse, Method, OutgoingBody, OutgoingRequest, Scheme,
};
use crate::bindings::wasi::io::streams::StreamError;
use crate::bindings::wasi::sockets::network::IpAddressFamily;
use crate::bindings::wasi::sockets::{
    instance_network, ip_name_lookup, tcp_create_socket, udp_create_socket,
};
use crate::{Answer, Arguments, achieved, answer, failed};

pub fn act(arguments: &Arguments) -> Option<Answer> {
    Some(match arguments.case.as_str() {
        "tcp" => tcp(),
        "udp" => udp(),
        "lookup" => lookup(&arguments.path),
        "http" => http(arguments),
        "http-flood" => flood(arguments),
        "http-upload" => upload(arguments),
        "http-unfinished" => unfinished(arguments),
        _ => return None,
    })
}

fn tcp() -> Answer {
    for family in [IpAddressFamily::Ipv4, IpAddressFamily::Ipv6] {
        if tcp_create_socket::create_tcp_socket(family).is_ok() {
            return achieved(format!("a socket of {family:?}"));
        }
    }
    Err(failed("no socket"))
}

fn udp() -> Answer {
    for family in [IpAddressFamily::Ipv4, IpAddressFamily::Ipv6] {
        if udp_create_socket::create_udp_socket(family).is_ok() {
            return achieved(format!("a socket of {family:?}"));
        }
    }
    Err(failed("no socket"))
}

fn lookup(name: &str) -> Answer {
    let network = instance_network::instance_network();
    let addresses = ip_name_lookup::resolve_addresses(&network, name).map_err(failed)?;
    loop {
        match addresses.resolve_next_address() {
            Ok(Some(address)) => return achieved(format!("{address:?}")),
            Ok(None) => return answer("no address"),
            Err(crate::bindings::wasi::sockets::network::ErrorCode::WouldBlock) => {
                addresses.subscribe().block();
            }
            Err(code) => return Err(failed(code)),
        }
    }
}

fn request(arguments: &Arguments) -> Result<OutgoingRequest, ToolError> {
    let fields = Fields::new();
    for (name, value) in &arguments.headers {
        fields.append(name, value.as_bytes()).map_err(failed)?;
    }
    let request = OutgoingRequest::new(fields);
    let malformed = |()| ToolError::InvalidInput("malformed".to_owned());
    let method = match arguments.method.as_str() {
        "" | "GET" => Method::Get,
        "POST" => Method::Post,
        other => Method::Other(other.to_owned()),
    };
    let scheme = match arguments.scheme.as_str() {
        "" | "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.to_owned()),
    };
    request.set_method(&method).map_err(malformed)?;
    request.set_scheme(Some(&scheme)).map_err(malformed)?;
    request.set_authority(Some(&arguments.authority)).map_err(malformed)?;
    let path = if arguments.path.is_empty() { "/" } else { &arguments.path };
    request.set_path_with_query(Some(path)).map_err(malformed)?;
    Ok(request)
}

fn send(request: OutgoingRequest, body: &[u8]) -> Result<IncomingResponse, ToolError> {
    let outgoing = request.body().map_err(|()| failed("no body"))?;
    let future = outgoing_handler::handle(request, None).map_err(failed)?;
    if !body.is_empty() {
        let stream = outgoing.write().map_err(|()| failed("no stream"))?;
        for chunk in body.chunks(4096) {
            if stream.blocking_write_and_flush(chunk).is_err() {
                break;
            }
        }
    }
    OutgoingBody::finish(outgoing, None).map_err(failed)?;
    future.subscribe().block();
    match future.get() {
        Some(Ok(Ok(response))) => Ok(response),
        Some(Ok(Err(code))) => Err(failed(code)),
        _ => Err(failed("no answer")),
    }
}

/// One request, and up to `count` redirects followed without looking where they lead.
fn http(arguments: &Arguments) -> Answer {
    let mut response = send(request(arguments)?, arguments.body.as_bytes())?;
    let mut hops = 0;
    while (300..400).contains(&response.status()) && hops < arguments.count {
        let location = response.headers().get("location").into_iter().next().unwrap_or_default();
        let location = String::from_utf8_lossy(&location).into_owned();
        let (scheme, rest) = location.split_once("://").unwrap_or(("http", &location));
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/"),
        };
        let next = Arguments {
            scheme: scheme.to_owned(),
            authority: authority.to_owned(),
            path: path.to_owned(),
            ..Arguments::default()
        };
        response = send(request(&next)?, b"")?;
        hops += 1;
    }
    let status = response.status();
    let (bytes, first) = read(&response)?;
    achieved(format!("status {status} after {hops} hops, {bytes} bytes: {first:?}"))
}

/// Reads to the end.
fn read(response: &IncomingResponse) -> Result<(u64, String), ToolError> {
    let body = response.consume().map_err(|()| failed("no body"))?;
    let stream = body.stream().map_err(|()| failed("no stream"))?;
    let (mut bytes, mut first) = (0, String::new());
    loop {
        match stream.blocking_read(64 << 10) {
            Ok(chunk) => {
                if first.is_empty() {
                    first = String::from_utf8_lossy(&chunk[..chunk.len().min(200)]).into_owned();
                }
                bytes += chunk.len() as u64;
            }
            Err(StreamError::Closed) => return Ok((bytes, first)),
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(failed(format!("{} after {bytes} bytes", error.to_debug_string())));
            }
        }
    }
}

/// The same request `count` times; answers how often it worked.
fn flood(arguments: &Arguments) -> Answer {
    let mut worked = 0;
    for _ in 0..arguments.count {
        match send(request(arguments)?, b"") {
            Ok(response) => {
                read(&response)?;
                worked += 1;
            }
            Err(error) => return answer(format!("{worked} worked, then {error:?}")),
        }
    }
    achieved(format!("{worked} requests"))
}

/// A body without end.
fn upload(arguments: &Arguments) -> Answer {
    let request = request(arguments)?;
    let outgoing = request.body().map_err(|()| failed("no body"))?;
    let future = outgoing_handler::handle(request, None).map_err(failed)?;
    let stream = outgoing.write().map_err(|()| failed("no stream"))?;
    let chunk = [b'x'; 4096];
    let mut written = 0_u64;
    while written < arguments.count {
        if stream.blocking_write_and_flush(&chunk).is_err() {
            drop(stream);
            drop(outgoing);
            future.subscribe().block();
            return match future.get() {
                Some(Ok(Err(code))) => Err(failed(code)),
                _ => Err(failed(format!("cut after {written} bytes"))),
            };
        }
        written += chunk.len() as u64;
    }
    achieved(format!("{written} bytes sent"))
}

/// A request whose body is never finished, waited for without end.
fn unfinished(arguments: &Arguments) -> Answer {
    let request = request(arguments)?;
    let outgoing = request.body().map_err(|()| failed("no body"))?;
    let future = outgoing_handler::handle(request, None).map_err(failed)?;
    let stream = outgoing.write().map_err(|()| failed("no stream"))?;
    stream.blocking_write_and_flush(b"x").map_err(failed)?;
    future.subscribe().block();
    achieved("an answer to half a request")
}
