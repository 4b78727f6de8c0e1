//! The tool `terminal`: runs one program, without a shell, in the operating system's sandbox.
//!
//! All it does itself is read the arguments and tell the result; the host decides whether the
//! program may run and contains it ([`xzatoma_tool::process`]).

mod arguments;
mod report;
mod words;

use xzatoma_tool::process::{self, Command};
use xzatoma_tool::{Result, tool};

use crate::arguments::Arguments;

fn call(arguments: Arguments) -> Result {
    let command = Command::try_from(arguments)?;
    let finished = process::run(&command)?;
    report::report(&command.program, &finished)
}

tool! {
    name: "terminal",
    description: "Runs one program with arguments, without a shell, and answers its exit code and \
        output. Only programs that are allowed run, inside a sandbox.",
    // A program can change whatever its sandbox lets it reach.
    mutates: true,
    capabilities: [Process],
    call: call,
}
