//! Sends one request of a guest: authorised, dialled at the checked address, bounded, recorded.
//!
//! Each request has an HTTP client of its own, so that no connection, and nothing that a server
//! could recognise an agent by, passes from one grant to another. What is costly, the TLS
//! configuration with its root certificates, is made once and shared. Redirects are not followed:
//! the guest sees them and asks again, and that request is authorised like any other.

mod body;
mod explain;
#[cfg(test)]
mod tests;
mod tls;

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName};
use http::{Method, Request, Response, Uri};
use reqwest::dns::{Addrs, Name, Resolving};
use url::Url;

use super::dial::{CONNECT_TIMEOUT, Dialler, Entry, Target, dialled};
use crate::policy::HostName;
use crate::tool::ToolError;

pub use body::ResponseBody;
use body::UploadBody;
use explain::explain;
use tls::Tls;

/// What a response's header block may hold, names and values. HTTP/2 refuses more by itself; for
/// HTTP/1 hyper's own bounds (100 fields, 400 KiB) come first. A guest copies it all.
const MAX_HEADER_BYTES: u32 = 64 * 1024;

/// Fields that belong to one connection or that we set. A guest's would confuse the peer about
/// whom it speaks to or where a message ends; its `content-length` is looked at separately.
pub(super) const HOP_FIELDS: [HeaderName; 9] = [
    header::HOST,
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        })
    }
}

/// How much and how long. The call's own deadline stands above: when the caller drops the future
/// or the body, the connection is closed.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Of the request's body and of the response's, each.
    pub body_bytes: u64,
    /// For the connection with TLS; never more than [`CONNECT_TIMEOUT`].
    pub connect: Duration,
    /// From the start, look-up and approval not counted, to the response's header.
    pub first_byte: Duration,
}

impl Bounds {
    pub fn new(body_bytes: u64) -> Self {
        Bounds { body_bytes, connect: CONNECT_TIMEOUT, first_byte: Duration::from_secs(600) }
    }
}

/// Sends requests. Cheap to clone; one for the process is enough.
#[derive(Clone, Default)]
pub struct Client {
    tls: Tls,
}

impl Client {
    /// Sends `request` to the authority in its URI. Its scheme comes apart, since wasi:http and
    /// the proxy keep it apart too.
    pub async fn send<B>(
        &self,
        request: Request<B>,
        scheme: Scheme,
        dialler: &Dialler,
        bounds: Bounds,
    ) -> Result<Response<ResponseBody>, ToolError>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (mut parts, body) = request.into_parts();
        let url = absolute_url(scheme, &parts.uri)?;
        let mut entry = Entry::new(dialler.ledger(), parts.method.as_str(), url.as_str());
        check_method(&parts.method)?;
        clean_fields(&mut parts.headers)?;

        // Host and port from the very value that reqwest connects by, so that no second parser
        // can see another host in the same text.
        let (host, port) = host_and_port(&url)?;
        let act = format!("{} {url}", parts.method);
        let target = Target { host: &host, port, method: Some(parts.method.as_str()), act: &act };
        let addresses: Vec<SocketAddr> = dialled(&dialler.authorise(target).await?).collect();
        entry.usage.address = addresses.first().map(ToString::to_string);

        let client = self.for_one_request(scheme, &url, addresses, bounds).await?;
        let mut outgoing = reqwest::Request::new(parts.method, url);
        *outgoing.headers_mut() = parts.headers;
        *outgoing.body_mut() = Some(UploadBody::wrap(body, bounds.body_bytes));

