//! A tool ready to be instantiated: compiled code, its definition, its links.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use wasmtime::component::Component;

use super::link::Interfaces;
use super::machine::Machine;
use super::state::CallState;
use crate::capability::bindings::{RunnerPre, guest};
use crate::tool::{ToolDefinition, ToolError};

/// A definition goes into every request to the model.
const MAX_DESCRIPTION: usize = 8 << 10;
const MAX_SCHEMA: usize = 64 << 10;
const MAX_NAME: usize = 64;

/// Compiled code, linked once per set of interfaces.
pub struct Prepared {
    component: Component,
    linked: [OnceLock<Result<RunnerPre<CallState>, ToolError>>; Interfaces::COUNT],
    /// Whether the last call was over at once; so the next one probably is.
    quick: AtomicBool,
}

/// Well below a tick, well above a call that only computes a little.
const QUICK: Duration = Duration::from_millis(1);

impl Prepared {
    pub fn new(component: Component) -> Prepared {
        let linked = [const { OnceLock::new() }; Interfaces::COUNT];
        Prepared { component, linked, quick: AtomicBool::new(false) }
    }

    pub fn is_quick(&self) -> bool {
        self.quick.load(Ordering::Relaxed)
    }

    pub fn took(&self, time: Duration) {
        self.quick.store(time < QUICK, Ordering::Relaxed);
    }

    /// The component bound to exactly these interfaces. One that needs more is refused, with what
    /// it needs.
    pub fn link(
        &self,
        machine: &Machine,
        interfaces: Interfaces,
    ) -> Result<&RunnerPre<CallState>, ToolError> {
        self.linked[interfaces.index()]
            .get_or_init(|| {
                machine
                    .linker(interfaces)
                    .and_then(|linker| linker.instantiate_pre(&self.component))
                    .and_then(RunnerPre::new)
                    .map_err(|error| link_failure(&format!("{error:#}")))
            })
            .as_ref()
            .map_err(Clone::clone)
    }
}

fn link_failure(text: &str) -> ToolError {
    const NEEDS: &[(&str, &str)] = &[
        ("xzatoma:tool/process", "the grant has no programs; --allow-command NAME allows one"),
        ("xzatoma:tool/scan", "the grant has no directories; --workspace DIR grants one"),
    ];
    match NEEDS.iter().find(|(interface, _)| text.contains(interface)) {
        Some((interface, advice)) => ToolError::denied(format!(
            "this tool needs {interface}, which is not granted: {advice}"
        )),
        None => ToolError::crashed(format!(
            "the component does not fit the contract xzatoma:tool@0.1.0: {text}"
        )),
    }
}

/// Checks what a component says of itself.
pub fn definition(said: guest::Definition) -> Result<Arc<ToolDefinition>, ToolError> {
    let broken =
        |what: String| ToolError::crashed(format!("the component's definition is wrong: {what}"));
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if said.name.is_empty() || said.name.len() > MAX_NAME || !said.name.chars().all(fits) {
        let shown: String = said.name.chars().take(MAX_NAME).collect();
        return Err(broken(format!(
            "the name {shown:?} must be 1 to {MAX_NAME} of a-z, 0-9 and _"
        )));
    }
    if said.description.trim().is_empty() || said.description.len() > MAX_DESCRIPTION {
        return Err(broken(format!("the description must have 1 to {MAX_DESCRIPTION} bytes")));
    }
    if said.parameters.len() > MAX_SCHEMA {
        return Err(broken(format!("the schema has more than {MAX_SCHEMA} bytes")));
    }
    let parameters: serde_json::Value = serde_json::from_str(&said.parameters)
        .map_err(|error| broken(format!("the schema is not JSON: {error}")))?;
    if parameters.get("type").and_then(|kind| kind.as_str()) != Some("object") {
        return Err(broken("the schema must be of type object".into()));
    }
    let mut capabilities: Vec<_> = said.capabilities.into_iter().map(Into::into).collect();
    capabilities.sort();
    capabilities.dedup();
    Ok(Arc::new(ToolDefinition {
        name: said.name,
        description: said.description,
        parameters,
        mutates: said.mutates,
        capabilities,
    }))
}
