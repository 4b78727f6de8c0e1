//! Compiled components on disk, by the digest of the component and by the engine.
//!
//! Compiling takes up to seconds and cannot be interrupted, and the component is somebody else's:
//! it happens once, in a child process with limits on time and memory. What is kept carries a
//! checksum, is written to a file of its own and renamed into place, so that several processes can
//! do the same at once; what is damaged or from another engine is made again.

use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::capability::process::{HelperExe, LimitedChild};

const MAGIC: &[u8; 8] = b"xzatoma1";
const HEADER: usize = MAGIC.len() + 32;
/// Compiled code is larger than the component, but not without bound.
const MAX_COMPILED: u64 = 512 << 20;
const COMPILE_DEADLINE: Duration = Duration::from_secs(120);
const COMPILE_MEMORY: u64 = 4 << 30;

/// SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

pub struct Cache {
    directory: PathBuf,
    helper: HelperExe,
}

impl Cache {
    /// A cache in `directory`, which is made when first needed, for this user only.
    pub fn new(directory: PathBuf, helper: HelperExe) -> Cache {
        Cache { directory, helper }
    }

    /// The component, compiled for this engine: from the cache, or made now.
    pub async fn component(
        &self,
        engine: &Engine,
        component: &[u8],
        digest: &Digest,
    ) -> Result<Component, String> {
        let path = self.path(engine, digest);
        match read_checked(&path).and_then(|code| load(engine, &code)) {
            Ok(component) => return Ok(component),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "a cached component is damaged or not ours; compiling again");
            }
        }
        let code = self.compile(component).await?;
        let loaded =
            load(engine, &code).map_err(|error| format!("the engine refuses it: {error}"))?;
        if let Err(error) = self.keep(&path, &code) {
            // It still runs; it will only be slow to start again.
            tracing::warn!(path = %path.display(), %error, "a compiled component could not be kept");
        }
        Ok(loaded)
    }

    fn path(&self, engine: &Engine, digest: &Digest) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        self.directory.join(format!("{digest}-{:016x}", hasher.finish()))
    }

    async fn compile(&self, component: &[u8]) -> Result<Vec<u8>, String> {
        let child = LimitedChild {
            arguments: vec![COMPILE_ARGUMENT.into()],
            stdin: component.to_vec(),
            deadline: COMPILE_DEADLINE,
            memory_bytes: COMPILE_MEMORY,
            max_stdout: MAX_COMPILED as usize,
        };
        let finished = child
            .run(&self.helper)
            .await
            .map_err(|error| format!("it could not be compiled: {error}"))?;
        match finished.exit_code {
            Some(0) => Ok(finished.stdout.bytes),
            _ => {
                let said = String::from_utf8_lossy(&finished.stderr.bytes);
                Err(format!("it does not compile: {}", said.trim()))
            }
        }
    }

    fn keep(&self, path: &Path, code: &[u8]) -> io::Result<()> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        let unique = format!("new-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let temporary = self.directory.join(unique);
        let written = (|| {
            let mut file =
                fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
            file.write_all(MAGIC)?;
            file.write_all(&Sha256::digest(code))?;
            file.write_all(code)?;
            file.sync_all()?;
            fs::rename(&temporary, path)
        })();
        if written.is_err() {
            // The first error is the one to tell.
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}

fn load(engine: &Engine, code: &[u8]) -> io::Result<Component> {
    // SAFETY: our own compiler made it, in a child process now or earlier, and a checksum says
    // that not a bit of it changed since. Nobody but this user can write where it is kept.
    unsafe { Component::deserialize(engine, code) }
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("{error:#}")))
}

fn read_checked(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = fs::File::open(path)?;
    let mut header = [0; HEADER];
    file.read_exact(&mut header)?;
    let mut code = Vec::new();
    file.take(MAX_COMPILED + 1).read_to_end(&mut code)?;
    let (magic, checksum) = header.split_at(MAGIC.len());
    if magic != MAGIC || checksum != Sha256::digest(&code).as_slice() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum does not match"));
    }
    Ok(code)
}

/// The hidden first argument by which this program becomes the compiler.
pub const COMPILE_ARGUMENT: &str = "__compile-component";

/// The child: a component on standard input, compiled code on standard output.
pub fn compile_main() -> Result<(), String> {
    let mut component = Vec::new();
    io::stdin()
        .take(super::library::MAX_COMPONENT + 1)
        .read_to_end(&mut component)
        .map_err(|error| format!("cannot read the component: {error}"))?;
    let engine = super::engine::compiling().map_err(|error| format!("no compiler: {error:#}"))?;
    let code = engine.precompile_component(&component).map_err(|error| format!("{error:#}"))?;
    io::stdout().write_all(&code).map_err(|error| format!("cannot hand over the code: {error}"))
}
