//! The one place where what happened to a guest becomes a tool error.

use wasmtime::Trap;
use wasmtime_wasi::I32Exit;

use super::limiter::Limiter;
use crate::tool::ToolError;

/// Raised inside a guest whose deadline has passed.
#[derive(Debug)]
pub struct DeadlinePassed;

impl std::fmt::Display for DeadlinePassed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the deadline of the call passed")
    }
}

impl std::error::Error for DeadlinePassed {}

pub fn timed_out(deadline: std::time::Duration) -> ToolError {
    ToolError::timed_out(format!(
        "the call did not end within {} s; ask for less at a time, or give it longer with --timeout",
        deadline.as_secs_f64()
    ))
}

/// A guest ended without an answer: by a trap, by a limit, or because it could not start.
pub fn ended(
    error: &wasmtime::Error,
    limiter: &Limiter,
    deadline: std::time::Duration,
) -> ToolError {
    if error.is::<DeadlinePassed>() || error.downcast_ref::<Trap>() == Some(&Trap::Interrupt) {
        return timed_out(deadline);
    }
    match limiter.hit() {
        Some("memory") => {
            return ToolError::limit_exceeded(format!(
                "the tool needed more than its {} MiB of memory; ask for less at a time",
                limiter.max_memory() >> 20
            ));
        }
        Some(what) => {
            return ToolError::limit_exceeded(format!("the tool went over its {what} limit"));
        }
        None => {}
    }
    if let Some(wasmtime::component::ResourceTableError::Full) = error.downcast_ref() {
        return ToolError::limit_exceeded(
            "the tool holds too many files, streams or requests at once",
        );
    }
    if let Some(I32Exit(code)) = error.downcast_ref() {
        return ToolError::crashed(format!(
            "the tool left by itself with code {code} instead of answering"
        ));
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => {
            ToolError::crashed("the tool ran out of stack; a simpler input may work")
        }
        Some(trap) => {
            ToolError::crashed(format!("the tool trapped ({trap}); it may work on other input"))
        }
        None => from_text(&format!("{error:#}")),
    }
}

/// Some limits of the engine have no type of their own, only a text.
fn from_text(text: &str) -> ToolError {
    const LIMITS: &[&str] = &[
        "fuel allocated for hostcalls has been exhausted",
        "store handle limit exceeded",
        "maximum concurrent",
        "resource limit exceeded",
        "exceeds limit",
        "exceeds the limit",
        "exceeds allowed maximum",
    ];
    match LIMITS.iter().any(|limit| text.contains(limit)) {
        true => ToolError::limit_exceeded(format!("the tool went over a limit: {text}")),
        false => ToolError::crashed(format!("the tool broke its contract: {text}")),
    }
}
