//! Grants as plain data: what one agent holds, and how it shrinks on the way down.
//!
//! No I/O happens here and nothing here can open anything. A [`Grant`] says which tools an agent
//! has and, for each, an [`Authority`]: directories, hosts, programs, environment, limits.
//! [`Grant::narrow`] makes a child's grant; for any two grants the result is inside both, which
//! `inside` states independently and the property tests check.

mod address;
mod files;
mod host;
mod level;
mod limits;
mod narrow;
mod network;
mod path;
mod programs;
mod protected;
mod rule;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

pub use address::{AddressClass, classify};
pub use files::{Access, DirGrant, Dirs};
pub use host::HostName;
pub use level::{Level, LevelOptions};
pub use limits::Limits;
pub use narrow::Dropped;
pub use network::{Network, PUBLIC_PORTS};
pub use path::{GuestPath, PathError, WORKSPACE};
pub use programs::{Confinement, Programs};
pub use protected::{PROTECTED_NAME, is_protected_name};
pub use rule::HostRule;

/// A class of authority that a tool asks for, as in the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    FilesRead,
    FilesWrite,
    Http,
    Process,
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Capability::FilesRead => "files-read",
            Capability::FilesWrite => "files-write",
            Capability::Http => "http",
            Capability::Process => "process",
        })
    }
}

/// How freely something may be done. Ordered: each allows less than the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    #[default]
    Deny,
    /// The user is asked; where there is no user, denied.
    Ask,
    Allow,
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Permission::Deny => "deny",
            Permission::Ask => "ask",
            Permission::Allow => "allow",
        })
    }
}

/// Everything that one instance of one tool gets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Authority {
    pub dirs: Dirs,
    pub network: Network,
    pub programs: Programs,
    /// Names of the host's environment variables that a process may see.
    pub environment: BTreeSet<String>,
    pub limits: Limits,
}

/// What one agent holds: the tools it has, and the authority of each.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Grant {
    pub tools: BTreeMap<String, Authority>,
}
