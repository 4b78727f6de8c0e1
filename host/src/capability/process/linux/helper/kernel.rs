//! System calls that no safe wrapper offers, each as one small function.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::fd::IntoRawFd;

/// The namespaces of a sandbox. The one for control groups is asked for first and given up where
/// the kernel has none: it hides names, nothing more.
const NAMESPACES: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS;

/// Which side of a fork this is.
pub(super) enum Forked {
    Child,
    Parent { pid: libc::pid_t, pidfd: OwnedFd },
}

/// Forks into new namespaces; the child is the first process of its own.
///
/// # Safety
///
/// The process has one thread.
pub(super) unsafe fn fork_into_namespaces() -> io::Result<Forked> {
    // SAFETY: passed on to the caller.
    match unsafe { raw_clone(NAMESPACES | libc::CLONE_NEWCGROUP) } {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            // SAFETY: passed on to the caller.
            unsafe { raw_clone(NAMESPACES) }
        }
        other => other,
    }
}

/// Forks.
///
/// # Safety
///
/// The process has one thread.
pub(super) unsafe fn fork() -> io::Result<Forked> {
    // SAFETY: passed on to the caller.
    unsafe { raw_clone(0) }
}

/// # Safety
///
/// The process has one thread.
unsafe fn raw_clone(flags: libc::c_int) -> io::Result<Forked> {
    let mut pidfd: RawFd = -1;
    let flags = (flags | libc::CLONE_PIDFD | libc::SIGCHLD) as libc::c_ulong;
    // SAFETY: without CLONE_VM and with no stack given this is a fork. There is one thread, so no
    // lock is left held in the child. `pidfd` outlives the call. On x86-64 and aarch64 the first
    // three arguments are flags, stack and the address for the descriptor.
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone,
            flags,
            std::ptr::null::<u8>(),
            &mut pidfd,
            0 as libc::c_ulong,
            0 as libc::c_ulong,
        )
    };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        pid => {
            // SAFETY: the kernel has just made it for us, close-on-exec.
            let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
            Ok(Forked::Parent { pid: pid as libc::pid_t, pidfd })
        }
    }
}

/// Closes every descriptor from 3 on but these.
pub(super) fn close_all_but(keep: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut kept: Vec<u32> = keep.iter().map(|fd| fd.as_raw_fd() as u32).collect();
    kept.sort_unstable();
    let mut first = 3;
    for fd in kept.into_iter().filter(|fd| *fd >= 3) {
        if fd > first {
            close_range(first, fd - 1, 0)?;
        }
        first = fd + 1;
    }
    close_range(first, u32::MAX, 0)
}

/// Lets nothing but the standard streams through the next `exec`.
pub(super) fn close_all_on_exec() -> io::Result<()> {
    close_range(3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC)
}

fn close_range(first: u32, last: u32, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: takes numbers only. The callers name what they still use.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) })
}

/// Moves a descriptor onto one of the standard streams.
pub(super) fn become_stream(fd: OwnedFd, stream: RawFd) -> io::Result<()> {
    let raw = fd.into_raw_fd();
    if raw == stream {
        // It is there already; only the flag has to go.
        // SAFETY: plain numbers.
        return check(unsafe { libc::fcntl(raw, libc::F_SETFD, 0) }.into());
    }
    // SAFETY: both are numbers of ours; the standard streams belong to nobody else here.
    check(unsafe { libc::dup2(raw, stream) }.into())?;
    // SAFETY: taken out of its owner above.
    check(unsafe { libc::close(raw) }.into())
}

/// A copy of a standard stream with a number above them.
pub(super) fn take_stream(stream: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: plain numbers.
    let fd = unsafe { libc::fcntl(stream, libc::F_DUPFD_CLOEXEC, 3) };
    check(fd.into())?;
    // SAFETY: just made.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Gives every signal its default disposition and blocks none: both pass through `exec`, and the
/// Rust runtime ignores SIGPIPE.
pub(super) fn reset_signals() -> io::Result<()> {
    for signal in 1..=64 {
        if [libc::SIGKILL, libc::SIGSTOP, 32, 33].contains(&signal) {
            // The first two cannot be changed, the others belong to the C library.
            continue;
        }
        // SAFETY: SIG_DFL is no code of ours.
        if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    // SAFETY: an all-zero set is what sigemptyset makes, and it lives on the stack.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        check(libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut()).into())
    }
}

#[repr(C)]
struct MountAttr {
    attr_set: u64,
    attr_clr: u64,
    propagation: u64,
    userns_fd: u64,
}

pub(super) const MOUNT_ATTR_RDONLY: u64 = 0x1;
pub(super) const MOUNT_ATTR_NOSUID: u64 = 0x2;
pub(super) const MOUNT_ATTR_NODEV: u64 = 0x4;

/// Adds attributes to a mount and, when asked, to all below it.
pub(super) fn add_mount_attributes(
    mount: BorrowedFd<'_>,
    attributes: u64,
    recursive: bool,
) -> io::Result<()> {
    let attr = MountAttr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is a C string and the structure has the size that is told.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &attr,
            size_of::<MountAttr>(),
        )
    })
}

/// Brings the loopback interface of this network namespace up.
pub(super) fn bring_loopback_up() -> io::Result<()> {
    let socket = rustix::net::socket(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        None,
    )?;
    // SAFETY: a structure of numbers and bytes, for which zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the structure is what this request takes.
    check(
        unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCSIFFLAGS as _, &request) }
            .into(),
    )
}

pub(super) fn set_host_name(name: &str) -> io::Result<()> {
    // SAFETY: pointer and length belong together.
    check(unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) }.into())
}

fn check(result: libc::c_long) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
