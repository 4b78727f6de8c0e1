//! What `cargo xtask help` says.

pub const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  demo                          build everything, then show the main job offline
  test [--ci] [-- ARGS]         build everything, then run all tests
  bench [-- ARGS]               build with optimisations, then measure
  guests [--release] [--tests]  build only the tools that are embedded in the program
  help                          show this, and examples";

pub const DETAILS: &str = "\
The tools are WebAssembly components. They need the Rust target wasm32-wasip2, which is added by
rustup when it is missing. They go to TARGET/tools, where TARGET is Cargo's target directory.

Options:
  test --ci         also: format, clippy with warnings denied, links in the documents, and
                    licences and advisories where cargo-deny is installed
  test -- ARGS      for the test programs: a part of a test's name, or --nocapture, for example
  bench -- ARGS     for the benchmark program
  guests --release  precompile with the release build of the engine instead of the dev build
  guests --tests    also build the components that the tests use

Examples:
  cargo xtask demo
  cargo xtask test
  cargo xtask test -- policy::
  cargo xtask guests && cargo build -p xzatoma

The first build compiles the WebAssembly engine, which takes some minutes.
Exit codes: 0 done, 1 failed, 2 usage, 130 interrupted.";
