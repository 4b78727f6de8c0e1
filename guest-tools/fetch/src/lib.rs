//! The tool `fetch`: reads a page from the web.
//!
//! The host sends each request, after it has checked the host and every address that its name has
//! ([`xzatoma_tool::http`]). Redirects are followed here, one request each, so that every hop is
//! checked anew; what comes back is bounded while it arrives and turned into text that reads well.

mod address;
mod arguments;
mod body;
mod content;
mod exchange;
mod html;
mod json;
mod render;

use xzatoma_tool::http;
use xzatoma_tool::{Result, tool};

use crate::arguments::{Arguments, Wanted};
use crate::exchange::Answer;

fn call(arguments: Arguments) -> Result {
    let wanted = Wanted::try_from(arguments)?;
    let arrived = exchange::exchange(&wanted, |request| {
        let http::Response { status, headers, body } = http::send(request)?;
        Ok(Answer { status, headers, body })
    })?;
    render::render(&wanted, arrived)
}

tool! {
    name: "fetch",
    description: "Fetches a web page by http or https and answers it as Markdown, text or raw. \
        HTML becomes Markdown, JSON is indented. Only hosts that are granted can be reached.",
    // A POST can change something on a server, and the definition covers every call.
    mutates: true,
    capabilities: [Http],
    call: call,
}