        let response = match tokio::time::timeout(bounds.first_byte, client.execute(outgoing)).await
        {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(explain(&error)),
            Err(_) => {
                return Err(ToolError::timed_out(format!(
                    "no response within {} s; try again later",
                    bounds.first_byte.as_secs()
                )));
            }
        };
        entry.usage.status = Some(response.status().as_u16());
        if let Some(address) = response.remote_addr() {
            entry.usage.address = Some(address.to_string());
        }
        check_header_size(response.headers())?;
        let (mut parts, body) = Response::<reqwest::Body>::from(response).into_parts();
        // Ours, such as the connection's details: not for a guest.
        parts.extensions.clear();
        Ok(Response::from_parts(parts, ResponseBody::new(body, bounds.body_bytes, entry)))
    }

    /// A client that can reach nothing but `addresses`, and the URL's own address if it is one.
    async fn for_one_request(
        &self,
        scheme: Scheme,
        url: &Url,
        addresses: Vec<SocketAddr>,
        bounds: Bounds,
    ) -> Result<reqwest::Client, ToolError> {
        let tls = self.tls.config(scheme).await?;
        let name = url.host_str().unwrap_or_default().to_owned();
        reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .dns_resolver(Checked { name, addresses })
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(0)
            .connect_timeout(bounds.connect.min(CONNECT_TIMEOUT))
            .http2_max_header_list_size(MAX_HEADER_BYTES)
            // Off already as long as nobody turns those features on for another part.
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .build()
            .map_err(|error| {
                ToolError::failed(format!(
                    "no HTTP client could be made: {}",
                    explain(&error).message
                ))
            })
    }
}

/// Answers the addresses that were checked, and that name only. Not asked for IP literals.
struct Checked {
    name: String,
    addresses: Vec<SocketAddr>,
}

impl reqwest::dns::Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let answer = if name.as_str() == self.name {
            let addresses: Addrs = Box::new(self.addresses.clone().into_iter());
            Ok(addresses)
        } else {
            Err(format!("{} was not authorised", name.as_str()).into())
        };
        Box::pin(std::future::ready(answer))
    }
}

fn absolute_url(scheme: Scheme, uri: &Uri) -> Result<Url, ToolError> {
    let authority = uri.authority().ok_or_else(|| {
        ToolError::invalid_input("the request names no host; give an absolute URL")
    })?;
    if authority.as_str().contains('@') {
        return Err(ToolError::invalid_input(
            "credentials in a URL are not supported; send an Authorization header",
        ));
    }
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    Url::parse(&format!("{scheme}://{authority}{path}"))
        .map_err(|error| ToolError::invalid_input(format!("not a valid URL: {error}")))
}

fn host_and_port(url: &Url) -> Result<(HostName, u16), ToolError> {
    let invalid = || ToolError::invalid_input(format!("not a valid host in {url}"));
    let port = url.port_or_known_default().ok_or_else(invalid)?;
    let host = match url.host().ok_or_else(invalid)? {
        url::Host::Ipv4(address) => HostName::Address(address.into()),
        url::Host::Ipv6(address) => HostName::Address(address.into()),
        url::Host::Domain(name) => HostName::parse(name)
            .map_err(|error| ToolError::invalid_input(format!("not a valid host name: {error}")))?,
    };
    Ok((host, port))
}

fn check_method(method: &Method) -> Result<(), ToolError> {
    match *method {
        // A tunnel would carry what nobody looks at; the other echoes what was sent.
        Method::CONNECT | Method::TRACE => {
            Err(ToolError::invalid_input(format!("the method {method} is not supported")))
        }
        _ => Ok(()),
    }
}

fn clean_fields(headers: &mut HeaderMap) -> Result<(), ToolError> {
    for name in &HOP_FIELDS {
        headers.remove(name);
    }
    let mut lengths = headers.get_all(header::CONTENT_LENGTH).iter();
    let (length, more) = (lengths.next(), lengths.next());
    let is_number = |bytes: &[u8]| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
    if more.is_some() || length.is_some_and(|length| !is_number(length.as_bytes())) {
        return Err(ToolError::invalid_input("content-length must be one number"));
    }
    Ok(())
}

fn check_header_size(headers: &HeaderMap) -> Result<(), ToolError> {
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if bytes > MAX_HEADER_BYTES as usize {
        return Err(ToolError::limit_exceeded(format!(
            "the response's header has {bytes} bytes, the limit is {MAX_HEADER_BYTES}"
        )));
    }
    Ok(())
}
