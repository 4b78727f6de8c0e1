//! What every test of the suite starts from: a sandbox with the built-in tools over a directory
//! of its own, and grants by a few words.
//!
//! ```ignore
//! let world = World::new();
//! world.write("notes.txt", "one\ntwo\n");
//! let report = world.call("file_ops", json!({"operation": "read", "path": "notes.txt"}), &grant::reading());
//! assert!(report.result.unwrap().text.contains("two"));
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use tokio::runtime::Runtime;
use xzatoma::capability::files::Roots;
use xzatoma::capability::http::HttpShared;
use xzatoma::capability::http::dial::Resolve;
use xzatoma::capability::process::{HelperExe, ProcessShared};
use xzatoma::policy::{Authority, GuestPath};
use xzatoma::sandbox::{Cache, LoadError, Sandbox, Tool};
use xzatoma::tool::{CallReport, Headless, ToolCall, ToolHost};

pub mod grant;

/// A sandbox over a workspace of its own, which goes when it is dropped.
pub struct World {
    // Dropped in this order: the sandbox before its directories.
    sandbox: Sandbox,
    runtime: Runtime,
    directory: TemporaryDirectory,
}

/// What a world can be given beyond the ordinary.
#[derive(Default)]
pub struct Setup {
    /// Who answers names; none: the system's resolver.
    pub resolver: Option<Arc<dyn Resolve>>,
    /// Paths below the workspace that no tool may see, as the host's own files.
    pub hidden: Vec<&'static str>,
    /// Further directories that can be granted, by their guest paths.
    pub roots: Vec<(&'static str, PathBuf)>,
    /// Leaves the built-in tools out.
    pub without_built_ins: bool,
}

impl World {
    /// The built-in tools over an empty workspace.
    pub fn new() -> World {
        Self::with(Setup::default())
    }

    pub fn with(setup: Setup) -> World {
        let directory = TemporaryDirectory::new();
        for part in ["workspace", "outside"] {
            fs::create_dir(directory.path().join(part)).unwrap();
        }
        let workspace = directory.path().join("workspace");
        let hidden: Vec<PathBuf> = setup.hidden.iter().map(|path| workspace.join(path)).collect();
        let further = setup.roots.into_iter();
        let further = further.map(|(guest, path)| (GuestPath::parse(guest).unwrap(), path));
        let mounts = further.chain([(GuestPath::workspace(), workspace)]);
        let roots = Roots::open(mounts, &hidden).unwrap();
        let defaults = HttpShared::default();
        let resolver = setup.resolver.unwrap_or_else(|| Arc::clone(&defaults.resolver));
        let http = HttpShared { resolver, ..defaults };
        let process = ProcessShared::new(helper(), hidden);
        let mut sandbox = Sandbox::with(roots, http, process).unwrap();
        if !setup.without_built_ins {
            sandbox.add_built_ins(crate::built_in::TOOLS).unwrap();
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("suite")
            .enable_all()
            .build()
            .unwrap();
        World { sandbox, runtime, directory }
    }

    /// The host's path of `/workspace`.
    pub fn workspace(&self) -> PathBuf {
        self.directory.path().join("workspace")
    }

    /// A directory beside the workspace, which no tool may ever touch.
    pub fn outside(&self) -> PathBuf {
        self.directory.path().join("outside")
    }

    /// Writes a file below the workspace, with the directories above it.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.workspace().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// The text of a file below the workspace.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.workspace().join(path)).unwrap()
    }

    /// Calls a tool and waits for its answer. Nobody is there to be asked.
    pub fn call(&self, tool: &str, arguments: Value, authority: &Authority) -> CallReport {
        self.runtime.block_on(self.sandbox.call(tool_call(tool, &arguments, authority)))
    }

    /// Adds a component from a file.
    pub fn add(&mut self, component: &Path) -> Result<Arc<Tool>, LoadError> {
        self.add_with(component, &cache())
    }

    /// The same, with a cache of the test's own.
    pub fn add_with(&mut self, component: &Path, cache: &Cache) -> Result<Arc<Tool>, LoadError> {
        self.runtime.block_on(self.sandbox.add_component(component, cache, None))
    }

    /// For what [`World::call`] cannot say: calls side by side, calls that are given up.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}

/// A call with nobody to be asked.
pub fn tool_call(tool: &str, arguments: &Value, authority: &Authority) -> ToolCall {
    ToolCall {
        tool: tool.to_owned(),
        arguments: arguments.to_string(),
        authority: Arc::new(authority.clone()),
        approver: Arc::new(Headless),
    }
}

/// The program under test, which is also its own helper.
pub fn helper() -> HelperExe {
    HelperExe::at(env!("CARGO_BIN_EXE_xzatoma"))
}

/// Compiled components, kept between runs.
pub fn cache() -> Cache {
    Cache::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("components"), helper())
}

/// A component that exists for the tests, as `cargo xtask test` builds it.
pub fn test_component(name: &str) -> PathBuf {
    Path::new(env!("XZATOMA_TOOLS_DIR")).join("tests").join(format!("{name}.wasm"))
}

/// An empty directory that goes when this is dropped.
pub struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    pub fn new() -> TemporaryDirectory {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let unique = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(unique);
        // Left over from an earlier process of the same number.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        TemporaryDirectory(path.canonicalize().unwrap())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
