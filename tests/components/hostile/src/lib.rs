//! A tool that misbehaves. Which way is chosen by its arguments; what it tries it tries by raw
//! calls of the interfaces, without the library that honest tools use, and it tells truly what
//! came of it: an answer that begins with `achieved:`, or the error that it met.
//!
//! Each module has a family of acts. The suite's tables say with which grant each is tried and
//! what must come of it.

// The native build exists for `cargo test --workspace` alone; there nothing calls the acts.
#![cfg_attr(not(target_arch = "wasm32"), allow(dead_code))]

mod answer;
mod bindings;
mod files;
mod host;
mod network;
mod process;
mod scan;
mod time;

use serde::Deserialize;

use bindings::exports::xzatoma::tool::tool::{Definition, Guest, Output, ToolError};
use bindings::xzatoma::tool::types::Capability;

/// What to do, and with what. Every act uses the fields that it needs.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Arguments {
    case: String,
    path: String,
    /// A second path, or the target of a link.
    to: String,
    /// The granted directory to start from; none: the workspace.
    base: String,
    /// A directory that is opened first; `path` then starts there.
    below: String,
    /// How to open, or which kind of thing.
    how: Vec<String>,
    /// How many, how much, or how long in milliseconds.
    count: u64,
    method: String,
    scheme: String,
    authority: String,
    headers: Vec<(String, String)>,
    body: String,
    program: String,
    arguments: Vec<String>,
}

struct Hostile;

impl Guest for Hostile {
    fn describe() -> Definition {
        Definition {
            name: "hostile".to_owned(),
            description: "Misbehaves as its argument says.".to_owned(),
            parameters: r#"{"type":"object","required":["case"]}"#.to_owned(),
            mutates: true,
            capabilities: vec![
                Capability::FilesRead,
                Capability::FilesWrite,
                Capability::Http,
                Capability::Process,
            ],
        }
    }

    fn call(arguments: String) -> Result<Output, ToolError> {
        let arguments: Arguments = serde_json::from_str(&arguments)
            .map_err(|error| ToolError::InvalidInput(error.to_string()))?;
        let families =
            [answer::act, files::act, host::act, network::act, process::act, scan::act, time::act];
        families
            .into_iter()
            .find_map(|family| family(&arguments))
            .unwrap_or_else(|| Err(ToolError::InvalidInput(format!("no case {}", arguments.case))))
    }
}

#[cfg(target_arch = "wasm32")]
bindings::export!(Hostile with_types_in bindings);

type Answer = Result<Output, ToolError>;

fn answer(text: impl Into<String>) -> Answer {
    Ok(Output { text: text.into(), metadata: Vec::new() })
}

fn achieved(what: impl std::fmt::Display) -> Answer {
    answer(format!("achieved: {what}"))
}

/// An error code, with the host's reason where it left one.
fn failed(code: impl std::fmt::Debug) -> ToolError {
    match bindings::xzatoma::tool::refusal::take() {
        Some(reason) => reason,
        None => ToolError::Failed(format!("{code:?}")),
    }
}
