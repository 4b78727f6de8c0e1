//! Where tools come from: built in, or components given by the user.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use wasmtime::component::Component;

use super::Sandbox;
use super::cache::{Cache, Digest};
use super::component::Prepared;
use crate::tool::{ToolDefinition, ToolError};

/// A component larger than this is not a tool. Interpreters for other languages are near 20 MiB.
pub const MAX_COMPONENT: u64 = 64 << 20;

/// A tool of this project, compiled at build time and part of the program.
pub struct BuiltIn {
    pub name: &'static str,
    /// What it says about itself, asked at build time, as JSON.
    pub definition: &'static str,
    pub component: &'static [u8],
    /// For this engine, if it is the one of the build; else the component is compiled.
    pub precompiled: &'static [u8],
}

/// A tool of a session.
pub struct Tool {
    definition: Arc<ToolDefinition>,
    source: Source,
    prepared: OnceLock<Result<Arc<Prepared>, ToolError>>,
}

enum Source {
    BuiltIn(&'static BuiltIn),
    /// Already prepared: that is how its definition was found.
    Component {
        path: PathBuf,
        digest: Digest,
    },
}

/// Why a component is not a tool.
#[derive(Debug)]
pub struct LoadError {
    pub path: PathBuf,
    pub reason: String,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is not loaded: {}", self.path.display(), self.reason)
    }
}

impl std::error::Error for LoadError {}

impl Tool {
    pub fn definition(&self) -> &Arc<ToolDefinition> {
        &self.definition
    }

    /// Where it comes from, for people.
    pub fn origin(&self) -> String {
        match &self.source {
            Source::BuiltIn(_) => "built in".to_owned(),
            Source::Component { path, digest } => format!("{} sha256:{digest}", path.display()),
        }
    }

    /// Compiled code; for a built-in tool made at its first use.
    pub(super) fn prepared(&self, sandbox: &Sandbox) -> Result<Arc<Prepared>, ToolError> {
        self.prepared
            .get_or_init(|| match &self.source {
                Source::BuiltIn(tool) => sandbox.prepare_built_in(tool).map(Arc::new),
                Source::Component { path, .. } => {
                    Err(ToolError::crashed(format!("{} was not prepared", path.display())))
                }
            })
            .clone()
    }
}

impl Sandbox {
    /// Adds the tools that are part of the program.
    pub fn add_built_ins(&mut self, tools: &'static [BuiltIn]) -> Result<(), LoadError> {
        for tool in tools {
            let definition: ToolDefinition =
                serde_json::from_str(tool.definition).map_err(|error| LoadError {
                    path: tool.name.into(),
                    reason: format!("bad embedded definition: {error}"),
                })?;
            let tool = Tool {
                definition: Arc::new(definition),
                source: Source::BuiltIn(tool),
                prepared: OnceLock::new(),
            };
            self.tools.insert(tool.definition.name.clone(), Arc::new(tool));
        }
        Ok(())
    }

    /// Adds a component from a file: compiled in a limited child process unless the cache has it,
    /// then asked what it is. Names that are taken are refused, and so is a component that is not
    /// the one that was pinned.
    pub async fn add_component(
        &mut self,
        path: &Path,
        cache: &Cache,
        pinned: Option<&str>,
    ) -> Result<Arc<Tool>, LoadError> {
        let refuse = |reason: String| LoadError { path: path.to_owned(), reason };
        let bytes = read_component(path).map_err(refuse)?;
        let digest = Digest::of(&bytes);
        if pinned.is_some_and(|pinned| pinned != digest.to_string()) {
            return Err(refuse(format!("its digest is sha256:{digest}, not the pinned one")));
        }
        let component =
            cache.component(&self.machine.engine, &bytes, &digest).await.map_err(refuse)?;
        let prepared = Arc::new(Prepared::new(component));
        let definition =
            self.describe(&prepared).await.map_err(|error| refuse(error.to_string()))?;
        if self.tools.contains_key(&definition.name) {
            return Err(refuse(format!("there is a tool named {} already", definition.name)));
        }
        let tool = Arc::new(Tool {
            source: Source::Component { path: path.to_owned(), digest },
            prepared: OnceLock::from(Ok(prepared)),
            definition,
        });
        self.tools.insert(tool.definition.name.clone(), Arc::clone(&tool));
        Ok(tool)
    }

    fn prepare_built_in(&self, tool: &BuiltIn) -> Result<Prepared, ToolError> {
        // SAFETY: made by our own compiler at build time and part of this program's read-only data.
        let component = unsafe { Component::deserialize(&self.machine.engine, tool.precompiled) };
        let component = match component {
            Ok(component) => component,
            Err(error) => {
                tracing::info!(tool = tool.name, %error, "compiling: the embedded code is for another processor or engine");
                Component::from_binary(&self.machine.engine, tool.component).map_err(|error| {
                    ToolError::crashed(format!(
                        "the built-in tool {} does not compile: {error:#}",
                        tool.name
                    ))
                })?
            }
        };
        Ok(Prepared::new(component))
    }
}

/// The bytes of a component, or what else the file is.
fn read_component(path: &Path) -> Result<Vec<u8>, String> {
    use std::io::Read;
    let file = std::fs::File::open(path).map_err(|error| format!("cannot open it: {error}"))?;
    let metadata = file.metadata().map_err(|error| format!("cannot look at it: {error}"))?;
    if !metadata.is_file() {
        return Err("it is not a regular file".into());
    }
    let mut bytes = Vec::new();
    file.take(MAX_COMPONENT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read it: {error}"))?;
    if bytes.len() as u64 > MAX_COMPONENT {
        return Err(format!("it is larger than {} MiB", MAX_COMPONENT >> 20));
    }
    // The preamble: magic number, version, layer.
    match bytes.get(..8) {
        Some([0, b'a', b's', b'm', _, _, 1, 0]) => Ok(bytes),
        Some([0, b'a', b's', b'm', 1, 0, 0, 0]) => Err(
            "it is a core WebAssembly module, not a component; build it for wasm32-wasip2, or wrap it with `wasm-tools component new`".into(),
        ),
        Some([0x7f, b'E', b'L', b'F', ..]) => Err(
            "it is native or precompiled code; only WebAssembly components are loaded, and compiled here".into(),
        ),
        _ => Err("it is not a WebAssembly component".into()),
    }
}
