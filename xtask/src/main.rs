//! `cargo xtask`: builds, shows and checks the project.
//!
//! A bare `cargo build` cannot build the program, because the tools that are embedded in it are
//! WebAssembly components for another target, precompiled by the engine of the host itself. This
//! program puts the steps in order. It depends on nothing but the standard library, so that the
//! first thing a newcomer sees is not a long build.

// A program for people at a terminal: it prints.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod checks;
mod command;
mod demo;
mod failure;
mod files;
mod guests;
mod help;
mod interrupt;
mod json;
mod links;
mod options;
mod step;
mod test;
mod toolchain;
mod workspace;

use std::process::ExitCode;

use failure::Failure;
use options::Task;
use workspace::Workspace;

fn main() -> ExitCode {
    let outcome = options::parse(std::env::args().skip(1)).and_then(perform);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\n{failure}");
            if matches!(failure, Failure::Usage(_)) {
                eprintln!("\n{}", help::USAGE);
            }
            failure.exit_code()
        }
    }
}

fn perform(task: Task) -> Result<(), Failure> {
    if let Task::Help = task {
        println!("{}\n\n{}", help::USAGE, help::DETAILS);
        return Ok(());
    }
    interrupt::listen();
    let workspace = Workspace::find()?;
    match task {
        Task::Help => Ok(()),
        Task::Guests(options) => guests::run(&workspace, options),
        Task::Demo => demo::run(&workspace),
        Task::Test(options) => test::run(&workspace, &options),
        Task::Bench(options) => bench::run(&workspace, &options),
    }
}
