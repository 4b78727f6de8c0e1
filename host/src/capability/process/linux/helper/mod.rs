//! The helper: a process of its own, with one thread, between the host and the program.
//!
//! Namespaces, limits and filters belong to a process, and only one with a single thread can set
//! them up for a child in safety. So the host starts its own executable again with
//! [`HELPER_ARGUMENT`], and that instance does it. It stays while the program runs, outside of
//! the sandbox:
//!
//! ```text
//! host ── helper ── init, first process of the sandbox ── program ── ...
//! ```
//!
//! It ends the tree when the host closes the socket between them, and a dying host closes it too.
//! Afterwards it undoes what the program must not leave behind. That it watches a socket and not
//! its parent matters: the kernel's signal for a dead parent comes when a thread ends, and the
//! host's threads come and go.

mod files;
mod hidden;
mod init;
mod kernel;
mod limits;
mod mount;
mod placeholder;
mod plain;
mod program;
mod protect;
mod root;
mod supervise;
mod sweep;
mod syscalls;
mod system;
mod walk;
mod watch;

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::wire::{Order, Refusal, Report, receive_order, send_report};
use program::Streams;

/// The first argument of a helper. It takes no others and is not for people.
pub(super) const HELPER_ARGUMENT: &str = "__sandboxed-process";

pub(super) use root::HOME;
pub(super) use system::DIRECTORIES as SYSTEM_DIRECTORIES;

/// Exit status when the helper was not started by a host.
const NOT_A_HOST: i32 = 2;

/// Exit status when there was nobody to report to any more.
const HOST_IS_GONE: i32 = 1;

/// Serves one order and ends the process.
pub(super) fn serve() -> ! {
    let status = match Connection::accept() {
        Ok(Some(connection)) => connection.serve(),
        Ok(None) => HOST_IS_GONE,
        Err(error) => {
            // Nobody but a person who tries it out reads this; if they do not, nothing is lost.
            let _ = writeln!(
                io::stderr(),
                "{HELPER_ARGUMENT} is started by xzatoma itself, with a socket: {error}"
            );
            NOT_A_HOST
        }
    };
    #[allow(clippy::disallowed_methods, reason = "the helper ends here, before `main` has begun")]
    std::process::exit(status)
}

/// What the host sent.
struct Connection {
    host: OwnedFd,
    order: Order,
    dirs: Vec<OwnedFd>,
    streams: Streams,
}

impl Connection {
    /// The host has put the socket where standard input is and the program's streams where ours
    /// are. None when it has gone already.
    fn accept() -> io::Result<Option<Connection>> {
        // A signal from the user's terminal is for the host; it will tell us.
        rustix::process::setsid()?;
        rustix::process::chdir("/")?;
        rustix::process::umask(Mode::from_raw_mode(0o022));
        limits::raise_own_open_files()?;
        limits::go_first();
        let host = kernel::take_stream(0)?;
        let stdout = kernel::take_stream(1)?;
        let stderr = kernel::take_stream(2)?;
        kernel::close_all_but(&[host.as_fd(), stdout.as_fd(), stderr.as_fd()])?;
        let Some((order, stdin, dirs)) = receive_order(host.as_fd())? else { return Ok(None) };
        // What is written to them from here on by mistake must not look like the program's.
        for stream in 0..3 {
            let null = rustix::fs::open(
                Path::new("/dev/null"),
                OFlags::RDWR | OFlags::CLOEXEC,
                Mode::empty(),
            )?;
            kernel::become_stream(null, stream)?;
        }
        Ok(Some(Connection { host, order, dirs, streams: Streams { stdin, stdout, stderr } }))
    }

    fn serve(self) -> i32 {
        let Connection { host, order, dirs, streams } = self;
        let outcome = if order.confined {
            supervise::run(host.as_fd(), order, dirs, streams)
        } else {
            plain::run(host.as_fd(), order, dirs, streams)
        };
        let denials = outcome.unwrap_or_else(|refusal: Refusal| {
            // The same as below: a host that is gone needs no report.
            let _ = send_report(host.as_fd(), &Report::Refused(refusal), &[]);
            Vec::new()
        });
        match send_report(host.as_fd(), &Report::Swept { denials }, &[]) {
            Ok(()) => 0,
            Err(_) => HOST_IS_GONE,
        }
    }
}
