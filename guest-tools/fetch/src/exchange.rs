//! One request after the other until there is an answer that is no redirect.
//!
//! Every hop is a request of its own, which the host checks again. What the caller meant for one
//! server is not carried to another: on the way to another origin only harmless headers are kept,
//! and a body is never sent there.

use std::time::Duration;

use url::Url;
use xzatoma_tool::http::{self, Request, Scheme};
use xzatoma_tool::{Error, Result};

use crate::address;
use crate::arguments::{Format, Method, Wanted};

/// As many as common clients follow.
pub const MAX_REDIRECTS: usize = 10;

/// What may go to a server that the caller did not name.
const HARMLESS_HEADERS: [&str; 3] = ["accept", "accept-language", "user-agent"];

const USER_AGENT: &str = concat!("xzatoma-fetch/", env!("CARGO_PKG_VERSION"));

/// Reads a body piece by piece; none at the end.
pub trait Chunks {
    fn chunk(&mut self) -> Result<Option<Vec<u8>>>;
}

impl Chunks for http::Body {
    fn chunk(&mut self) -> Result<Option<Vec<u8>>> {
        http::Body::chunk(self)
    }
}

/// Status, headers, and the body to be read.
#[derive(Debug)]
pub struct Answer<B> {
    pub status: u16,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: B,
}

impl<B> Answer<B> {
    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<String> {
        let (_, value) = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(String::from_utf8_lossy(value).into_owned())
    }
}

/// What came in the end, and from where.
#[derive(Debug)]
pub struct Arrived<B> {
    pub url: Url,
    pub redirects: usize,
    pub answer: Answer<B>,
}

/// Sends requests until an answer is no redirect. `send` is one request.
pub fn exchange<B>(
    wanted: &Wanted,
    mut send: impl FnMut(&Request) -> Result<Answer<B>>,
) -> Result<Arrived<B>> {
    let mut hop = Hop::first(wanted);
    let mut seen: Vec<(Url, Method)> = Vec::new();
    loop {
        let url = hop.url.clone();
        let answer = send(&hop.request())
            .map_err(|error| error.map_message(|message| format!("fetching {url}: {message}")))?;
        let Some(location) = redirect(&answer, &url)? else {
            return Ok(Arrived { url, redirects: seen.len(), answer });
        };
        seen.push((url.clone(), hop.method));
        if seen.len() > MAX_REDIRECTS {
            return Err(Error::failed(format!(
                "more than {MAX_REDIRECTS} redirects, the last one from {url} to {location}; fetch \
                 another address"
            )));
        }
        hop = hop.next(answer.status, &location)?;
        if seen.iter().any(|(url, method)| (url, *method) == (&hop.url, hop.method)) {
            return Err(Error::failed(format!(
                "the redirects go in a circle, through {}; the server may want a cookie or a login",
                hop.url
            )));
        }
    }
}

/// Where an answer redirects to, if it does.
fn redirect<B>(answer: &Answer<B>, url: &Url) -> Result<Option<String>> {
    if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let location = answer.header("location").ok_or_else(|| {
        Error::failed(format!("{url} answered {} without saying where to", answer.status))
    })?;
    Ok(Some(location))
}

/// One request of the way.
#[derive(Debug, Clone)]
struct Hop {
    url: Url,
    method: Method,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Hop {
    fn first(wanted: &Wanted) -> Hop {
        let mut headers = wanted.headers.clone();
        let mut default = |name: &str, value: &str| {
            if !headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                headers.push((name.to_owned(), value.to_owned()));
            }
        };
        default("user-agent", USER_AGENT);
        default(
            "accept",
            match wanted.format {
                Format::Raw => "*/*",
                _ => {
                    "text/html, text/markdown;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5"
                }
            },
        );
        if wanted.method == Method::Post {
            default("content-type", guess_content_type(&wanted.body));
        }
        Hop { url: wanted.url.clone(), method: wanted.method, headers, body: wanted.body.clone() }
    }

    fn next(self, status: u16, location: &str) -> Result<Hop> {
        let url = address::follow(&self.url, location)?;
        let mut hop = Hop { url, ..self.clone() };
        let becomes_get = matches!(status, 301..=303) && self.method == Method::Post;
        if becomes_get {
            hop.method = Method::Get;
            hop.body.clear();
            hop.headers.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("content-"));
        }
        if hop.url.origin() != self.url.origin() {
            if hop.method == Method::Post {
                return Err(Error::denied(format!(
                    "{} redirects the POST to another server, {}; its body is not sent there: \
                     call fetch with that address if that is meant",
                    self.url, hop.url
                )));
            }
            let harmless =
                |name: &str| HARMLESS_HEADERS.iter().any(|known| known.eq_ignore_ascii_case(name));
            hop.headers.retain(|(name, _)| harmless(name));
        }
        Ok(hop)
    }

    fn request(&self) -> Request {
        let mut headers: Vec<(String, Vec<u8>)> = Vec::with_capacity(self.headers.len() + 1);
        headers
            .extend(self.headers.iter().map(|(name, value)| (name.clone(), value.clone().into())));
        // Decoding costs more here than it saves on the way.
        headers.push(("accept-encoding".to_owned(), b"identity".to_vec()));
        Request {
            method: match self.method {
                Method::Get => http::Method::Get,
                Method::Head => http::Method::Head,
                Method::Post => http::Method::Post,
            },
            scheme: if self.url.scheme() == "https" { Scheme::Https } else { Scheme::Http },
            authority: address::authority(&self.url),
            path_with_query: address::path_with_query(&self.url),
            headers,
            body: self.body.clone(),
            // The call's deadline is the host's.
            timeout: None::<Duration>,
        }
    }
}

fn guess_content_type(body: &[u8]) -> &'static str {
    let is_json = matches!(body.first(), Some(b'{' | b'['))
        && serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok();
    if is_json { "application/json" } else { "text/plain; charset=utf-8" }
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
