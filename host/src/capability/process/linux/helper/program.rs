//! The last steps of the process that becomes the program.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::process::{Signal, chdir, fchdir};

use super::kernel;
use super::limits;
use super::root::{HOME, OWN_EXECUTABLE};
use super::{files, syscalls};
use crate::capability::process::linux::wire::{Order, OrderedProgram, Refusal};

/// The program's standard streams.
pub(super) struct Streams {
    pub stdin: OwnedFd,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
}

impl Streams {
    pub fn borrowed(&self) -> [BorrowedFd<'_>; 3] {
        [self.stdin.as_fd(), self.stdout.as_fd(), self.stderr.as_fd()]
    }
}

/// Gives up everything and becomes the program. Comes back only with the reason why not.
pub(super) fn become_program(order: &Order, dirs: &[OwnedFd], streams: Streams) -> Refusal {
    match prepare(order, dirs, streams) {
        Ok(command) => command.execute(),
        Err(refusal) => refusal,
    }
}

fn prepare(order: &Order, dirs: &[OwnedFd], streams: Streams) -> Result<Command, Refusal> {
    let failed =
        |what: &'static str| move |error: io::Error| Refusal::Failed(format!("{what}: {error}"));
    let command = Command::new(order)?;
    rustix::process::setsid().map_err(io::Error::from).map_err(failed("starting a session"))?;
    if order.confined {
        chdir(order.directory.as_str()).map_err(|error| no_directory(order, error.into()))?;
    } else {
        // In a sandbox the first process dies with the helper, and takes everything with it.
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(io::Error::from)
            .map_err(failed("tying the program to its helper"))?;
        enter_granted_directory(order, dirs)?;
    }
    kernel::become_stream(streams.stdin, 0).map_err(failed("standard input"))?;
    kernel::become_stream(streams.stdout, 1).map_err(failed("standard output"))?;
    kernel::become_stream(streams.stderr, 2).map_err(failed("standard error"))?;
    kernel::reset_signals().map_err(failed("resetting signals"))?;
    kernel::close_all_on_exec().map_err(failed("closing descriptors"))?;
    rustix::thread::set_no_new_privs(true)
        .map_err(io::Error::from)
        .map_err(Refusal::step("giving up new privileges"))?;
    if order.confined {
        files::confine(order)?;
        syscalls::confine(order.proxy).map_err(Refusal::step("filtering system calls"))?;
    }
    limits::set_priority(order.priority).map_err(failed("setting the priority"))?;
    // Last, because the steps above need files and memory of their own.
    limits::limit_resources(order).map_err(failed("setting limits"))?;
    Ok(command)
}

fn no_directory(order: &Order, error: io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            Refusal::NotFound(format!("no such working directory: {}", order.directory))
        }
        _ => Refusal::Denied(format!("working directory {}: {error}", order.directory)),
    }
}

/// Without a sandbox a guest path means nothing; the granted directory itself is used.
fn enter_granted_directory(order: &Order, dirs: &[OwnedFd]) -> Result<(), Refusal> {
    let wanted = Path::new(&order.directory);
    if order.dirs.is_empty() {
        return chdir("/").map_err(|error| no_directory(order, error.into()));
    }
    let granted = order
        .dirs
        .iter()
        .zip(dirs)
        .filter_map(|(dir, handle)| Some((wanted.strip_prefix(&dir.guest_path).ok()?, handle)));
    // The innermost of them.
    let Some((below, handle)) = granted.min_by_key(|(below, _)| below.components().count()) else {
        let error = io::Error::other("it is in no granted directory");
        return Err(no_directory(order, error));
    };
    let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat2(handle, below, flags, Mode::empty(), ResolveFlags::BENEATH)
        .and_then(fchdir)
        .map_err(|error| no_directory(order, error.into()))
}

/// What `execve` takes, made while there is memory.
struct Command {
    path: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
}

impl Command {
    fn new(order: &Order) -> Result<Command, Refusal> {
        let path = match &order.program {
            OrderedProgram::Path(path) => path.clone(),
            OrderedProgram::Own if order.confined => PathBuf::from(OWN_EXECUTABLE),
            OrderedProgram::Own => PathBuf::from("/proc/self/exe"),
        };
        let mut environment = order.environment.clone();
        if order.confined {
            environment.insert("HOME".to_owned(), HOME.to_owned());
            environment.insert("TMPDIR".to_owned(), "/tmp".to_owned());
        }
        Ok(Command {
            path: c_string(path.as_os_str())?,
            arguments: std::iter::once(&order.name)
                .chain(&order.arguments)
                .map(|argument| c_string(OsStr::new(argument)))
                .collect::<Result<_, _>>()?,
            environment: environment
                .iter()
                .map(|(name, value)| c_string(OsStr::new(&format!("{name}={value}"))))
                .collect::<Result<_, _>>()?,
        })
    }

    fn execute(&self) -> Refusal {
        let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
            strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
        };
        let (arguments, environment) = (pointers(&self.arguments), pointers(&self.environment));
        // SAFETY: three C strings or lists of them, each ended by a null pointer, all alive here.
        unsafe { libc::execve(self.path.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
        let error = io::Error::last_os_error();
        let path = self.path.to_string_lossy();
        match error.raw_os_error() {
            Some(libc::ENOENT) => Refusal::NotFound(format!(
                "no such program: {path} (or the interpreter that it names)"
            )),
            Some(libc::EACCES) => {
                Refusal::Denied(format!("{path} is not executable, or not by this user"))
            }
            Some(libc::ENOEXEC) => Refusal::Failed(format!(
                "{path} is not a program of this system; if it is a script, name its \
                 interpreter in the first line or start the interpreter"
            )),
            Some(libc::E2BIG) => Refusal::Limit(
                "the arguments and the environment are too long for this system; pass them by \
                 a file or by standard input"
                    .to_owned(),
            ),
            _ => Refusal::Failed(format!("starting {path}: {error}")),
        }
    }
}

fn c_string(text: &OsStr) -> Result<CString, Refusal> {
    CString::new(text.as_bytes())
        .map_err(|_| Refusal::Failed("an argument or variable holds a NUL character".to_owned()))
}
