//! The one place where a granted directory is opened by name.
//!
//! It happens once, when a session starts. From then on everything is reached through these
//! handles: swapping the workspace for a link later changes nothing.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::io::Errno;

use super::resolve;
use crate::policy::GuestPath;

/// The host directories behind the guest's top-level paths.
#[derive(Debug)]
pub struct Roots {
    roots: Vec<Root>,
    hidden: Vec<String>,
}

#[derive(Debug)]
pub struct Root {
    pub guest: GuestPath,
    /// For messages and for processes, which need a path; never opened again by name here.
    pub host: PathBuf,
    pub dir: Arc<OwnedFd>,
}

/// A directory that cannot be granted because it cannot be opened.
#[derive(Debug)]
pub struct CannotOpen {
    pub path: PathBuf,
    pub source: std::io::Error,
}

impl std::fmt::Display for CannotOpen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot open the directory {}: {}", self.path.display(), self.source)
    }
}

impl std::error::Error for CannotOpen {}

impl Roots {
    /// Opens each host directory, to be seen by guests at its guest path. `hidden` are host paths
    /// (xzatoma's own configuration, tokens and store) that no guest may read or write, wherever
    /// they lie and whether or not they exist yet.
    pub fn open(
        mounts: impl IntoIterator<Item = (GuestPath, PathBuf)>,
        hidden: &[PathBuf],
    ) -> Result<Roots, CannotOpen> {
        let hidden: Vec<PathBuf> = hidden.iter().map(|path| real_path(path)).collect();
        let mut roots = Vec::new();
        let mut hidden_guest = Vec::new();
        for (guest, path) in mounts {
            let cannot = |source| CannotOpen { path: path.clone(), source };
            let host = path.canonicalize().map_err(cannot)?;
            let dir = Dir::open_ambient_dir(&host, ambient_authority()).map_err(cannot)?;
            for below in hidden.iter().filter_map(|hidden| hidden.strip_prefix(&host).ok()) {
                let mut place = guest.as_str().trim_end_matches('/').to_owned();
                for name in below.components() {
                    place.push('/');
                    place.push_str(&name.as_os_str().to_string_lossy());
                }
                hidden_guest.push(place);
            }
            roots.push(Root { guest, host, dir: Arc::new(dir.into_std_file().into()) });
        }
        // The longest match wins, as in the guest.
        roots.sort_by_key(|root| std::cmp::Reverse(root.guest.as_str().len()));
        Ok(Roots { roots, hidden: hidden_guest })
    }

    /// Opens a granted directory below one of the roots. No component may be a link: a grant
    /// names a place, and a link could move it.
    pub fn open_granted(&self, path: &GuestPath) -> Result<Arc<OwnedFd>, Errno> {
        let (root, below) = self.find(path).ok_or(Errno::NOENT)?;
        if below.is_empty() {
            return Ok(Arc::clone(&root.dir));
        }
        let names: Vec<&str> = below.split('/').collect();
        Ok(Arc::new(resolve::open_directory(root.dir.as_fd(), &names)?))
    }

    /// The root that holds a guest path, and the path below it.
    pub fn find<'a>(&self, path: &'a GuestPath) -> Option<(&Root, &'a str)> {
        self.roots.iter().find_map(|root| path.strip_prefix(&root.guest).map(|below| (root, below)))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Root> {
        self.roots.iter()
    }

    /// Whether a resolved guest path is xzatoma's own, or below such a path.
    pub fn is_hidden(&self, place: &str) -> bool {
        self.hidden.iter().any(|hidden| is_at_or_below(place, hidden))
    }

    /// Whether moving or deleting this resolved guest path would move something hidden.
    pub fn holds_hidden(&self, place: &str) -> bool {
        self.hidden.iter().any(|hidden| is_at_or_below(hidden, place))
    }

    pub fn hidden(&self) -> &[String] {
        &self.hidden
    }
}

pub(super) fn is_at_or_below(place: &str, above: &str) -> bool {
    place
        .strip_prefix(above.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path with links resolved as far as it exists.
fn real_path(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if !parent.as_os_str().is_empty() => {
            real_path(parent).join(name)
        }
        _ => path.to_owned(),
    }
}
