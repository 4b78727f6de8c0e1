//! A program without a sandbox: limits, a clean environment, no descriptors but its own, and an
//! end that covers all that it started.
//!
//! Without a process namespace the tree has to be found. The helper makes itself the parent of
//! every orphan below it, so what was started here stays below it, whatever session it is in.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::process::{Signal, WaitOptions, kill_process, set_child_subreaper, wait};

use super::init::{spawn, wait_for};
use super::program::Streams;
use super::watch::{Tree, Watch};
use crate::capability::process::linux::wire::{Ending, Order, Refusal, Report, send_report};

/// Between two rounds of killing: a process that was just forked is found in the next.
const PAUSE: Duration = Duration::from_millis(1);

/// After this many rounds what is left cannot be killed: it sits in the kernel, waiting for a
/// device.
const MAX_ROUNDS: usize = 5_000;

/// Runs the program. Nothing is undone afterwards, since nothing was protected.
pub(super) fn run(
    host: BorrowedFd<'_>,
    order: Order,
    dirs: Vec<OwnedFd>,
    streams: Streams,
) -> Result<Vec<String>, Refusal> {
    let failed = |error: io::Error| Refusal::Failed(format!("following the process: {error}"));
    set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| Refusal::Failed(format!("becoming the parent of orphans: {error}")))?;
    let program = spawn(&order, &dirs, streams)?;
    drop(dirs);
    let mut watch = Watch::new(Tree::Descendants, &order);
    let ending = wait_for(&program, || watch.exceeded(), Some(host.as_fd()));
    end_tree().map_err(failed)?;
    let ending = ending.map_err(failed)?.unwrap_or(Ending::Signalled(Signal::KILL.as_raw()));
    // A host that is gone needs no report.
    let _ = send_report(host, &Report::Ended(ending), &[]);
    Ok(Vec::new())
}

/// Kills everything below this process until nothing is left.
fn end_tree() -> io::Result<()> {
    for _ in 0..MAX_ROUNDS {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => break,
                Err(rustix::io::Errno::CHILD) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        for pid in Tree::Descendants.members() {
            // One that has ended since the list was made is what we want.
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(PAUSE);
    }
    Err(io::Error::other("some processes could not be ended"))
}
