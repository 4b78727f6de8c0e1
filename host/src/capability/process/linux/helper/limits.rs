//! Ceilings that the kernel keeps by itself. What it cannot keep is in [`super::watch`].

use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::{Mode, OFlags, openat};
use rustix::process::{Resource, Rlimit, setpriority_process, setrlimit};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits,
};

use crate::capability::process::linux::wire::Order;

/// Process ids below this are never used a second time.
const RESERVED_PROCESS_IDS: u32 = 300;

/// Descriptors of the helper itself: one for each protected entry and each level of a walk.
const HELPER_OPEN_FILES: u64 = 4096;

/// Lets the helper open as many files as it may need.
pub(super) fn raise_own_open_files() -> io::Result<()> {
    let now = rustix::process::getrlimit(Resource::Nofile);
    let most = now.maximum.unwrap_or(HELPER_OPEN_FILES).min(HELPER_OPEN_FILES);
    let wanted = now.current.unwrap_or(HELPER_OPEN_FILES).max(most);
    setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: now.maximum })?;
    Ok(())
}

/// Limits of the program, which it cannot raise again.
pub(super) fn limit_resources(order: &Order) -> io::Result<()> {
    // Written to and private is what costs memory. Address space would be simpler, but many
    // runtimes reserve far more of it than they ever use.
    set(Resource::Data, order.memory_bytes)?;
    // Not 0: a core dump that goes to a program of the host's, started by the kernel as root,
    // heeds only this value.
    set(Resource::Core, 1)?;
    set(Resource::Fsize, order.file_bytes)?;
    set(Resource::Nofile, order.open_files.into())?;
    set(Resource::Cpu, order.cpu_seconds)?;
    set(Resource::Msgqueue, 0)?;
    set(Resource::Memlock, 64 * 1024)?;
    if let Some(processes) = allowed_processes(order) {
        set(Resource::Nproc, processes)?;
    }
    Ok(())
}

/// The kernel counts the processes of a user. In a user namespace these are the sandbox's, since
/// 5.14; before, those outside count too but cannot be seen, and there is no right number.
/// Without a sandbox those that run already come on top.
fn allowed_processes(order: &Order) -> Option<u64> {
    let processes = u64::from(order.processes);
    if !order.confined {
        return Some(processes + super::watch::threads_of_user());
    }
    kernel_is_at_least(5, 14).then_some(processes)
}

/// Puts this process before everything that it starts, where it may: user 0 has no limit on
/// processes that the kernel would keep, so whoever counts them must not be starved by them.
pub(super) fn go_first() {
    // Where that is not allowed, the kernel's limit holds.
    let _ = setpriority_process(None, -20);
}

/// For the program, which gets the host's.
pub(super) fn set_priority(priority: i32) -> io::Result<()> {
    Ok(setpriority_process(None, priority)?)
}

/// Sets both the limit and its ceiling; what is lower already stays.
fn set(resource: Resource, value: u64) -> io::Result<()> {
    let ceiling = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let value = Some(value.min(ceiling));
    Ok(setrlimit(resource, Rlimit { current: value, maximum: value })?)
}

/// Bounds the numbers that processes of this namespace can have, and so how many there are.
///
/// The kernel does not apply its limit on processes to user 0, so for a host that runs as root
/// this is the one that stops a fork bomb at once. Before 6.14 the same file is a setting of the
/// whole machine and must not be touched.
pub(super) fn limit_process_ids(proc: BorrowedFd<'_>, processes: u32) -> io::Result<()> {
    if !kernel_is_at_least(6, 14) {
        return Ok(());
    }
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file = openat(proc, c"sys/kernel/pid_max", flags, Mode::empty())?;
    let most = RESERVED_PROCESS_IDS.saturating_add(processes.max(1)).to_string();
    rustix::io::write(file, most.as_bytes())?;
    Ok(())
}

/// Gives up every capability for good, whatever is started afterwards and as whom.
pub(super) fn drop_capabilities() -> io::Result<()> {
    set_capabilities_secure_bits(
        CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED,
    )?;
    clear_ambient_capability_set()?;
    for number in 0..u64::BITS {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            Ok(()) => {}
            // Past the last one that this kernel knows.
            Err(rustix::io::Errno::INVAL) => break,
            Err(error) => return Err(error.into()),
        }
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}

fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let Ok(release) = std::fs::read_to_string("/proc/sys/kernel/osrelease") else { return false };
    let mut numbers = release.split(['.', '-']).map(|part| part.trim().parse::<u32>());
    match (numbers.next(), numbers.next()) {
        (Some(Ok(first)), Some(Ok(second))) => (first, second) >= (major, minor),
        _ => false,
    }
}
