//! Which names a walk leaves out: .gitignore and .ignore files, and the caller's own globs.
//!
//! The matching is the `ignore` crate's, which ripgrep uses too; the reading is ours, because the
//! crate opens files by name.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use rustix::fs::{FileType, Mode, OFlags, fstat, openat};
use rustix::io::Errno;

use super::{MAX_PATTERN_BYTES, MAX_PATTERNS};
use crate::tool::ToolError;

/// An ignore file is workspace content: whoever wrote it must not make us compile for ever.
const MAX_IGNORE_FILE: usize = 256 << 10;
const MAX_IGNORE_LINES: usize = 4096;

/// The rules of one directory, and of those above it.
#[derive(Clone, Default)]
pub struct Ignores(Option<Arc<Level>>);

struct Level {
    /// `.ignore` beats `.gitignore` beats `.git/info/exclude`.
    rules: Vec<Gitignore>,
    above: Ignores,
}

impl Ignores {
    /// Adds the rules that a directory brings, if it has any. `path` is where it is,
    /// relative to the granted directory.
    pub fn enter(&self, directory: &OwnedFd, path: &str) -> Ignores {
        let rules: Vec<Gitignore> = [".ignore", ".gitignore", ".git/info/exclude"]
            .iter()
            .filter_map(|name| {
                let text = read_small(directory, name).ok()?;
                let mut builder = GitignoreBuilder::new(if path.is_empty() { "." } else { path });
                for line in text.lines().take(MAX_IGNORE_LINES) {
                    // A line that does not parse is passed over, as git does.
                    if let Err(error) = builder.add_line(None, line) {
                        tracing::debug!(%error, "passed over a line of an ignore file");
                    }
                }
                builder.build().ok()
            })
            .filter(|rules| !rules.is_empty())
            .collect();
        match rules.is_empty() {
            true => self.clone(),
            false => Ignores(Some(Arc::new(Level { rules, above: self.clone() }))),
        }
    }

    pub fn any(&self) -> bool {
        self.0.is_some()
    }

    pub fn leaves_out(&self, path: &str, is_directory: bool) -> bool {
        let mut level = &self.0;
        while let Some(here) = level {
            for rules in &here.rules {
                match rules.matched(Path::new(path), is_directory) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
            }
            level = &here.above.0;
        }
        false
    }
}

/// The caller's globs, in ripgrep's sense: with any to include, other files are left out; what
/// one names is visited even if an ignore file says otherwise.
pub fn overrides(include: &[String], exclude: &[String]) -> Result<Override, ToolError> {
    if include.len() + exclude.len() > MAX_PATTERNS {
        return Err(ToolError::limit_exceeded(format!("at most {MAX_PATTERNS} globs a call")));
    }
    let mut builder = OverrideBuilder::new(".");
    let patterns = include
        .iter()
        .map(|glob| (glob, glob.to_owned()))
        .chain(exclude.iter().map(|glob| (glob, format!("!{glob}"))));
    for (glob, pattern) in patterns {
        if glob.len() > MAX_PATTERN_BYTES {
            return Err(ToolError::limit_exceeded(format!(
                "a glob has at most {MAX_PATTERN_BYTES} bytes"
            )));
        }
        if glob.is_empty() || glob.starts_with('!') {
            return Err(ToolError::invalid_input(format!(
                "the glob {glob:?} is empty or starts with '!'; use include for what to visit and exclude for what not"
            )));
        }
        builder.add(&pattern).map_err(|error| {
            ToolError::invalid_input(format!("the glob {glob:?} is not valid: {error}"))
        })?;
    }
    builder
        .build()
        .map_err(|error| ToolError::invalid_input(format!("the globs are not valid: {error}")))
}

/// A small regular file below a directory, links not followed in any part.
fn read_small(directory: &OwnedFd, path: &str) -> Result<String, Errno> {
    let step = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut holder = None;
    let mut rest = path;
    while let Some((name, below)) = rest.split_once('/') {
        let parent = holder.as_ref().unwrap_or(directory);
        holder = Some(openat(parent, name, step | OFlags::DIRECTORY, Mode::empty())?);
        rest = below;
    }
    let parent = holder.as_ref().unwrap_or(directory);
    let file = openat(parent, rest, step, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(Errno::INVAL);
    }
    let mut bytes = Vec::with_capacity(4096);
    while bytes.len() < MAX_IGNORE_FILE {
        match rustix::io::read(&file, rustix::buffer::spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) => bytes.reserve(4096),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    bytes.truncate(MAX_IGNORE_FILE);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
