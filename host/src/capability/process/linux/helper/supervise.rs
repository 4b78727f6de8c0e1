//! Around a sandbox: before, what must be protected is found; meanwhile, reports pass through;
//! afterwards, what must be undone is undone.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::event::{PollFd, PollFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Signal, pidfd_send_signal};

use super::hidden::hidden_below;
use super::init::{Ids, Sandbox, exit_now, poll_for, reap};
use super::kernel::{self, Forked};
use super::placeholder::Placeholder;
use super::program::Streams;
use super::sweep::{Denials, sweep};
use super::walk::{Found, protected_entries};
use crate::capability::process::linux::wire::{
    Ending, Order, Refusal, Report, receive_report, send_report,
};
use crate::policy::PROTECTED_NAME;

/// Runs the program in a sandbox and answers what had to be undone.
pub(super) fn run(
    host: BorrowedFd<'_>,
    order: Order,
    dirs: Vec<OwnedFd>,
    streams: Streams,
) -> Result<Vec<String>, Refusal> {
    let mut held = Vec::new();
    let result = find_protected(&order, &dirs, &mut held)
        .and_then(|found| run_protected(host, order, &dirs, &found, streams));
    for placeholder in held {
        placeholder.release();
    }
    result
}

fn run_protected(
    host: BorrowedFd<'_>,
    mut order: Order,
    dirs: &[OwnedFd],
    found: &[Vec<Found>],
    streams: Streams,
) -> Result<Vec<String>, Refusal> {
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(|error| Refusal::Failed(format!("making a socket pair: {error}")))?;
    let ids = Ids::current();
    // SAFETY: this process has one thread, and never starts another.
    let forked = unsafe { kernel::fork_into_namespaces() };
    match forked.map_err(Refusal::step("making namespaces"))? {
        Forked::Child => {
            drop(ours);
            let sandbox = Sandbox { order: &mut order, dirs, found, ids, reports: theirs };
            exit_now(sandbox.run(streams))
        }
        Forked::Parent { pidfd, .. } => {
            drop((theirs, streams));
            follow(host, ours.as_fd(), pidfd.as_fd())?;
        }
    }
    let mut denials = Denials::default();
    for ((dir, handle), found) in order.dirs.iter().zip(dirs).zip(found) {
        if dir.writable {
            sweep(handle.as_fd(), &dir.guest_path, found, &mut denials);
        }
    }
    Ok(denials.into_lines())
}

/// Finds what is protected in each directory, and holds the places of what is not there.
fn find_protected(
    order: &Order,
    dirs: &[OwnedFd],
    held: &mut Vec<Placeholder>,
) -> Result<Vec<Vec<Found>>, Refusal> {
    let mut all = Vec::new();
    for (dir, handle) in order.dirs.iter().zip(dirs) {
        if !dir.writable {
            all.push(Vec::new());
            continue;
        }
        held.extend(hold(handle.as_fd(), &dir.guest_path, Path::new(PROTECTED_NAME))?);
        let mut found = protected_entries(handle.as_fd()).map_err(|incomplete| {
            Refusal::Limit(format!(
                "{} cannot be given to a process for writing: {incomplete}; \
                 grant a smaller directory, or this one for reading only",
                dir.guest_path
            ))
        })?;
        let host_path = std::fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd()))
            .map_err(|error| Refusal::Failed(format!("{}: {error}", dir.guest_path)))?;
        for hidden in hidden_below(&host_path, &order.hidden)? {
            if let Some(placeholder) = hold(handle.as_fd(), &dir.guest_path, &hidden)? {
                found.extend(
                    placeholder
                        .as_found()
                        .map_err(|error| Refusal::Failed(format!("{}: {error}", dir.guest_path)))?,
                );
                held.push(placeholder);
            }
        }
        all.push(found);
    }
    Ok(all)
}

fn hold(
    root: BorrowedFd<'_>,
    guest_path: &str,
    place: &Path,
) -> Result<Option<Placeholder>, Refusal> {
    Placeholder::hold(root, place).map_err(|error| match error {
        rustix::io::Errno::NOENT => {
            Refusal::NotFound(format!("the granted directory {guest_path} was removed"))
        }
        error => Refusal::Failed(format!(
            "holding the place of {guest_path}/{}: {error}",
            place.display()
        )),
    })
}

/// Passes reports on until the sandbox is gone with all that was in it.
fn follow(
    host: BorrowedFd<'_>,
    sandbox: BorrowedFd<'_>,
    init: BorrowedFd<'_>,
) -> Result<(), Refusal> {
    let failed = |error: io::Error| Refusal::Failed(format!("following the sandbox: {error}"));
    let mut told = false;
    // A socket whose other end is closed can always be read, so it is asked only once more.
    let mut sandbox_speaks = true;
    let mut stopped = false;
    loop {
        let mut wanted = vec![PollFd::new(&init, PollFlags::IN)];
        wanted.extend(sandbox_speaks.then(|| PollFd::new(&sandbox, PollFlags::IN)));
        wanted.extend((!stopped).then(|| PollFd::new(&host, PollFlags::IN)));
        poll_for(&mut wanted, None).map_err(failed)?;
        let is_ready = |fd: BorrowedFd<'_>| {
            wanted
                .iter()
                .any(|one| one.as_fd().as_raw_fd() == fd.as_raw_fd() && !one.revents().is_empty())
        };
        let (ended, spoke, stop_now) = (is_ready(init), is_ready(sandbox), is_ready(host));
        if stop_now {
            // The host has nothing to say after the order, so this is its end.
            stopped = true;
            stop(init).map_err(failed)?;
        }
        if spoke {
            match pass_on(sandbox, host).map_err(failed)? {
                Some(is_ending) => told |= is_ending,
                None => sandbox_speaks = false,
            }
        } else if ended {
            break;
        }
    }
    reap(None).map_err(failed)?;
    if !told {
        if !stopped {
            return Err(Refusal::Failed("the sandbox ended without a word".to_owned()));
        }
        let ended = Report::Ended(Ending::Signalled(Signal::KILL.as_raw()));
        // A host that is gone needs no report.
        let _ = send_report(host, &ended, &[]);
    }
    Ok(())
}

fn stop(init: BorrowedFd<'_>) -> io::Result<()> {
    match pidfd_send_signal(init, Signal::KILL) {
        // It has ended by itself.
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Passes one report on. Answers whether it tells how the program ended; none at the end.
fn pass_on(sandbox: BorrowedFd<'_>, host: BorrowedFd<'_>) -> io::Result<Option<bool>> {
    let Some((report, descriptors)) = receive_report(sandbox)? else { return Ok(None) };
    let descriptors: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
    // A host that is gone needs no report; that it is gone is seen elsewhere.
    let _ = send_report(host, &report, &descriptors);
    Ok(Some(matches!(report, Report::Ended(_) | Report::Refused(_))))
}
