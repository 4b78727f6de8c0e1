//! The three levels, each as a grant.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::{
    Access, Authority, Capability, Confinement, DirGrant, Dirs, Grant, GuestPath, HostRule, Limits,
    Network, Permission, Programs,
};

/// What a process may see of the user's environment unless more is named. `PATH` is not among
/// them: whoever starts a process sets one of its own.
const DEFAULT_ENVIRONMENT: [&str; 4] = ["LANG", "LC_ALL", "TERM", "TZ"];

/// How far a session is trusted. Ordered: each allows less than the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// For untrusted tasks.
    Strict,
    /// For one's own project.
    #[default]
    Standard,
    /// For a throw-away machine.
    Trusted,
}

/// What the user adds to a level.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct LevelOptions {
    /// Directories that may be written, beside the workspace where the level allows that.
    pub write: Vec<GuestPath>,
    /// Further directories, under trusted.
    pub dirs: Vec<DirGrant>,
    pub hosts: Vec<HostRule>,
    /// Programs that are started without asking.
    pub commands: Vec<String>,
    /// Names of environment variables; under strict there are none.
    pub environment: BTreeSet<String>,
    pub limits: Limits,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Strict, Level::Standard, Level::Trusted];

    pub fn as_str(self) -> &'static str {
        match self {
            Level::Strict => "strict",
            Level::Standard => "standard",
            Level::Trusted => "trusted",
        }
    }

    /// Whether the user may be asked at all. Under strict, what is not granted is denied at once.
    pub fn asks(self) -> bool {
        self != Level::Strict
    }

    /// All that a tool can have at this level.
    pub fn authority(self, options: &LevelOptions) -> Authority {
        Authority {
            dirs: self.dirs(options),
            network: self.network(options),
            programs: self.programs(options),
            environment: self.environment(options),
            limits: options.limits,
        }
    }

    /// The root agent's grant: every tool with the part of the authority that it asks for.
    pub fn grant(
        self,
        options: &LevelOptions,
        tools: impl IntoIterator<Item = (String, Vec<Capability>)>,
    ) -> Grant {
        let authority = self.authority(options);
        let tools = tools
            .into_iter()
            .map(|(name, capabilities)| (name, authority.for_capabilities(&capabilities)))
            .collect();
        Grant { tools }
    }

    /// The options that have no effect at this level, in words, so that nobody is left to wonder.
    pub fn ignored(self, options: &LevelOptions) -> Vec<String> {
        let granted = self.authority(options);
        let wanted =
            options.write.iter().map(|path| DirGrant { path: path.clone(), access: Access::Write });
        let mut ignored: Vec<String> = wanted
            .chain(options.dirs.iter().cloned())
            .filter(|dir| granted.dirs.access(&dir.path) < Some(dir.access))
            .map(|dir| format!("{dir}: not given under {self}"))
            .collect();
        ignored.extend(
            options
                .hosts
                .iter()
                .filter(|rule| !granted.network.rules.contains(rule))
                .map(|rule| format!("host {rule}: {self} never asks")),
        );
        ignored.extend(
            options
                .environment
                .difference(&granted.environment)
                .map(|name| format!("environment variable {name}: not given under {self}")),
        );
        ignored
    }

    fn dirs(self, options: &LevelOptions) -> Dirs {
        let workspace = |access| DirGrant { path: GuestPath::workspace(), access };
        let writable =
            options.write.iter().map(|path| DirGrant { path: path.clone(), access: Access::Write });
        match self {
            Level::Strict => Dirs::new(writable.chain([workspace(Access::Read)])),
            Level::Standard => Dirs::new(writable.chain([workspace(Access::Write)])),
            Level::Trusted => Dirs::new(
                writable.chain(options.dirs.iter().cloned()).chain([workspace(Access::Write)]),
            ),
        }
    }

    fn network(self, options: &LevelOptions) -> Network {
        let public = match self {
            Level::Strict => Permission::Deny,
            Level::Standard => Permission::Ask,
            Level::Trusted => Permission::Allow,
        };
        let usable = |rule: &&HostRule| self.asks() || rule.permission != Permission::Ask;
        Network { public, rules: options.hosts.iter().filter(usable).cloned().collect() }
    }

    fn programs(self, options: &LevelOptions) -> Programs {
        Programs {
            any: if self.asks() { Permission::Ask } else { Permission::Deny },
            named: options.commands.iter().map(|name| (name.clone(), Permission::Allow)).collect(),
            confinement: match self {
                Level::Strict | Level::Standard => Confinement::Os,
                Level::Trusted => Confinement::None,
            },
        }
    }

    fn environment(self, options: &LevelOptions) -> BTreeSet<String> {
        match self {
            Level::Strict => BTreeSet::new(),
            Level::Standard | Level::Trusted => {
                let default = DEFAULT_ENVIRONMENT.map(str::to_owned);
                options.environment.iter().cloned().chain(default).collect()
            }
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Level, String> {
        Level::ALL
            .into_iter()
            .find(|level| level.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not a level: choose strict, standard or trusted"))
    }
}
