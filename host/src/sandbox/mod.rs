//! Runs tools: the engine, the components, and one fresh instance per call.
//!
//! ```text
//! ToolHost::call → what the grant links (link) → a store with just that authority (state),
//!   limits (limiter) and a deadline → instantiate, call, drop, on the guests' threads (runtime)
//!   → output or tool error (outcome)
//! ```

mod cache;
mod call;
mod component;
mod engine;
mod library;
mod limiter;
mod link;
mod machine;
mod outcome;
mod precompile;
mod runtime;
mod state;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use crate::capability::files::Roots;
use crate::capability::http::HttpShared;
use crate::capability::process::{self, ProcessShared};
use crate::tool::{CallReport, ToolCall, ToolDefinition, ToolHost};
use machine::Machine;
use state::Shared;

pub use cache::{COMPILE_ARGUMENT, Cache, Digest, compile_main};
pub use engine::compiling;
pub use library::{BuiltIn, LoadError, Tool};
pub use machine::reserve_live_calls;
pub use precompile::precompile;

/// What a session needs to run tools.
pub struct Sandbox {
    machine: &'static Machine,
    tools: BTreeMap<String, Arc<Tool>>,
    shared: Arc<Shared>,
}

impl Sandbox {
    /// A sandbox over these directories, without tools yet.
    pub fn new(roots: Roots, process: ProcessShared) -> wasmtime::Result<Sandbox> {
        Self::with(roots, HttpShared::default(), process)
    }

    pub fn with(
        roots: Roots,
        http: HttpShared,
        process: ProcessShared,
    ) -> wasmtime::Result<Sandbox> {
        let shared =
            Shared { roots: Arc::new(roots), http: Arc::new(http), process: Arc::new(process) };
        Ok(Sandbox {
            machine: Machine::of_this_process()?,
            tools: BTreeMap::new(),
            shared: Arc::new(shared),
        })
    }

    /// Threads held by calls that were given up.
    pub fn stuck_threads(&self) -> usize {
        self.machine.threads.stuck()
    }

    /// Whether processes can be confined here; else what is missing.
    pub async fn process_confinement(&self) -> Result<(), String> {
        let shared = Arc::clone(&self.shared);
        tokio::task::spawn_blocking(move || process::availability(shared.process.helper()))
            .await
            .map_err(|error| error.to_string())?
    }

    pub fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.get(name)
    }

    pub fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.values()
    }
}

#[async_trait]
impl ToolHost for Sandbox {
    fn definitions(&self) -> Vec<Arc<ToolDefinition>> {
        self.tools.values().map(|tool| Arc::clone(tool.definition())).collect()
    }

    async fn call(&self, call: ToolCall) -> CallReport {
        self.run(call).await
    }
}
