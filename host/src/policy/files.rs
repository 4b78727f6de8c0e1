//! Which directories a guest may open, as data.
//!
//! A grant of a directory is a grant of all that is below it. Rules about single names, such as
//! the protected ones, are not grants and live elsewhere.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::path::GuestPath;

/// What may be done below a directory. Ordered: writing includes reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    Read,
    Write,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Read => "read",
            Access::Write => "write",
        })
    }
}

/// Access to a directory and all that is below it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct DirGrant {
    pub path: GuestPath,
    pub access: Access,
}

impl fmt::Display for DirGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.access, self.path)
    }
}

/// A set of directory grants in its one shortest form: sorted by path, and no entry that another
/// one above it already covers. Two sets that allow the same are equal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Dirs(Vec<DirGrant>);

impl Dirs {
    pub fn new(grants: impl IntoIterator<Item = DirGrant>) -> Dirs {
        let mut best: BTreeMap<GuestPath, Access> = BTreeMap::new();
        for DirGrant { path, access } in grants {
            best.entry(path).and_modify(|known| *known = access.max(*known)).or_insert(access);
        }
        let covered = |path: &GuestPath, access: Access| {
            path.ancestors().any(|above| best.get(&above).is_some_and(|known| *known >= access))
        };
        let entries = best
            .iter()
            .filter(|(path, access)| !covered(path, **access))
            .map(|(path, access)| DirGrant { path: path.clone(), access: *access })
            .collect();
        Dirs(entries)
    }

    pub fn iter(&self) -> std::slice::Iter<'_, DirGrant> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What may be done with `path`: the best of the entries at it or above it.
    pub fn access(&self, path: &GuestPath) -> Option<Access> {
        self.iter().filter(|grant| grant.path.contains(path)).map(|grant| grant.access).max()
    }

    /// The same directories, for reading only.
    pub fn read_only(&self) -> Dirs {
        Dirs::new(
            self.iter().map(|grant| DirGrant { path: grant.path.clone(), access: Access::Read }),
        )
    }

    /// What both allow.
    pub fn intersect(&self, other: &Dirs) -> Dirs {
        let pairs = self.iter().flat_map(|a| other.iter().map(move |b| (a, b)));
        Dirs::new(pairs.filter_map(|(a, b)| {
            let lower = if a.path.contains(&b.path) {
                &b.path
            } else if b.path.contains(&a.path) {
                &a.path
            } else {
                return None;
            };
            Some(DirGrant { path: lower.clone(), access: a.access.min(b.access) })
        }))
    }

    /// Whether `other` allows all that this allows. An entry covers whatever is below it, so it is
    /// enough to look at the entries.
    pub fn inside(&self, other: &Dirs) -> bool {
        self.iter().all(|grant| other.access(&grant.path) >= Some(grant.access))
    }
}

impl<'a> IntoIterator for &'a Dirs {
    type Item = &'a DirGrant;
    type IntoIter = std::slice::Iter<'a, DirGrant>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
