//! Turns what arrived into what is answered.

use std::fmt::Write;

use url::Url;
use xzatoma_tool::{Error, Output, Result};

use crate::arguments::{Format, Method, Wanted};
use crate::body::{self, Broken, Bytes};
use crate::content::{ContentType, Kind};
use crate::exchange::{Answer, Arrived, Chunks};
use crate::{html, json};

/// Text in one answer; what the host lets a call answer is a little more.
const MAX_TEXT_BYTES: usize = 960 * 1024;

/// Read of the body of a failure: enough for its message, even inside of a page.
const ERROR_BODY_BYTES: usize = 64 * 1024;

/// Shown of it.
const ERROR_TEXT_BYTES: usize = 2 * 1024;

/// Shown of the values of one header, for HEAD.
const HEADER_VALUE_BYTES: usize = 1024;

/// Reads the body and makes the answer; a status of 400 and above is a failure.
pub fn render<B: Chunks>(wanted: &Wanted, mut arrived: Arrived<B>) -> Result {
    let head = Head::new(&arrived);
    let encoding = arrived.answer.header("content-encoding");
    if head.status >= 400 {
        return Err(failure(&head, &mut arrived.answer, encoding.as_deref()));
    }
    if wanted.method == Method::Head {
        return Ok(head.facts(Output::text(headers(&head, &arrived.answer)), &Bytes::default()));
    }
    let body = read(&head, &mut arrived.answer.body, wanted.max_bytes)?;
    let body = body::decompress(body, encoding.as_deref(), wanted.max_bytes)?;
    let limit = wanted.max_bytes.min(MAX_TEXT_BYTES);
    let mut shown = show(&head, &body.bytes, wanted.format, limit)?;
    let text_cut = truncate(&mut shown.text, limit);
    let mut text = shown.text;
    if let Some(notice) = notice(&body, text_cut, limit, shown.notice) {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&notice);
    }
    let facts = head.facts(Output::text(text), &body).with("truncated", body.cut || text_cut);
    Ok(match shown.title {
        Some(title) => facts.with("title", title),
        None => facts,
    })
}

/// Where the answer came from and what it claims to be.
struct Head {
    url: Url,
    status: u16,
    redirects: usize,
    content_type: ContentType,
}

impl Head {
    fn new<B>(arrived: &Arrived<B>) -> Head {
        let content_type = arrived.answer.header("content-type").unwrap_or_default();
        Head {
            url: arrived.url.clone(),
            status: arrived.answer.status,
            redirects: arrived.redirects,
            content_type: ContentType::parse(&content_type),
        }
    }

    fn facts(&self, output: Output, body: &Bytes) -> Output {
        output
            .with("status", self.status)
            .with("final_url", &self.url)
            .with("content_type", &self.content_type.essence)
            .with("bytes", body.bytes.len())
            .with("truncated", body.cut)
            .with("redirects", self.redirects)
    }
}

fn read(head: &Head, body: &mut impl Chunks, limit: usize) -> Result<Bytes> {
    body::read(body, limit).map_err(|Broken { error, bytes }| {
        let begin = bytes.len().min(ERROR_TEXT_BYTES);
        let begin = match head.content_type.kind(&bytes) {
            Kind::Binary => String::new(),
            kind => format!("; it begins:\n{}", head.content_type.decode(&bytes[..begin], kind)),
        };
        let url = &head.url;
        error.map_message(|message| {
            format!("reading {url}: {message}; {} bytes had arrived{begin}", bytes.len())
        })
    })
}

/// A body in the form that was asked for.
#[derive(Default)]
struct Shown {
    text: String,
    title: Option<String>,
    notice: Option<String>,
}

