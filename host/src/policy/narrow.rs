//! How a grant shrinks on the way down.
//!
//! `intersect` builds the smaller authority; `inside` says whether one is within another and
//! shares no code with it, so that each can be tested with the other.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{
    Authority, Capability, Confinement, Dirs, Grant, Limits, Network, Permission, Programs,
};

/// Something that was asked for and that the parent did not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dropped {
    pub tool: String,
    /// In words for people.
    pub what: String,
}

impl Authority {
    /// What both allow.
    pub fn intersect(&self, other: &Authority) -> Authority {
        Authority {
            dirs: self.dirs.intersect(&other.dirs),
            network: self.network.intersect(&other.network),
            programs: self.programs.intersect(&other.programs),
            environment: &self.environment & &other.environment,
            limits: self.limits.intersect(&other.limits),
        }
    }

    /// Whether `other` allows all that this allows.
    pub fn inside(&self, other: &Authority) -> bool {
        self.dirs.inside(&other.dirs)
            && self.network.inside(&other.network)
            && self.programs.inside(&other.programs)
            && self.environment.is_subset(&other.environment)
            && self.limits.inside(&other.limits)
    }

    /// The part of it that a tool with these capabilities can use.
    pub fn for_capabilities(&self, capabilities: &[Capability]) -> Authority {
        let has = |capability| capabilities.contains(&capability);
        let process = has(Capability::Process);
        let dirs = if process || has(Capability::FilesWrite) {
            self.dirs.clone()
        } else if has(Capability::FilesRead) {
            self.dirs.read_only()
        } else {
            Dirs::default()
        };
        let network = if process || has(Capability::Http) {
            self.network.clone()
        } else {
            Network::default()
        };
        let (programs, environment) = if process {
            (self.programs.clone(), self.environment.clone())
        } else {
            (Programs::default(), BTreeSet::new())
        };
        Authority { dirs, network, programs, environment, limits: self.limits }
    }
}

impl Grant {
    /// A child's grant: what was requested, as far as this grant has it, and what was left out.
    pub fn narrow(&self, requested: &Grant) -> (Grant, Vec<Dropped>) {
        let mut child = Grant::default();
        let mut dropped = Vec::new();
        for (tool, wanted) in &requested.tools {
            let mut report = |what: String| dropped.push(Dropped { tool: tool.clone(), what });
            match self.tools.get(tool) {
                Some(held) => {
                    missing(wanted, held).into_iter().for_each(report);
                    child.tools.insert(tool.clone(), wanted.intersect(held));
                }
                None => report("the tool itself".to_owned()),
            }
        }
        (child, dropped)
    }

    /// Whether `other` has every tool of this one, each with at least its authority.
    pub fn inside(&self, other: &Grant) -> bool {
        self.tools
            .iter()
            .all(|(tool, mine)| other.tools.get(tool).is_some_and(|theirs| mine.inside(theirs)))
    }
}

/// All that `wanted` has and `held` has not; empty exactly when `wanted` is inside `held`.
fn missing(wanted: &Authority, held: &Authority) -> Vec<String> {
    let mut missing = missing_dirs(&wanted.dirs, &held.dirs);
    missing.extend(missing_hosts(&wanted.network, &held.network));
    missing.extend(missing_programs(&wanted.programs, &held.programs));
    missing.extend(
        wanted
            .environment
            .difference(&held.environment)
            .map(|name| format!("the environment variable {name}")),
    );
    missing.extend(missing_limits(&wanted.limits, &held.limits));
    missing
}

fn missing_dirs(wanted: &Dirs, held: &Dirs) -> Vec<String> {
    wanted
        .iter()
        .filter(|dir| held.access(&dir.path) < Some(dir.access))
        .map(|dir| {
            let left = Dirs::new([dir.clone()]).intersect(held);
            format!("{dir}{}", except(left.iter()))
        })
        .collect()
}

fn missing_hosts(wanted: &Network, held: &Network) -> Vec<String> {
    let mut missing = Vec::new();
    if wanted.public > held.public {
        let all = Network { public: wanted.public, rules: Vec::new() };
        let left = all.intersect(held);
        missing.push(format!(
            "public hosts{}{}",
            how(wanted.public, held.public),
            except(left.rules.iter())
        ));
    }
    for rule in &wanted.rules {
        let alone = Network { public: Permission::Deny, rules: vec![rule.clone()] };
        if !alone.inside(held) {
            let left = alone.intersect(held);
            missing.push(format!("host {rule}{}", except(left.rules.iter())));
        }
    }
    missing
}

fn missing_programs(wanted: &Programs, held: &Programs) -> Vec<String> {
    let mut missing = Vec::new();
    if wanted.any > held.any {
        missing.push(format!("programs that are not named{}", how(wanted.any, held.any)));
    }
    for name in wanted.names(held) {
        let (asked, has) = (wanted.permission(name), held.permission(name));
        if asked > has {
            missing.push(format!("program {name}{}", how(asked, has)));
        }
    }
    if wanted.confinement == Confinement::None && held.confinement == Confinement::Os {
        missing.push("programs outside the operating system's sandbox".to_owned());
    }
    missing
}

fn missing_limits(wanted: &Limits, held: &Limits) -> Vec<String> {
    let pairs = wanted.named().into_iter().zip(held.named());
    pairs
        .filter(|((_, asked), (_, has))| asked > has)
        .map(|((what, asked), (_, has))| format!("{asked} {what}: there are {has}"))
        .collect()
}

/// What became of a permission, where something is left of it.
fn how(asked: Permission, has: Permission) -> &'static str {
    match (asked, has) {
        (Permission::Allow, Permission::Ask) => " without asking",
        _ => "",
    }
}

/// What is left of something that was dropped in part.
fn except<T: ToString>(left: impl Iterator<Item = T>) -> String {
    let left: Vec<String> = left.map(|item| item.to_string()).collect();
    if left.is_empty() { String::new() } else { format!(", except {}", left.join(", ")) }
}
