//! Tests of the host from outside, through the same `ToolHost::call` that an agent uses.

mod harness;
mod hostile;

/// The built-in tools, made by `cargo xtask guests`.
mod built_in {
    include!(concat!(env!("XZATOMA_TOOLS_DIR"), "/embedded.rs"));
}
