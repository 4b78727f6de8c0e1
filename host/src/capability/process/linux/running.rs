//! A helper that runs, as the host holds it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType, shutdown, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe::{Receiver, Sender};

use super::helper::HELPER_ARGUMENT;
use super::wire::{Order, Report, receive_report, send_order};
use crate::capability::process::spec::HelperExe;

/// How long a helper may take to end the tree and to look through the granted directories. It
/// has only code of ours to run; past this it is killed, and the kernel ends the tree.
pub(super) const STOP_GRACE: Duration = Duration::from_secs(30);

/// Between two looks at a helper that was told to stop.
const REAP_PAUSE: Duration = Duration::from_millis(5);

/// The helper of one process. Dropping it ends the process tree, and a thread waits for that, so
/// that nothing stays behind as a zombie.
pub(super) struct Running {
    /// Closed to stop the tree.
    socket: Option<AsyncFd<OwnedFd>>,
    child: Option<Child>,
    /// Can be read when the helper has ended.
    ended: AsyncFd<OwnedFd>,
}

/// The host's ends of the program's streams.
pub(super) struct Streams {
    pub stdin: Sender,
    pub stdout: Receiver,
    pub stderr: Receiver,
}

impl Running {
    pub fn start(
        helper: &HelperExe,
        order: &Order,
        dirs: &[BorrowedFd<'_>],
    ) -> io::Result<(Running, Streams)> {
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let (stdin, stdin_in) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stdout_out, stdout) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stderr_out, stderr) = pipe_with(PipeFlags::CLOEXEC)?;
        // Nothing here that needs code between fork and exec: a host with much memory mapped is
        // slow to fork, and this way it need not.
        let child = Command::new(&helper.0)
            .arg0("xzatoma")
            .arg(HELPER_ARGUMENT)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::from(stdout))
            .stderr(Stdio::from(stderr))
            .spawn()?;
        let mut child = Unattended(Some(child));
        send_order(ours.as_fd(), order, stdin.as_fd(), dirs)?;
        drop(stdin);
        let pid = child.0.as_ref().and_then(|child| Pid::from_raw(child.id() as i32));
        let pid = pid.ok_or_else(|| io::Error::other("a process without a number"))?;
        let ended = watched(pidfd_open(pid, PidfdFlags::empty())?)?;
        fcntl_setfl(&ours, fcntl_getfl(&ours)? | OFlags::NONBLOCK)?;
        let socket = watched(ours)?;
        let streams = Streams {
            stdin: Sender::from_owned_fd(stdin_in)?,
            stdout: Receiver::from_owned_fd(stdout_out)?,
            stderr: Receiver::from_owned_fd(stderr_out)?,
        };
        Ok((Running { socket: Some(socket), child: child.0.take(), ended }, streams))
    }

    /// The next report; none when the helper has ended. Nothing is lost when this is dropped.
    pub async fn next_report(&self) -> io::Result<Option<(Report, Vec<OwnedFd>)>> {
        let Some(socket) = &self.socket else { return Ok(None) };
        let received =
            socket.async_io(Interest::READABLE, |socket| receive_report(socket.as_fd())).await;
        match received {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            other => other,
        }
    }

    /// Tells the helper to end the tree. It still reports.
    pub fn stop(&self) -> io::Result<()> {
        match &self.socket {
            Some(socket) => Ok(shutdown(socket.get_ref(), Shutdown::Write)?),
            None => Ok(()),
        }
    }

    /// Kills the helper, for when it does not stop.
    pub fn kill(&mut self) -> io::Result<()> {
        match &mut self.child {
            Some(child) => child.kill(),
            None => Ok(()),
        }
    }

    /// Waits until the helper has ended.
    pub async fn reap(&mut self) -> io::Result<()> {
        drop(self.ended.readable().await?);
        if let Some(child) = &mut self.child {
            child.wait()?;
            self.child = None;
        }
        Ok(())
    }
}

/// Has the runtime tell when there is something to read.
fn watched(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an owned descriptor is the same open one until it is dropped, here by the
    // `AsyncFd` itself, which never gives it away mutably.
    Ok(unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) }?)
}

impl Drop for Running {
    fn drop(&mut self) {
        self.socket = None;
        drop(Unattended(self.child.take()));
    }
}

/// A helper that nobody waits for any more.
struct Unattended(Option<Child>);

impl Drop for Unattended {
    fn drop(&mut self) {
        let Some(child) = self.0.take() else { return };
        let spawned = std::thread::Builder::new()
            .name("process-reaper".to_owned())
            .spawn(move || reap_within(child, STOP_GRACE));
        if let Err(error) = spawned {
            // The tree still ends, because the socket is closed; only a zombie stays.
            tracing::warn!(%error, "no thread to wait for a process helper");
        }
    }
}

fn reap_within(mut child: Child, grace: Duration) {
    let deadline = Instant::now() + grace;
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < deadline => std::thread::sleep(REAP_PAUSE),
            Ok(Some(_)) => return,
            Ok(None) | Err(_) => break,
        }
    }
    if let Err(error) = child.kill().and_then(|()| child.wait()) {
        tracing::warn!(%error, "a process helper could not be ended");
    }
}
