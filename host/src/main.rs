//! Parses, runs, and ends with an exit code. Everything else is in the library.

use std::process::ExitCode;

/// The built-in tools, made by `cargo xtask guests`.
mod built_in {
    include!(concat!(env!("XZATOMA_TOOLS_DIR"), "/embedded.rs"));
}

fn main() -> ExitCode {
    // First of all, while there is one thread only: this program is also its own helpers.
    xzatoma::capability::process::become_helper_if_asked();
    if std::env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == xzatoma::sandbox::COMPILE_ARGUMENT)
    {
        return xzatoma::cli::compile();
    }
    xzatoma::cli::main(built_in::TOOLS)
}
