//! Which interfaces exist for an instance.
//!
//! The interfaces of this project that carry authority (`scan`, `process`) are there only if the
//! grant has something for them; without, a component that needs them does not link. Those of
//! WASI that standard libraries import unasked are always there, bound to what the grant holds:
//! without directories there is nothing to open, without hosts every request is refused.

use wasmtime::Engine;
use wasmtime::component::Linker;
use wasmtime_wasi::WasiView;
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::p2::bindings as wasi;
use wasmtime_wasi::random::WasiRandom;

use super::state::CallState;
use crate::capability::bindings;
use crate::capability::files::HasFiles;
use crate::capability::log::HasLog;
use crate::capability::process::HasProcess;
use crate::capability::sockets::{self, NoSockets};
use crate::capability::witness::HasWitness;
use crate::policy::Authority;

/// The sets of interfaces that an authority can call for; one linker each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interfaces {
    scan: bool,
    process: bool,
}

impl Interfaces {
    pub const COUNT: usize = 4;
    pub const EVERY: Interfaces = Interfaces { scan: true, process: true };

    pub fn of(authority: &Authority) -> Interfaces {
        Interfaces { scan: !authority.dirs.is_empty(), process: !authority.programs.is_empty() }
    }

    pub fn index(self) -> usize {
        usize::from(self.scan) | usize::from(self.process) << 1
    }
}

pub fn linker(engine: &Engine, interfaces: Interfaces) -> wasmtime::Result<Linker<CallState>> {
    let mut linker = Linker::new(engine);
    add_wasi(&mut linker)?;
    let l = &mut linker;
    bindings::fs::add_to_linker::<_, HasFiles>(l, CallState::files)?;
    bindings::preopens::add_to_linker::<_, HasFiles>(l, CallState::files)?;
    bindings::log::add_to_linker::<_, HasLog>(l, |state| &mut state.log)?;
    bindings::refusal::add_to_linker::<_, HasWitness>(l, |state| &mut state.witness)?;
    sockets::add_to_linker(l, |state| NoSockets(&state.witness))?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(l)?;
    if interfaces.scan {
        bindings::scan::add_to_linker::<_, HasFiles>(l, CallState::files)?;
    }
    if interfaces.process {
        bindings::process::add_to_linker::<_, HasProcess>(l, |state| &mut state.process)?;
    }
    Ok(linker)
}

/// Clocks, random numbers, an empty environment, no standard streams.
fn add_wasi(l: &mut Linker<CallState>) -> wasmtime::Result<()> {
    type State = CallState;
    wasi::io::error::add_to_linker::<State, HasTable>(l, |state| &mut state.table)?;
    wasi::io::poll::add_to_linker::<State, HasTable>(l, |state| &mut state.table)?;
    wasi::io::streams::add_to_linker::<State, HasTable>(l, |state| &mut state.table)?;
    wasi::clocks::wall_clock::add_to_linker::<State, WasiClocks>(l, State::clocks)?;
    wasi::clocks::monotonic_clock::add_to_linker::<State, WasiClocks>(l, State::clocks)?;
    wasi::random::random::add_to_linker::<State, WasiRandom>(l, |s| s.ctx().ctx.random())?;
    wasi::random::insecure::add_to_linker::<State, WasiRandom>(l, |s| s.ctx().ctx.random())?;
    wasi::random::insecure_seed::add_to_linker::<State, WasiRandom>(l, |s| s.ctx().ctx.random())?;
    wasi::cli::exit::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::environment::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::stdin::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::stdout::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::stderr::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::terminal_input::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::terminal_output::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::terminal_stdin::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::terminal_stdout::add_to_linker::<State, WasiCli>(l, State::cli)?;
    wasi::cli::terminal_stderr::add_to_linker::<State, WasiCli>(l, State::cli)?;
    Ok(())
}

struct HasTable;

impl wasmtime::component::HasData for HasTable {
    type Data<'a> = &'a mut wasmtime::component::ResourceTable;
}
