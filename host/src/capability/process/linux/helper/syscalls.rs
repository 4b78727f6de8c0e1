//! The system calls that a confined program does without.
//!
//! Namespaces and Landlock decide what a program reaches. This list keeps it away from the parts
//! of the kernel that would give it more to reach, or that have a history of letting processes
//! out: tracing, new namespaces, mounts, keys, BPF, io_uring and the like. An answer is an error,
//! not a kill, so that programs which merely try go on. A call by another architecture's numbers
//! would slip past the list, so that one kills.
//!
//! Sockets: without a network there are none but connected pairs. That includes Unix sockets by
//! path, because a listener outside (an agent for keys, a container daemon) may have its socket
//! inside a granted directory, where neither a mount nor Landlock before 7.1 can tell it from a
//! file. With the proxy there are TCP sockets over IPv4 too, in a network with nothing but the
//! proxy.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

/// Since 6.15; the same number on every architecture.
const OPEN_TREE_ATTR: libc::c_long = 467;

/// Always "not permitted".
const DENIED: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_name_to_handle_at,
    libc::SYS_nfsservctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_shmget,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// The same, for calls that only this architecture has.
#[cfg(target_arch = "x86_64")]
const DENIED_HERE: &[libc::c_long] = &[
    libc::SYS_ioperm,
    libc::SYS_iopl,
    libc::SYS_kexec_file_load,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_HERE: &[libc::c_long] = &[];

/// "No such call": programs that know it also know what to do without.
///
/// The arguments of `clone3` and `openat2` are in memory, where no filter sees them. Files that
/// exist in memory alone are memory that no limit counts.
const ABSENT: &[libc::c_long] =
    &[libc::SYS_clone3, libc::SYS_openat2, libc::SYS_memfd_create, libc::SYS_memfd_secret];

/// Since 6.6; the same number on every architecture.
const FCHMODAT2: libc::c_long = 452;

/// Calls that take a mode: which argument it is, and which one holds the flags of `open`.
const WITH_MODE: &[(libc::c_long, u8, Option<u8>)] = &[
    (libc::SYS_fchmod, 1, None),
    (libc::SYS_fchmodat, 2, None),
    (FCHMODAT2, 2, None),
    (libc::SYS_mknodat, 2, None),
    (libc::SYS_openat, 3, Some(2)),
];

/// The same, for calls that only this architecture has.
#[cfg(target_arch = "x86_64")]
const WITH_MODE_HERE: &[(libc::c_long, u8, Option<u8>)] = &[
    (libc::SYS_chmod, 1, None),
    (libc::SYS_creat, 1, None),
    (libc::SYS_mknod, 1, None),
    (libc::SYS_open, 2, Some(1)),
];
#[cfg(not(target_arch = "x86_64"))]
const WITH_MODE_HERE: &[(libc::c_long, u8, Option<u8>)] = &[];

/// Flags of `open` with which the mode counts.
const CREATING: [libc::c_int; 2] = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];

/// Every flag of `clone` that makes a namespace. (One for time can be made by `unshare` alone.)
const NAMESPACE_FLAGS: [libc::c_int; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Requests to a terminal; numbers, because their type is not the same in every C library.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

/// Reads the setting and changes nothing.
const PERSONALITY_QUERY: u64 = 0xffff_ffff;

/// The bits of a socket's type that are not flags.
const SOCKET_TYPE_MASK: u64 = 0xf;

type Rules = BTreeMap<libc::c_long, Vec<SeccompRule>>;

/// Confines this process and all that it starts. It must not be able to gain privileges by then.
pub(super) fn confine(proxy: bool) -> io::Result<()> {
    let filters = [
        compile(denied(proxy)?, libc::EPERM)?,
        compile(ABSENT.iter().map(|call| (*call, Vec::new())).collect(), libc::ENOSYS)?,
    ];
    for filter in &filters {
        apply_filter(filter).map_err(io::Error::other)?;
    }
    #[cfg(target_arch = "x86_64")]
    apply_filter(&x32::filter()).map_err(io::Error::other)?;
    Ok(())
}

fn compile(rules: Rules, errno: libc::c_int) -> io::Result<seccompiler::BpfProgram> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let answer = SeccompAction::Errno(errno.unsigned_abs());
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, answer, arch).map_err(io::Error::other)?;
    filter.try_into().map_err(io::Error::other)
}

