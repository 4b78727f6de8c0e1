//! What every command that runs or explains tools needs: the sandbox with its tools.

use std::path::{Path, PathBuf};

use super::Failure;
use super::options::{ComponentOptions, Granted};
use crate::capability::files::Roots;
use crate::capability::process::{HelperExe, ProcessShared};
use crate::policy::{GuestPath, Level};
use crate::sandbox::{BuiltIn, Cache, Digest, Sandbox, reserve_live_calls};

/// A command calls one tool; a few places more are for asking components what they are.
const LIVE_CALLS: u32 = 16;

/// A sandbox over the granted directories with all tools, built in and given.
pub async fn open(
    built_ins: &'static [BuiltIn],
    granted: &Granted,
    components: &ComponentOptions,
    level: Level,
) -> Result<Sandbox, Failure> {
    open_over(built_ins, granted.mounts.clone(), components, Some(level)).await
}

/// A sandbox without directories, to look at tools.
pub async fn open_empty(
    built_ins: &'static [BuiltIn],
    components: &ComponentOptions,
) -> Result<Sandbox, Failure> {
    open_over(built_ins, Vec::new(), components, None).await
}

async fn open_over(
    built_ins: &'static [BuiltIn],
    mounts: Vec<(GuestPath, PathBuf)>,
    components: &ComponentOptions,
    level: Option<Level>,
) -> Result<Sandbox, Failure> {
    reserve_live_calls(LIVE_CALLS);
    let own = OwnPlaces::find();
    let roots =
        Roots::open(mounts, &own.hidden()).map_err(|error| Failure::usage(error.to_string()))?;
    let helper = HelperExe::own();
    let process = ProcessShared::new(helper.clone(), own.hidden());
    let mut sandbox = Sandbox::new(roots, process)
        .map_err(|error| Failure::failed(format!("the engine does not start: {error:#}")))?;
    sandbox.add_built_ins(built_ins).map_err(|error| Failure::failed(error.to_string()))?;
    let cache = Cache::new(own.cache.join("components"), helper);
    for given in &components.components {
        let (path, pinned) = match given.rsplit_once("@sha256:") {
            Some((path, digest)) => (Path::new(path), Some(digest)),
            None => (Path::new(given.as_str()), None),
        };
        check_pin(path, pinned, level)?;
        sandbox
            .add_component(path, &cache, pinned)
            .await
            .map_err(|error| Failure::usage(error.to_string()))?;
    }
    Ok(sandbox)
}

/// Under strict, what runs is what the user pinned.
fn check_pin(path: &Path, pinned: Option<&str>, level: Option<Level>) -> Result<(), Failure> {
    if pinned.is_some() || level != Some(Level::Strict) {
        return Ok(());
    }
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::usage(format!("--component {}: {error}", path.display())))?;
    Err(Failure::usage(format!(
        "under strict a component must be pinned by its digest; if this is the one you mean:\n  --component {}@sha256:{}",
        path.display(),
        Digest::of(&bytes)
    )))
}

/// The names of the tools, for messages.
pub fn names(sandbox: &Sandbox) -> String {
    let names: Vec<&str> = sandbox.tools().map(|tool| tool.definition().name.as_str()).collect();
    names.join(", ")
}

/// Where xzatoma keeps its own things.
struct OwnPlaces {
    home: Option<PathBuf>,
    config: Option<PathBuf>,
    cache: PathBuf,
}

impl OwnPlaces {
    fn find() -> OwnPlaces {
        let variable = |name: &str| {
            std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let home = variable("HOME");
        let below_home = |name: &str| home.as_ref().map(|home| home.join(name));
        let config = variable("XDG_CONFIG_HOME").or_else(|| below_home(".config"));
        let cache = variable("XZATOMA_CACHE_DIR").or_else(|| {
            variable("XDG_CACHE_HOME")
                .or_else(|| below_home(".cache"))
                .map(|dir| dir.join("xzatoma"))
        });
        OwnPlaces {
            config: config.map(|dir| dir.join("xzatoma")),
            // Without a home there is still a place for this process's user.
            cache: cache.unwrap_or_else(|| {
                std::env::temp_dir().join(format!("xzatoma-{}", rustix::process::getuid().as_raw()))
            }),
            home: below_home(".xzatoma"),
        }
    }

    /// None of these is ever read or written by a tool.
    fn hidden(&self) -> Vec<PathBuf> {
        let optional = self.home.iter().chain(&self.config).cloned();
        optional.chain([self.cache.clone()]).collect()
    }
}
