//! Starts one program, without a shell, in the operating system's sandbox.

use crate::Result;
pub use crate::bindings::xzatoma::tool::process::{Command, Finished};

/// Runs it to its end. A program that ran and failed is [`Finished`] too; an error means that it
/// did not run or was stopped.
pub fn run(command: &Command) -> Result<Finished> {
    Ok(crate::bindings::xzatoma::tool::process::run(command)?)
}
