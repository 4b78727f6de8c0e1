//! What a process has once, however many sandboxes it opens: the engine, what can be linked, and
//! the threads that guests run on.
//!
//! The pool of an engine reserves a good part of the address space, and its epoch must be advanced
//! by one ticker; so there is one engine. It lives as long as the process.

use std::sync::OnceLock;

use wasmtime::Engine;
use wasmtime::component::Linker;

use super::engine;
use super::link::{self, Interfaces};
use super::runtime::GuestThreads;
use super::state::CallState;

pub struct Machine {
    pub engine: Engine,
    /// By [`Interfaces::index`].
    pub linkers: Vec<Linker<CallState>>,
    pub threads: GuestThreads,
}

impl Machine {
    /// Started at the first use.
    pub fn of_this_process() -> wasmtime::Result<&'static Machine> {
        static MACHINE: OnceLock<Result<Machine, String>> = OnceLock::new();
        let machine =
            MACHINE.get_or_init(|| Machine::start().map_err(|error| format!("{error:#}")));
        machine.as_ref().map_err(wasmtime::Error::msg)
    }

    fn start() -> wasmtime::Result<Machine> {
        let engine = engine::running()?;
        let linkers = Interfaces::all()
            .map(|interfaces| link::linker(&engine, interfaces))
            .collect::<wasmtime::Result<_>>()?;
        engine::start_ticker(&engine)?;
        Ok(Machine { engine, linkers, threads: GuestThreads::start()? })
    }
}
