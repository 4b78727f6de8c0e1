//! Writes a tool for xzatoma: a struct for the arguments, a function, and one macro.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use xzatoma_tool::{Context, Error, Output, Result, paths, tool};
//!
//! #[derive(Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Arguments {
//!     /// The file whose lines are counted; relative paths start at /workspace.
//!     path: String,
//!     /// Whether empty lines count too; default true.
//!     #[serde(default)]
//!     empty_lines: Option<bool>,
//! }
//!
//! fn call(arguments: Arguments) -> Result {
//!     let path = paths::resolve(&arguments.path)?;
//!     let text = std::fs::read_to_string(&path).context(|| format!("reading {}", arguments.path))?;
//!     let keep_empty = arguments.empty_lines.unwrap_or(true);
//!     let lines = text.lines().filter(|line| keep_empty || !line.is_empty()).count();
//!     if lines == 0 {
//!         return Err(Error::failed(format!("{} has no lines; name another file", arguments.path)));
//!     }
//!     Ok(Output::text(format!("{lines} lines")).with("lines", lines))
//! }
//!
//! tool! {
//!     name: "line_count",
//!     description: "Counts the lines of a file.",
//!     mutates: false,
//!     capabilities: [FilesRead],
//!     call: call,
//! }
//! # fn main() {}
//! ```
//!
//! Doc comments of the struct's fields become the descriptions in the JSON Schema that the model
//! reads. Arguments that do not fit never reach the function: they are answered with
//! [`Error::InvalidInput`], naming the field. Everything else that goes wrong is one of the seven
//! cases of [`Error`]; `?` turns an [`std::io::Error`] into the right one, and [`Context`] says
//! what was being done. A panic ends the instance, and the host reports `crashed`.
//!
//! A tool is a `cdylib` built for `wasm32-wasip2`. Its component imports only the interfaces
//! whose functions it calls: [`scan`], [`process`], [`http`] and [`log`] cost nothing when unused,
//! and what a component does not import it cannot be granted by mistake.
//!
//! Off WebAssembly the crate compiles too, so that a tool's logic can be tested natively. The
//! host's interfaces are not there: [`log`] drops its lines, [`paths`] takes every path as granted,
//! and calls of [`scan`], [`process`] and [`http`] panic.

pub mod bindings;
mod error;
pub mod http;
pub mod log;
mod output;
pub mod paths;
pub mod process;
pub mod scan;
#[doc(hidden)]
pub mod support;

pub use bindings::xzatoma::tool::types::Capability;
pub use error::{Context, Error, Result, io_kind};
pub use output::Output;

/// Makes a crate a tool: implements and exports `describe` and `call`.
///
/// `capabilities` lists variants of [`Capability`]; the tool gets at most these. `call` is a
/// function from the arguments to [`Result`]. Use it once, at the root of a `cdylib`.
#[macro_export]
macro_rules! tool {
    (
        name: $name:expr,
        description: $description:expr,
        mutates: $mutates:expr,
        capabilities: [$($capability:ident),* $(,)?],
        call: $call:expr $(,)?
    ) => {
        #[doc(hidden)]
        pub struct XzatomaTool;

        impl $crate::bindings::exports::xzatoma::tool::tool::Guest for XzatomaTool {
            fn describe() -> $crate::bindings::xzatoma::tool::types::Definition {
                $crate::bindings::xzatoma::tool::types::Definition {
                    name: ::std::string::String::from($name),
                    description: ::std::string::String::from($description),
                    parameters: $crate::support::parameters($call),
                    mutates: $mutates,
                    capabilities: ::std::vec![$($crate::Capability::$capability),*],
                }
            }

            fn call(
                arguments: ::std::string::String,
            ) -> ::std::result::Result<
                $crate::bindings::xzatoma::tool::types::Output,
                $crate::bindings::xzatoma::tool::types::ToolError,
            > {
                $crate::support::call(&arguments, $call)
            }
        }

        // The names of exports hold characters that native linkers give a meaning of their own.
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::export!(XzatomaTool with_types_in $crate::bindings);
    };
}