fn denied(proxy: bool) -> io::Result<Rules> {
    let mut rules: Rules =
        DENIED.iter().chain(DENIED_HERE).map(|call| (*call, Vec::new())).collect();
    let mut namespaces = Vec::new();
    for flag in NAMESPACE_FLAGS {
        let flag = u64::from(flag.unsigned_abs());
        namespaces.push(rule([condition(0, SeccompCmpOp::MaskedEq(flag), flag)?])?);
    }
    rules.insert(libc::SYS_clone, namespaces);
    rules.insert(
        libc::SYS_ioctl,
        vec![
            // Types into the terminal of whoever started this.
            rule([condition(1, SeccompCmpOp::Eq, TIOCSTI)?])?,
            rule([condition(1, SeccompCmpOp::Eq, TIOCLINUX)?])?,
        ],
    );
    rules.insert(
        libc::SYS_personality,
        vec![rule([
            condition(0, SeccompCmpOp::Ne, 0)?,
            condition(0, SeccompCmpOp::Ne, PERSONALITY_QUERY)?,
        ])?],
    );
    for (call, mode, flags) in WITH_MODE.iter().chain(WITH_MODE_HERE) {
        rules.insert(*call, foreign_identity(*mode, *flags)?);
    }
    rules.insert(libc::SYS_socket, sockets(proxy)?);
    rules.insert(
        libc::SYS_socketpair,
        vec![rule([condition(0, SeccompCmpOp::Ne, number(libc::AF_UNIX))?])?],
    );
    Ok(rules)
}

/// A file that runs as its owner, left in the workspace, would serve whoever finds it outside.
/// In the sandbox such bits mean nothing, so nothing is lost without them.
fn foreign_identity(mode: u8, flags: Option<u8>) -> io::Result<Vec<SeccompRule>> {
    let mut rules = Vec::new();
    for bit in [libc::S_ISUID, libc::S_ISGID].map(u64::from) {
        let with_bit = condition(mode, SeccompCmpOp::MaskedEq(bit), bit)?;
        let Some(flags) = flags else {
            rules.push(rule([with_bit])?);
            continue;
        };
        for creating in CREATING.map(number) {
            let creates = condition(flags, SeccompCmpOp::MaskedEq(creating), creating)?;
            rules.push(rule([with_bit.clone(), creates])?);
        }
    }
    Ok(rules)
}

/// What of `socket` is denied; no rules at all is everything.
fn sockets(proxy: bool) -> io::Result<Vec<SeccompRule>> {
    if !proxy {
        return Ok(Vec::new());
    }
    let stream = number(libc::SOCK_STREAM);
    let mut rules = vec![
        rule([condition(0, SeccompCmpOp::Ne, number(libc::AF_INET))?])?,
        rule([
            condition(2, SeccompCmpOp::Ne, 0)?,
            condition(2, SeccompCmpOp::Ne, number(libc::IPPROTO_TCP))?,
        ])?,
    ];
    for kind in (0..=SOCKET_TYPE_MASK).filter(|kind| *kind != stream) {
        rules.push(rule([condition(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE_MASK), kind)?])?);
    }
    Ok(rules)
}

fn number(value: libc::c_int) -> u64 {
    u64::from(value.unsigned_abs())
}

/// Compares the low half of an argument: the kernel does not look at the other for any of these.
fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> io::Result<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
        .map_err(io::Error::other)
}

fn rule<const N: usize>(conditions: [SeccompCondition; N]) -> io::Result<SeccompRule> {
    SeccompRule::new(conditions.into()).map_err(io::Error::other)
}

/// The third set of numbers on this architecture, which passes for the first.
#[cfg(target_arch = "x86_64")]
mod x32 {
    use seccompiler::{BpfProgram, sock_filter};

    /// Set in every number of that set.
    const X32_BIT: u32 = 0x4000_0000;

    const LOAD_CALL_NUMBER: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;

    pub fn filter() -> BpfProgram {
        vec![
            sock_filter { code: LOAD_CALL_NUMBER, jt: 0, jf: 0, k: 0 },
            sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: X32_BIT },
            sock_filter { code: RETURN, jt: 0, jf: 0, k: libc::SECCOMP_RET_KILL_PROCESS },
            sock_filter { code: RETURN, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW },
        ]
    }
}