/// More than `limit` bytes of text will not be used.
fn show(head: &Head, body: &[u8], format: Format, limit: usize) -> Result<Shown> {
    if body.is_empty() {
        let notice = Some(format!("[empty body, status {}]", head.status));
        return Ok(Shown { notice, ..Shown::default() });
    }
    let kind = head.content_type.kind(body);
    if kind == Kind::Binary {
        let essence = match head.content_type.essence.as_str() {
            "" => "of unknown type",
            essence => essence,
        };
        let notice = format!("[binary content, {essence}, {} bytes read; not shown]", body.len());
        return Ok(Shown { notice: Some(notice), ..Shown::default() });
    }
    let text = head.content_type.decode(body, kind);
    let page = match (kind, format) {
        (Kind::Html, Format::Markdown) => html::to_markdown(&text, &head.url)?,
        (Kind::Html, Format::Text) => html::to_text(&text, &head.url)?,
        (Kind::Json, Format::Markdown | Format::Text) => {
            let text = json::indent(&text, limit).unwrap_or(text);
            return Ok(Shown { text, ..Shown::default() });
        }
        _ => return Ok(Shown { text, ..Shown::default() }),
    };
    let text = match &page.title {
        Some(title) => format!("Title: {title}\n\n{}", page.text),
        None => page.text,
    };
    let notice = page.notice.map(|notice| format!("[{notice}]"));
    Ok(Shown { text, title: page.title, notice })
}

/// What the reader should know, on top of the text.
fn notice(body: &Bytes, text_cut: bool, limit: usize, other: Option<String>) -> Option<String> {
    let mut notice = other.unwrap_or_default();
    let mut add = |sentence: String| {
        if !notice.is_empty() {
            notice.push(' ');
        }
        notice.push_str(&sentence);
    };
    if body.cut {
        add(format!(
            "[cut: only the first {} bytes of the body were read; raise max_bytes for more]",
            body.bytes.len()
        ));
    }
    if text_cut {
        add(format!("[cut: only the first {limit} bytes of the text are shown]"));
    }
    (!notice.is_empty()).then_some(notice)
}

fn truncate(text: &mut String, limit: usize) -> bool {
    if text.len() <= limit {
        return false;
    }
    text.truncate(text.floor_char_boundary(limit));
    true
}

/// The answer to HEAD: status and headers.
fn headers<B>(head: &Head, answer: &Answer<B>) -> String {
    let mut text = format!("HTTP status {} for {}\n", head.status, head.url);
    for (name, value) in &answer.headers {
        let mut value = String::from_utf8_lossy(value).into_owned();
        truncate(&mut value, HEADER_VALUE_BYTES);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}: {value}");
    }
    truncate(&mut text, MAX_TEXT_BYTES);
    text
}

/// A status of 400 and above, with the beginning of what the server says about it.
fn failure<B: Chunks>(head: &Head, answer: &mut Answer<B>, encoding: Option<&str>) -> Error {
    let advice = match head.status {
        401 | 403 => "the server refuses; it may want an Authorization header",
        404 | 410 => "there is nothing at this address; check the URL",
        405 => "the server does not allow this method here",
        429 => "too many requests; wait before the next one",
        500..=599 => "the server has a problem; try again later",
        _ => "change the request",
    };
    let mut message = format!("HTTP status {} for {}: {advice}", head.status, head.url);
    if let Some(wait) = answer.header("retry-after") {
        let wait: String = wait.chars().take(40).collect();
        let _ = write!(message, "; Retry-After: {wait}");
    }
    let begin = body::read(&mut answer.body, ERROR_BODY_BYTES)
        .or_else(|Broken { bytes, .. }| Ok::<_, Error>(Bytes { bytes, cut: true }))
        .and_then(|body| body::decompress(body, encoding, ERROR_BODY_BYTES))
        .and_then(|body| show(head, &body.bytes, Format::Text, ERROR_TEXT_BYTES));
    // The status is the failure; a body that cannot be shown as well adds nothing.
    if let Ok(mut shown) = begin
        && !shown.text.is_empty()
    {
        let cut = truncate(&mut shown.text, ERROR_TEXT_BYTES);
        let _ = write!(message, "\n{}{}", shown.text, if cut { " [cut]" } else { "" });
    }
    Error::failed(message)
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
