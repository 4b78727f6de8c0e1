//! Tests of the host from outside, through the same `ToolHost::call` that an agent uses.

mod architecture;
mod cache;
mod command_line;
mod contract;
mod documents;
mod harness;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(target_os = "linux")]
mod process;
mod threats;
mod tools;

/// The built-in tools, made by `cargo xtask guests`.
mod built_in {
    include!(concat!(env!("XZATOMA_TOOLS_DIR"), "/embedded.rs"));
}
