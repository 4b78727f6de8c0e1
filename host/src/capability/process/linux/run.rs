//! Running one program to its end, its deadline, or until nobody waits any more.

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::pin;
use std::time::{Duration, Instant};

use tokio::time::{sleep_until, timeout};

use super::helper::HOME;
use super::output::{drain, feed};
use super::running::{Running, STOP_GRACE};
use super::wire::{Ending, Order, OrderedDir, OrderedProgram, Refusal, Report};
use crate::capability::process::spec::{
    Finished, HelperExe, Kept, MAX_GRANTED_DIRS, MAX_KEPT_OUTPUT, ProcessError, ProcessSpec,
    Program,
};
use crate::policy::Confinement;

/// When the tree has ended, what it wrote is in the pipes. Longer than this only waits whoever
/// holds a pipe that was passed on to a process outside.
const DRAIN_GRACE: Duration = Duration::from_secs(1);

/// Starts the program and waits for its end. `on_listener` gets the socket on which the host
/// serves the proxy, if the spec asks for one.
///
/// Dropping the future ends the process with all that it started.
pub async fn run(
    spec: ProcessSpec,
    helper: &HelperExe,
    on_listener: impl FnOnce(TcpListener),
) -> Result<Finished, ProcessError> {
    run_keeping(spec, helper, MAX_KEPT_OUTPUT, on_listener).await
}

/// The same with another ceiling on what is kept of each stream.
pub(super) async fn run_keeping(
    spec: ProcessSpec,
    helper: &HelperExe,
    most_output: usize,
    on_listener: impl FnOnce(TcpListener),
) -> Result<Finished, ProcessError> {
    let order = order(&spec)?;
    let dirs: Vec<BorrowedFd<'_>> = spec.dirs.iter().map(|dir| dir.handle.as_fd()).collect();
    let start = Instant::now();
    let (mut running, streams) = Running::start(helper, &order, &dirs)
        .map_err(|error| ProcessError::Failed(format!("starting the helper: {error}")))?;

    let most = spec.max_output.min(most_output);
    let (mut stdout, mut stderr) = (Kept::default(), Kept::default());
    let course = {
        let mut pump = pin!(async {
            tokio::try_join!(
                feed(streams.stdin, &spec.stdin),
                drain(streams.stdout, most, &mut stdout),
                drain(streams.stderr, most, &mut stderr),
            )
        });
        let mut pumped = None;
        let course =
            follow(&mut running, start, spec.timeout, on_listener, pump.as_mut(), &mut pumped)
                .await
                .map_err(|error| ProcessError::Failed(format!("following the helper: {error}")))?;
        if pumped.is_none() {
            pumped = timeout(DRAIN_GRACE, pump).await.ok();
        }
        if let Some(Err(error)) = pumped {
            return Err(ProcessError::Failed(format!("reading the program's output: {error}")));
        }
        course
    };
    running
        .reap()
        .await
        .map_err(|error| ProcessError::Failed(format!("waiting for the helper: {error}")))?;
    course.outcome(&spec.name, stdout, stderr)
}

/// What happened, in the words of the helper.
struct Course {
    ending: Option<Result<Ending, Refusal>>,
    duration: Duration,
    timed_out: bool,
    /// None when the helper ended before it had looked.
    denials: Option<Vec<String>>,
}

/// Follows the helper's reports to the last one, and keeps the deadline.
async fn follow<T>(
    running: &mut Running,
    start: Instant,
    allowed: Duration,
    on_listener: impl FnOnce(TcpListener),
    mut pump: std::pin::Pin<&mut impl Future<Output = T>>,
    pumped: &mut Option<T>,
) -> io::Result<Course> {
    let far = Duration::from_secs(365 * 24 * 3600);
    let deadline = tokio::time::Instant::from_std(start + allowed.min(far));
    let mut on_listener = Some(on_listener);
    let mut course =
        Course { ending: None, duration: Duration::ZERO, timed_out: false, denials: None };
    let mut stopping = false;
    loop {
        let report = tokio::select! {
            report = running.next_report() => report?,
            result = pump.as_mut(), if pumped.is_none() => {
                *pumped = Some(result);
                continue;
            }
            () = sleep_until(deadline), if !stopping => {
                stopping = true;
                course.timed_out = course.ending.is_none();
                running.stop()?;
                continue;
            }
            () = sleep_until(deadline + STOP_GRACE), if stopping => {
                running.kill()?;
                None
            }
        };
        let Some((report, mut descriptors)) = report else { break };
        match report {
            Report::Listener => {
                if let (Some(socket), Some(tell)) = (descriptors.pop(), on_listener.take()) {
                    tell(TcpListener::from(socket));
                }
            }
            Report::Refused(refusal) => {
                course.ending.get_or_insert(Err(refusal));
            }
            Report::Ended(ending) => {
                course.duration = start.elapsed();
                course.ending.get_or_insert(Ok(ending));
            }
            Report::Swept { denials } => {
                course.denials = Some(denials);
                break;
            }
        }
    }
    if course.duration.is_zero() {
        course.duration = start.elapsed();
    }
    Ok(course)
}

