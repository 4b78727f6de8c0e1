//! What a process has once, however many sandboxes it opens: the engine, what can be linked, and
//! the threads that guests run on.
//!
//! The pool of an engine reserves a good part of the address space, and its epoch must be advanced
//! by one ticker; so there is one engine. It lives as long as the process.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use wasmtime::Engine;
use wasmtime::component::Linker;

use super::engine;
use super::link::{self, Interfaces};
use super::runtime::GuestThreads;
use super::state::CallState;

static LIVE_CALLS: AtomicU32 = AtomicU32::new(engine::LIVE_CALLS);

/// Sets how many calls can be alive at once in this process. Has an effect only before the first
/// sandbox is opened. A program that makes one call starts faster with few.
pub fn reserve_live_calls(count: u32) {
    LIVE_CALLS.store(count.max(1), Ordering::Relaxed);
}

pub struct Machine {
    pub engine: Engine,
    /// By [`Interfaces::index`]; made at the first use, since a short command needs one of them.
    linkers: [OnceLock<Result<Linker<CallState>, String>>; Interfaces::COUNT],
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
        let engine = engine::running(LIVE_CALLS.load(Ordering::Relaxed))?;
        engine::start_ticker(&engine)?;
        let linkers = [const { OnceLock::new() }; Interfaces::COUNT];
        Ok(Machine { engine, linkers, threads: GuestThreads::start()? })
    }

    /// Everything that an instance with these interfaces can be linked to.
    pub fn linker(&self, interfaces: Interfaces) -> wasmtime::Result<&Linker<CallState>> {
        self.linkers[interfaces.index()]
            .get_or_init(|| {
                link::linker(&self.engine, interfaces).map_err(|error| format!("{error:#}"))
            })
            .as_ref()
            .map_err(|error| wasmtime::Error::msg(error.clone()))
    }
}
