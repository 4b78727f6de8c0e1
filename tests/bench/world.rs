//! A sandbox over a directory, and calls with a real grant.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use xzatoma::capability::files::Roots;
use xzatoma::capability::process::{HelperExe, ProcessShared};
use xzatoma::policy::{Authority, GuestPath, HostRule, Level, LevelOptions, Limits};
use xzatoma::sandbox::{Cache, Sandbox};
use xzatoma::tool::{Headless, ToolCall, ToolHost, ToolOutput};

/// A directory that is removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path =
            std::env::temp_dir().join(format!("xzatoma-bench-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a scratch directory can be made");
        Scratch(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Left over only if somebody else holds files there.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub struct World {
    pub sandbox: Arc<Sandbox>,
    pub authority: Arc<Authority>,
}

impl World {
    /// The built-in tools and the small honest test tool, under standard.
    pub async fn new(workspace: &Path, hosts: Vec<HostRule>) -> World {
        let helper = HelperExe::at(env!("CARGO_BIN_EXE_xzatoma"));
        let roots = Roots::open([(GuestPath::workspace(), workspace.to_owned())], &[])
            .expect("the workspace opens");
        let process = ProcessShared::new(helper.clone(), Vec::new());
        let mut sandbox = Sandbox::new(roots, process).expect("the engine starts");
        sandbox.add_built_ins(crate::built_in::TOOLS).expect("the built-in tools load");
        let cache_directory = std::env::temp_dir().join("xzatoma-bench-cache");
        let cache = Cache::new(cache_directory, helper);
        let canary = Path::new(env!("XZATOMA_TOOLS_DIR")).join("tests/canary.wasm");
        sandbox.add_component(&canary, &cache, None).await.expect("the test tool loads");
        let limits =
            Limits { deadline_ms: 300_000, requests_per_minute: u32::MAX, ..Limits::default() };
        let options = LevelOptions { hosts, limits, ..LevelOptions::default() };
        World {
            sandbox: Arc::new(sandbox),
            authority: Arc::new(Level::Standard.authority(&options)),
        }
    }

    /// One call as the agent makes it.
    pub async fn call(&self, tool: &str, arguments: &str) -> ToolOutput {
        let call = ToolCall {
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            authority: Arc::clone(&self.authority),
            approver: Arc::new(Headless),
        };
        let report = self.sandbox.call(call).await;
        match report.result {
            Ok(output) => output,
            Err(error) => panic!("{tool} {arguments}: {error}"),
        }
    }
}

/// A runtime like the agent's.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime starts")
}