impl Course {
    fn outcome(self, name: &str, stdout: Kept, stderr: Kept) -> Result<Finished, ProcessError> {
        let Course { ending, duration, timed_out, denials } = self;
        let unchecked = || vec!["the granted directories were not checked afterwards".to_owned()];
        let denials = denials.unwrap_or_else(unchecked);
        if timed_out {
            return Err(ProcessError::TimedOut { stdout, stderr, duration, denials });
        }
        let finished = |exit_code, signal| Finished {
            exit_code,
            signal,
            stdout,
            stderr,
            duration,
            denials: denials.clone(),
        };
        match ending {
            Some(Ok(Ending::Exited(code))) => Ok(finished(Some(code), None)),
            Some(Ok(Ending::Signalled(signal))) => Ok(finished(None, Some(signal))),
            Some(Ok(Ending::Limit(what))) => {
                let undone: String = denials.iter().map(|denial| format!("; {denial}")).collect();
                Err(ProcessError::Limit(format!("{name} was ended: {what}{undone}")))
            }
            Some(Err(refusal)) => Err(refusal.into()),
            None => Err(ProcessError::Failed("the helper ended without a word".to_owned())),
        }
    }
}

/// The spec in the words of the wire.
fn order(spec: &ProcessSpec) -> Result<Order, ProcessError> {
    if spec.dirs.len() > MAX_GRANTED_DIRS {
        return Err(ProcessError::Limit(format!(
            "a process can have {MAX_GRANTED_DIRS} granted directories, not {}",
            spec.dirs.len()
        )));
    }
    let confined = spec.confinement == Confinement::Os;
    let mut environment = spec.environment.clone();
    let path = std::env::join_paths(&spec.search_path)
        .map_err(|error| ProcessError::Failed(format!("PATH: {error}")))?;
    environment.insert("PATH".to_owned(), path.to_string_lossy().into_owned());
    let (home, temporary) = if confined {
        (HOME.to_owned(), "/tmp".to_owned())
    } else {
        let home = std::env::var("HOME").unwrap_or_else(|_| "/".to_owned());
        (home, std::env::temp_dir().to_string_lossy().into_owned())
    };
    environment.insert("HOME".to_owned(), home);
    environment.insert("TMPDIR".to_owned(), temporary);
    Ok(Order {
        program: match &spec.program {
            Program::Path(path) => OrderedProgram::Path(path.clone()),
            Program::Own => OrderedProgram::Own,
        },
        name: spec.name.clone(),
        arguments: spec.arguments.clone(),
        directory: spec.directory.clone(),
        environment,
        dirs: spec
            .dirs
            .iter()
            .map(|dir| OrderedDir { guest_path: dir.guest_path.clone(), writable: dir.writable })
            .collect(),
        toolchains: spec.toolchains.clone(),
        hidden: spec.hidden.clone(),
        confined,
        proxy: spec.proxy && confined,
        memory_bytes: spec.limits.memory_bytes,
        processes: spec.limits.processes,
        open_files: spec.limits.open_files,
        file_bytes: spec.limits.file_bytes,
        temporary_bytes: spec.limits.temporary_bytes,
        cpu_seconds: cpu_seconds(spec.timeout),
        priority: rustix::process::getpriority_process(None)
            .map_err(|error| ProcessError::Failed(format!("asking for the priority: {error}")))?,
    })
}

/// Processor time of one process. The deadline ends it before; this is for a process that a host
/// which stands still does not end. All processors may work for it at once.
fn cpu_seconds(timeout: Duration) -> u64 {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    timeout.as_secs().saturating_add(1).saturating_mul(processors)
}
