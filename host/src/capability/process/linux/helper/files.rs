//! Landlock: the same rules as the mounts, kept by another part of the kernel.
//!
//! The mounts decide what exists for the process. Landlock decides what it may do with a file,
//! by the path that leads there, and holds even if a mount were got around. It also keeps signals
//! and abstract sockets inside, where the kernel can. Older kernels know fewer rights; those that
//! they know are enforced. A kernel without Landlock is refused.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::root::OWN_EXECUTABLE;
use super::system;
use crate::capability::process::linux::wire::{Order, OrderedProgram, Refusal};

/// The newest set of rights that this was written for.
const NEWEST: ABI = ABI::V9;

/// Confines this process and all that it starts.
pub(super) fn confine(order: &Order) -> Result<(), Refusal> {
    let status = rules(order)
        .and_then(|rules| rules.restrict_self().map_err(io::Error::other))
        .map_err(Refusal::step("applying Landlock rules"))?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err(Refusal::Unavailable {
            step: "applying Landlock rules".to_owned(),
            error: "the kernel has no Landlock, or it is not switched on".to_owned(),
        });
    }
    Ok(())
}

fn rules(order: &Order) -> io::Result<RulesetCreated> {
    let all = AccessFs::from_all(NEWEST);
    let read = AccessFs::from_read(NEWEST);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)
        .map_err(io::Error::other)?
        .scope(Scope::from_all(NEWEST))
        .map_err(io::Error::other)?;
    if !order.proxy {
        // No port is ever allowed below.
        rules = rules.handle_access(AccessNet::from_all(NEWEST)).map_err(io::Error::other)?;
    }
    let mut rules = rules.create().map_err(io::Error::other)?;
    for path in system::DIRECTORIES {
        rules = allow(rules, path, read)?;
    }
    // Listing the root and what has no rule of its own shows the names of mounts, no more.
    rules = allow(rules, "/", AccessFs::ReadDir.into())?;
    rules = allow(rules, "/etc", AccessFs::ReadFile | AccessFs::ReadDir)?;
    rules = allow(rules, "/proc", AccessFs::ReadFile | AccessFs::ReadDir)?;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    for name in system::DEVICES {
        rules = allow(rules, Path::new("/dev").join(name), device)?;
    }
    for path in ["/tmp", "/dev/shm"] {
        rules = allow(rules, path, all)?;
    }
    for path in &order.toolchains {
        rules = allow(rules, path, read)?;
    }
    if let OrderedProgram::Own = order.program {
        rules = allow(rules, OWN_EXECUTABLE, AccessFs::ReadFile | AccessFs::Execute)?;
    }
    for dir in &order.dirs {
        rules = allow(rules, &dir.guest_path, if dir.writable { all } else { read })?;
    }
    Ok(rules)
}

/// Adds a rule for what is below `path`; for nothing, if there is nothing.
fn allow(
    rules: RulesetCreated,
    path: impl AsRef<Path>,
    access: BitFlags<AccessFs>,
) -> io::Result<RulesetCreated> {
    let path = path.as_ref();
    let Ok(metadata) = path.metadata() else { return Ok(rules) };
    // The kernel refuses rights for a file that only a directory can have.
    let access = if metadata.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
    let path = PathFd::new(path).map_err(io::Error::other)?;
    rules.add_rule(PathBeneath::new(path, access)).map_err(io::Error::other)
}
