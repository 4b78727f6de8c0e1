//! The first process of a sandbox. It makes the sandbox from inside, starts the program in it,
//! and waits. When it ends, the kernel ends every process of the namespace with it, so nothing
//! that the program started can stay behind, however often it forked or changed its session.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus, getegid, geteuid,
    set_dumpable_behavior, set_parent_process_death_signal, wait,
};

use super::kernel::{self, Forked};
use super::program::{Streams, become_program};
use super::walk::Found;
use super::watch::{INTERVAL, Tree, Watch};
use super::{limits, root};
use crate::capability::process::linux::wire::{Ending, Order, Refusal, Report, send_report};

/// What both sides of the fork know.
pub(super) struct Sandbox<'a> {
    pub order: &'a mut Order,
    pub dirs: &'a [OwnedFd],
    /// Protected entries of each directory.
    pub found: &'a [Vec<Found>],
    pub ids: Ids,
    /// The helper has the other end.
    pub reports: OwnedFd,
}

impl Sandbox<'_> {
    /// Runs to the end of the program. The answer is the exit status of this process, which
    /// nobody reads: everything is said by reports.
    pub fn run(mut self, streams: Streams) -> i32 {
        let ending = self.start(streams).and_then(|program| {
            self.wait(program)
                .map_err(|error| Refusal::Failed(format!("waiting for the program: {error}")))
        });
        let report = match ending {
            Ok(ending) => Report::Ended(ending),
            Err(refusal) => Report::Refused(refusal),
        };
        // If the helper is gone there is nobody to tell.
        i32::from(send_report(self.reports.as_fd(), &report, &[]).is_err())
    }

    fn start(&mut self, streams: Streams) -> Result<Program, Refusal> {
        set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(io::Error::from)
            .map_err(Refusal::step("tying the sandbox to its helper"))?;
        if helper_is_gone(self.reports.as_fd()) {
            return Err(Refusal::Failed("the helper ended".to_owned()));
        }
        self.ids.map().map_err(Refusal::step("mapping user and group ids"))?;
        kernel::set_host_name("sandbox").map_err(Refusal::step("setting the host name"))?;
        if self.order.proxy {
            self.offer_proxy().map_err(Refusal::step("opening the proxy's port"))?;
        }
        root::enter(self.order, self.dirs, self.found)?;
        // From here on the program will share the namespace with this process. It must find
        // nothing to take: no capability, no descriptor, and no way to look inside.
        limits::drop_capabilities().map_err(Refusal::step("dropping capabilities"))?;
        set_dumpable_behavior(DumpableBehavior::NotDumpable)
            .map_err(io::Error::from)
            .map_err(Refusal::step("closing the first process to others"))?;
        let mut keep = vec![self.reports.as_fd()];
        keep.extend(streams.borrowed());
        kernel::close_all_but(&keep).map_err(Refusal::step("closing descriptors"))?;
        spawn(self.order, &[], streams)
    }

    /// Listens inside and hands the socket out: the host answers on it, and the program finds it
    /// in its environment.
    fn offer_proxy(&mut self) -> io::Result<()> {
        kernel::bring_loopback_up()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let url = format!("http://{}", listener.local_addr()?);
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            self.order.environment.insert(name.to_owned(), url.clone());
            self.order.environment.insert(name.to_lowercase(), url.clone());
        }
        send_report(self.reports.as_fd(), &Report::Listener, &[listener.as_fd()])
    }

    fn wait(&self, program: Program) -> io::Result<Ending> {
        let mut watch = Watch::new(Tree::Namespace, self.order);
        wait_for(&program, || watch.exceeded(), None).map(|ending| match ending {
            Some(ending) => ending,
            None => Ending::Signalled(Signal::KILL.as_raw()),
        })
    }
}

/// The program as its parent sees it.
pub(super) struct Program {
    pid: Pid,
    pidfd: OwnedFd,
}

