//! Which programs may be started, and how tightly they are held.
//!
//! A rule is matched with the exact text that the tool asked for. `cargo` is looked up in the
//! host's PATH and matches the rule `cargo`; `./cargo` and `/tmp/cargo` are other programs. For
//! the same reason a denied name is no block list: it says no to that spelling alone, and what a
//! program can do is the confinement's business.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Permission;

/// What holds a native process. Ordered: the first allows less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confinement {
    /// The operating system's sandbox; without it nothing is started.
    #[default]
    Os,
    /// Nothing: the process has all the rights of the user.
    None,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Programs {
    /// For every program that is not named.
    pub any: Permission,
    /// By name or by path; what is said here counts instead of `any`.
    pub named: BTreeMap<String, Permission>,
    pub confinement: Confinement,
}

impl Programs {
    /// Whether `program` may be started: a name or a path, exactly as it was asked for.
    pub fn permission(&self, program: &str) -> Permission {
        // No program has such a name, so nobody should be asked about it either.
        if program.is_empty() || program.contains('\0') {
            return Permission::Deny;
        }
        self.named.get(program).copied().unwrap_or(self.any)
    }

    /// Whether nothing can be started.
    pub fn is_empty(&self) -> bool {
        self.any == Permission::Deny
            && self.named.keys().all(|name| self.permission(name) == Permission::Deny)
    }

    /// What both allow.
    pub fn intersect(&self, other: &Programs) -> Programs {
        let any = self.any.min(other.any);
        let named = self
            .names(other)
            .into_iter()
            .map(|name| (name, self.permission(name).min(other.permission(name))))
            .filter(|(_, permission)| *permission != any)
            .map(|(name, permission)| (name.to_owned(), permission))
            .collect();
        Programs { any, named, confinement: self.confinement.min(other.confinement) }
    }

    /// Whether `other` allows all that this allows.
    pub fn inside(&self, other: &Programs) -> bool {
        self.any <= other.any
            && self
                .names(other)
                .into_iter()
                .all(|name| self.permission(name) <= other.permission(name))
            && match self.confinement {
                Confinement::Os => true,
                Confinement::None => other.confinement == Confinement::None,
            }
    }

    /// The names that either speaks of; about all others only `any` decides.
    pub(super) fn names<'a>(&'a self, other: &'a Programs) -> BTreeSet<&'a str> {
        self.named.keys().chain(other.named.keys()).map(String::as_str).collect()
    }
}
