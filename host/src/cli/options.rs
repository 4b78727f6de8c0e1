//! Flags that make a grant, and what they mean in terms of guest paths.

use std::path::{Path, PathBuf};

use clap::Args;

use super::Failure;
use crate::policy::{Access, DirGrant, GuestPath, HostRule, Level, LevelOptions};

/// A day: longer deadlines are a typing mistake.
const MAX_TIMEOUT_SECONDS: f64 = 86_400.0;

#[derive(Debug, Args)]
pub struct ComponentOptions {
    /// A component to load beside the built-in tools; may be repeated. Under strict it must be
    /// pinned: FILE@sha256:DIGEST
    #[arg(long = "component", value_name = "FILE[@sha256:DIGEST]")]
    pub components: Vec<String>,
}

#[derive(Debug, Args)]
pub struct SandboxOptions {
    /// How far the caller is trusted: strict, standard or trusted
    #[arg(long, value_name = "LEVEL", default_value = "standard")]
    pub sandbox: Level,

    /// The directory that guests see as /workspace
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,

    /// A directory that may be written; may be repeated. Relative to the workspace
    #[arg(long, value_name = "DIR")]
    pub allow_write: Vec<PathBuf>,

    /// A further directory to read and write, under trusted only; may be repeated
    #[arg(long, value_name = "DIR")]
    pub allow_dir: Vec<PathBuf>,

    /// A host that may be reached; may be repeated. Private addresses only if named here by number
    #[arg(long, value_name = "HOST[:PORT]", value_parser = HostRule::parse)]
    pub allow_host: Vec<HostRule>,

    /// A program that may be started without asking; may be repeated
    #[arg(long, value_name = "NAME")]
    pub allow_command: Vec<String>,

    /// An environment variable that programs may see; may be repeated. Not under strict
    #[arg(long, value_name = "NAME")]
    pub allow_env: Vec<String>,

    /// How long one call may take
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<u64>,

    /// How much memory one call may use
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub memory: Option<u64>,

    #[command(flatten)]
    pub components: ComponentOptions,
}

/// Seconds, possibly with a fraction, as milliseconds.
fn seconds(text: &str) -> Result<u64, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text:?} is not a number of seconds"))?;
    if !(seconds > 0.0 && seconds <= MAX_TIMEOUT_SECONDS) {
        return Err(format!("give more than 0 and at most {MAX_TIMEOUT_SECONDS} seconds"));
    }
    Ok((seconds * 1000.0).ceil() as u64)
}

/// The host directories behind guest paths, and the level's options in terms of guest paths.
pub struct Granted {
    pub mounts: Vec<(GuestPath, PathBuf)>,
    pub options: LevelOptions,
}

impl SandboxOptions {
    pub fn granted(&self) -> Result<Granted, Failure> {
        let workspace = existing_directory(&self.workspace, "--workspace")?;
        let mut mounts = vec![(GuestPath::workspace(), workspace.clone())];
        let mut options = LevelOptions::default();
        for path in &self.allow_write {
            let guest = place(path, &workspace, "--allow-write", &mut mounts)?;
            options.write.push(guest);
        }
        if !self.allow_dir.is_empty() && self.sandbox != Level::Trusted {
            return Err(Failure::usage(
                "--allow-dir is for --sandbox trusted only; --allow-write DIR grants one directory at any level",
            ));
        }
        for path in &self.allow_dir {
            let path = place(path, &workspace, "--allow-dir", &mut mounts)?;
            options.dirs.push(DirGrant { path, access: Access::Write });
        }
        if !self.allow_env.is_empty() && self.sandbox == Level::Strict {
            return Err(Failure::usage(
                "under strict a program sees no environment; leave out --allow-env",
            ));
        }
        options.hosts = self.allow_host.clone();
        options.commands = self.allow_command.clone();
        options.environment = self.allow_env.iter().cloned().collect();
        if let Some(deadline_ms) = self.timeout {
            options.limits.deadline_ms = deadline_ms;
        }
        if let Some(memory) = self.memory {
            options.limits.memory_bytes = memory << 20;
        }
        Ok(Granted { mounts, options })
    }
}

/// The guest path of a host directory: below /workspace if it lies there, else the same path,
/// mounted for it.
fn place(
    path: &Path,
    workspace: &Path,
    flag: &str,
    mounts: &mut Vec<(GuestPath, PathBuf)>,
) -> Result<GuestPath, Failure> {
    let path = existing_directory(&workspace.join(path), flag)?;
    let unsuitable = |error: &dyn std::fmt::Display| {
        Failure::usage(format!("{flag} {}: {error}", path.display()))
    };
    if let Ok(below) = path.strip_prefix(workspace) {
        let below = below.to_str().ok_or_else(|| unsuitable(&"its name is not Unicode"))?;
        return GuestPath::parse(below).map_err(|error| unsuitable(&error));
    }
    let text = path.to_str().ok_or_else(|| unsuitable(&"its name is not Unicode"))?;
    let guest = GuestPath::parse(text).map_err(|error| unsuitable(&error))?;
    if guest.contains(&GuestPath::workspace()) || GuestPath::workspace().contains(&guest) {
        return Err(unsuitable(&"it would cover /workspace"));
    }
    mounts.push((guest.clone(), path));
    Ok(guest)
}

fn existing_directory(path: &Path, flag: &str) -> Result<PathBuf, Failure> {
    let cannot =
        |what: &dyn std::fmt::Display| Failure::usage(format!("{flag} {}: {what}", path.display()));
    let real = path.canonicalize().map_err(|error| cannot(&error))?;
    match real.is_dir() {
        true => Ok(real),
        false => Err(cannot(&"it is not a directory")),
    }
}
