//! Compiles the built-in tools at build time: `xzatoma-precompile IN.wasm OUT.cwasm ...`.
//!
//! Part of the host so that the engine, which takes minutes to build, is built once, and with the
//! very settings that will run the code. Beside each IN.wasm it writes IN.json: what the
//! component says about itself, so that nobody has to run it to find out.

use std::path::Path;
use std::process::ExitCode;

#[allow(clippy::print_stderr)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty() || !arguments.len().is_multiple_of(2) {
        eprintln!("usage: xzatoma-precompile IN.wasm OUT.cwasm [IN.wasm OUT.cwasm ...]");
        return ExitCode::from(2);
    }
    for pair in arguments.chunks(2) {
        if let Err(error) = xzatoma::sandbox::precompile(Path::new(&pair[0]), Path::new(&pair[1])) {
            eprintln!("xzatoma-precompile: {}: {error}", pair[0]);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
