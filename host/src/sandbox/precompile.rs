//! Compiling at build time.

use std::path::Path;

use wasmtime::component::Component;

use super::Sandbox;
use super::component::Prepared;
use crate::capability::files::Roots;
use crate::capability::process::{HelperExe, ProcessShared};

/// Compiles `source` to `compiled`, and writes its definition beside the source as JSON.
pub fn precompile(source: &Path, compiled: &Path) -> Result<(), String> {
    let bytes = std::fs::read(source).map_err(|error| error.to_string())?;
    let engine = super::compiling().map_err(|error| format!("{error:#}"))?;
    let code = engine.precompile_component(&bytes).map_err(|error| format!("{error:#}"))?;

    let roots = Roots::open([], &[]).map_err(|error| error.to_string())?;
    let process = ProcessShared::new(HelperExe::own(), Vec::new());
    let sandbox = Sandbox::new(roots, process).map_err(|error| format!("{error:#}"))?;
    // SAFETY: compiled by this function a moment ago.
    let component = unsafe { Component::deserialize(&sandbox.machine.engine, &code) }
        .map_err(|error| format!("the running engine refuses the code: {error:#}"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let prepared = std::sync::Arc::new(Prepared::new(component));
    let definition =
        runtime.block_on(sandbox.describe(&prepared)).map_err(|error| error.to_string())?;
    let definition =
        serde_json::to_string_pretty(&*definition).map_err(|error| error.to_string())?;

    let write = |path: &Path, bytes: &[u8]| {
        std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
    };
    write(&source.with_extension("json"), definition.as_bytes())?;
    write(compiled, &code)
}