/// Starts the program as a child of this process; by then it has become the program.
pub(super) fn spawn(order: &Order, dirs: &[OwnedFd], streams: Streams) -> Result<Program, Refusal> {
    let failed = |error: io::Error| Refusal::Failed(format!("starting a process: {error}"));
    let (trouble, trouble_out) =
        pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from).map_err(failed)?;
    // SAFETY: the helper has one thread, and never starts another.
    match unsafe { kernel::fork() }.map_err(failed)? {
        Forked::Child => {
            let refusal = become_program(order, dirs, streams);
            let told = serde_json::to_vec(&refusal)
                .map_err(io::Error::from)
                .and_then(|text| std::fs::File::from(trouble_out).write_all(&text));
            // If even that failed, the parent sees a pipe that says nothing useful, and the
            // status.
            exit_now(if told.is_ok() { 126 } else { 127 })
        }
        Forked::Parent { pid, pidfd } => {
            drop((trouble_out, streams));
            let pid = Pid::from_raw(pid)
                .ok_or_else(|| Refusal::Failed("a process without a number".to_owned()))?;
            let mut text = Vec::new();
            std::fs::File::from(trouble).read_to_end(&mut text).map_err(failed)?;
            if text.is_empty() {
                // The pipe closed by itself when the program took over.
                return Ok(Program { pid, pidfd });
            }
            Err(serde_json::from_slice(&text)
                .unwrap_or_else(|error| Refusal::Failed(format!("starting a process: {error}"))))
        }
    }
}

/// Waits for the program, and meanwhile for orphans. None when `stop` could be read first.
pub(super) fn wait_for(
    program: &Program,
    mut exceeded: impl FnMut() -> Option<String>,
    stop: Option<BorrowedFd<'_>>,
) -> io::Result<Option<Ending>> {
    loop {
        // Orphans first: whoever looks at the program's status afterwards has reaped before.
        if let Some(status) = reap(Some(program.pid))? {
            return Ok(Some(ending(status)));
        }
        if let Some(what) = exceeded() {
            return Ok(Some(Ending::Limit(what)));
        }
        let mut wanted = vec![PollFd::new(&program.pidfd, PollFlags::IN)];
        wanted.extend(stop.as_ref().map(|stop| PollFd::new(stop, PollFlags::IN)));
        poll_for(&mut wanted, Some(Instant::now() + INTERVAL))?;
        if wanted.get(1).is_some_and(|stop| !stop.revents().is_empty()) {
            return Ok(None);
        }
    }
}

/// Takes the status of every child that has ended; answers that of `program` if it is among them.
pub(super) fn reap(program: Option<Pid>) -> io::Result<Option<WaitStatus>> {
    let mut answer = None;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if Some(pid) == program => answer = Some(status),
            Ok(Some(_)) => {}
            Ok(None) | Err(rustix::io::Errno::CHILD) => return Ok(answer),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn ending(status: WaitStatus) -> Ending {
    match status.terminating_signal() {
        Some(signal) => Ending::Signalled(signal),
        None => Ending::Exited(status.exit_status().unwrap_or_default()),
    }
}

/// Waits until one of them is ready or the time has come; for ever without one.
pub(super) fn poll_for(wanted: &mut [PollFd<'_>], until: Option<Instant>) -> io::Result<()> {
    loop {
        let timeout = until.map(|until| {
            let left = until.saturating_duration_since(Instant::now());
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() }
        });
        match poll(wanted, timeout.as_ref()) {
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Ends this process at once, without running anything that the parent will run too.
pub(super) fn exit_now(status: i32) -> ! {
    // SAFETY: ends the process, whatever its state.
    unsafe { libc::_exit(status) }
}

/// The death signal is for a parent that dies from now on; this is for one that already did.
fn helper_is_gone(reports: BorrowedFd<'_>) -> bool {
    let mut wanted = [PollFd::new(&reports, PollFlags::IN)];
    poll_for(&mut wanted, Some(Instant::now())).is_err() || !wanted[0].revents().is_empty()
}

/// Who the user is. Inside, until the ids are mapped, everybody is "nobody".
#[derive(Debug, Clone, Copy)]
pub(super) struct Ids {
    user: u32,
    group: u32,
}

impl Ids {
    pub fn current() -> Ids {
        Ids { user: geteuid().as_raw(), group: getegid().as_raw() }
    }

    /// Inside, the user is who they are outside, and there is nobody else.
    fn map(self) -> io::Result<()> {
        let Ids { user, group } = self;
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
    }
}
