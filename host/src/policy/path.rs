//! The names of files, as a guest sees them.
//!
//! A [`GuestPath`] is a name in the guest's own tree, never a path of the host. It is normal by
//! construction, so that "is it below a granted directory" is a comparison of components. That is
//! all it can answer: links are the business of whoever opens the path.

use std::fmt;

use serde::{Serialize, Serializer};

use super::protected::is_protected_name;

/// Where the user's project is in every guest, and where relative paths start.
pub const WORKSPACE: &str = "/workspace";

/// What Linux takes for one path; a longer one could not be opened anyway.
const MAX_PATH_BYTES: usize = 4096;

/// What the usual filesystems take for one name.
const MAX_NAME_BYTES: usize = 255;

/// A normal absolute path of the guest: no `.`, no `..`, no empty component, no NUL.
/// A backslash is an ordinary character.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GuestPath(String);

/// Why a text is not a path that a guest may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathError {
    Empty,
    Nul,
    /// `..` led above `/`, or a relative path left the workspace.
    Escapes,
    TooLong,
    ComponentTooLong,
    /// A single name was expected.
    NotAName,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathError::Empty => f.write_str("the path is empty; `.` is the workspace"),
            PathError::Nul => f.write_str("the path contains a NUL character"),
            PathError::Escapes => {
                write!(f, "the path leads out of {WORKSPACE}; use one inside it")
            }
            PathError::TooLong => write!(f, "the path is longer than {MAX_PATH_BYTES} bytes"),
            PathError::ComponentTooLong => {
                write!(f, "a name in the path is longer than {MAX_NAME_BYTES} bytes")
            }
            PathError::NotAName => f.write_str("a single file name was expected, not a path"),
        }
    }
}

impl std::error::Error for PathError {}

impl GuestPath {
    /// Reads an absolute path, or one relative to the workspace.
    ///
    /// `..` is resolved by the text alone. A path that steps out at any point is refused, even if
    /// it would come back: nobody needs such a path, and its meaning depends on what lies outside.
    pub fn parse(text: &str) -> Result<GuestPath, PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.contains('\0') {
            return Err(PathError::Nul);
        }
        if text.len() > MAX_PATH_BYTES {
            return Err(PathError::TooLong);
        }
        let start = if text.starts_with('/') { "" } else { WORKSPACE };
        let mut path = start.to_owned();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    if path.len() == start.len() {
                        return Err(PathError::Escapes);
                    }
                    path.truncate(path.rfind('/').unwrap_or(0));
                }
                name if name.len() > MAX_NAME_BYTES => return Err(PathError::ComponentTooLong),
                name => {
                    path.push('/');
                    path.push_str(name);
                }
            }
        }
        if path.len() > MAX_PATH_BYTES {
            return Err(PathError::TooLong);
        }
        if path.is_empty() {
            path.push('/');
        }
        Ok(GuestPath(path))
    }

    /// The workspace itself.
    pub fn workspace() -> GuestPath {
        GuestPath(WORKSPACE.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names from the top down; none for `/`.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }

    /// The first name in the path that no tool may write, such as `.git`.
    pub fn protected_component(&self) -> Option<&str> {
        self.components().find(|name| is_protected_name(name))
    }

    /// Whether `other` is this path or below it.
    pub fn contains(&self, other: &GuestPath) -> bool {
        other.strip_prefix(self).is_some()
    }

    /// The path of the entry `name` in this directory.
    pub fn join(&self, name: &str) -> Result<GuestPath, PathError> {
        if name.is_empty() || name == "." || name == ".." || name.contains('/') {
            return Err(PathError::NotAName);
        }
        if name.contains('\0') {
            return Err(PathError::Nul);
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(PathError::ComponentTooLong);
        }
        let path = format!("{}/{name}", self.0.trim_end_matches('/'));
        if path.len() > MAX_PATH_BYTES {
            return Err(PathError::TooLong);
        }
        Ok(GuestPath(path))
    }

    /// What is left of this path below `root`, without a leading slash; empty for `root` itself.
    pub fn strip_prefix(&self, root: &GuestPath) -> Option<&str> {
        let rest = self.0.strip_prefix(root.0.trim_end_matches('/'))?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
    }

    /// The directories above this path, nearest first.
    pub(super) fn ancestors(&self) -> impl Iterator<Item = GuestPath> {
        let mut rest = self.0.as_str();
        std::iter::from_fn(move || {
            if rest == "/" {
                return None;
            }
            rest = match rest.rfind('/') {
                Some(0) | None => "/",
                Some(end) => &rest[..end],
            };
            Some(GuestPath(rest.to_owned()))
        })
    }
}

impl fmt::Display for GuestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for GuestPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}
