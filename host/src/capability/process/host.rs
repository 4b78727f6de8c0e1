//! The `process` interface: from a guest's wish to a confined process.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::component::HasData;

use super::{
    Finished, GrantedDir, HelperExe, Kept, ProcessError, ProcessLimits, ProcessSpec, Program,
    resolve_program, run, search_path,
};
use crate::capability::bindings::process::{self as wit, Host};
use crate::capability::bindings::types::ToolError as WitError;
use crate::capability::files::Roots;
use crate::capability::http::HttpShared;
use crate::capability::http::dial::Dialler;
use crate::capability::http::proxy::Proxy;
use crate::capability::witness::Witness;
use crate::policy::{Access, Authority, Confinement, GuestPath, Permission};
use crate::receipt::ProcessUse;
use crate::tool::{Answer, Approver, Question, ToolError};

/// Toolchains that live in a home directory, read-only for processes. Nothing else of a home is
/// there, and none of these holds credentials.
const HOME_TOOLCHAINS: [&str; 6] = [
    ".cargo/bin",
    ".rustup/toolchains",
    ".pyenv/versions",
    ".nvm/versions",
    ".local/bin",
    "go/bin",
];
/// Of argv, for the receipt and for questions.
const MAX_SHOWN_ARGV: usize = 4096;
/// Arguments of one command; the kernel's own limit is larger.
const MAX_ARGUMENT_BYTES: usize = 128 << 10;
/// What of each stream goes into the message of a call that timed out.
const SHOWN_OF_TIMED_OUT: usize = 4096;

/// What the calls of a session share.
pub struct ProcessShared {
    helper: HelperExe,
    toolchains: Vec<PathBuf>,
    /// Host paths that no process sees.
    hidden: Vec<PathBuf>,
}

impl ProcessShared {
    pub fn new(helper: HelperExe, hidden: Vec<PathBuf>) -> ProcessShared {
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let toolchains = home
            .map(|home| HOME_TOOLCHAINS.iter().map(|below| home.join(below)).collect())
            .unwrap_or_default();
        ProcessShared { helper, toolchains, hidden }
    }

    pub fn helper(&self) -> &HelperExe {
        &self.helper
    }
}

/// The processes of one call.
pub struct ProcessCtx {
    tool: String,
    authority: Arc<Authority>,
    approver: Arc<dyn Approver>,
    shared: Arc<ProcessShared>,
    http: Arc<HttpShared>,
    roots: Arc<Roots>,
    witness: Witness,
    ends: Option<Instant>,
}

impl ProcessCtx {
    pub fn new(
        tool: &str,
        authority: &Arc<Authority>,
        approver: &Arc<dyn Approver>,
        shared: &Arc<ProcessShared>,
        http: &Arc<HttpShared>,
        roots: &Arc<Roots>,
        witness: &Witness,
    ) -> ProcessCtx {
        ProcessCtx {
            tool: tool.to_owned(),
            authority: Arc::clone(authority),
            approver: Arc::clone(approver),
            shared: Arc::clone(shared),
            http: Arc::clone(http),
            roots: Arc::clone(roots),
            witness: witness.clone(),
            ends: Instant::now().checked_add(authority.limits.deadline()),
        }
    }

    async fn start(&self, command: wit::Command) -> Result<wit::Finished, ToolError> {
        let argv = check_argv(&command)?;
        self.permit(&command.program, &argv).await?;
        let spec = self.spec(command)?;
        let mut proxy = None;
        let finished =
            run(spec, &self.shared.helper, |listener| proxy = self.proxy(listener)).await;
        if let Some(proxy) = proxy {
            proxy.stop().await;
        }
        self.settle(argv, finished)
    }

    /// Whether the grant, or the user, lets this program start. What is matched is the program as
    /// it was named; what runs is found without the workspace ([`resolve_program`]).
    async fn permit(&self, program: &str, argv: &[String]) -> Result<(), ToolError> {
        let refused = match self.authority.programs.permission(program) {
            Permission::Allow => return Ok(()),
            Permission::Deny => "it is not among the granted programs",
            Permission::Ask => {
                let question = Question {
                    tool: self.tool.clone(),
                    subject: format!("program {program}"),
                    act: shown(argv),
                };
                match self.approver.ask(question).await {
                    Answer::Once | Answer::Session => return Ok(()),
                    Answer::Refuse => "the user was asked and refused, or nobody was there to ask",
                }
            }
        };
        let error = ToolError::denied(format!(
            "{program} may not be started: {refused}; --allow-command {program} allows it"
        ));
        self.witness.refuse(shown(argv), &error);
        Err(error)
    }

    fn spec(&self, command: wit::Command) -> Result<ProcessSpec, ToolError> {
        let directory = GuestPath::parse(&command.directory)
            .map_err(|error| ToolError::denied(format!("{}: {error}", command.directory)))?;
        if self.authority.dirs.access(&directory).is_none() {
            let error = ToolError::denied(format!(
                "{directory} is in no granted directory, and a program starts in one; paths are under /workspace"
            ));
            self.witness.refuse(directory.as_str(), &error);
            return Err(error);
        }
        let confinement = self.authority.programs.confinement;
        let dirs = self.granted_dirs()?;
        let toolchains = self.shared.toolchains.clone();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let search_path = search_path(&path, &dirs, &toolchains, confinement);
        let program = resolve_program(
            &command.program,
            directory.as_str(),
            &search_path,
            &dirs,
            &toolchains,
            confinement,
        )
        .map_err(|error| self.explain(error))?;
        let limits = &self.authority.limits;
        Ok(ProcessSpec {
            program: Program::Path(program),
            name: command.program,
            arguments: command.arguments,
            directory: directory.as_str().to_owned(),
            environment: self.environment(),
            search_path,
            dirs,
            toolchains,
            hidden: self.shared.hidden.clone(),
            confinement,
            limits: ProcessLimits {
                memory_bytes: limits.process_memory_bytes,
                processes: limits.process_count,
                open_files: limits.open_files,
                ..ProcessLimits::default()
            },
            stdin: command.stdin,
            timeout: self.time_left(command.timeout_ms),
            max_output: usize::try_from(command.max_output.min(limits.output_bytes)).unwrap_or(0),
            proxy: confinement == Confinement::Os && !self.authority.network.is_empty(),
        })
    }

    /// A little less than the call has left, so that the answer still gets out.
    fn time_left(&self, asked_ms: Option<u64>) -> Duration {
        const FOR_THE_ANSWER: Duration = Duration::from_millis(50);
        let left = self.ends.map_or(self.authority.limits.deadline(), |ends| {
            ends.saturating_duration_since(Instant::now())
        });
        let left = left.saturating_sub(FOR_THE_ANSWER);
        asked_ms.map_or(left, |asked| left.min(Duration::from_millis(asked)))
    }

    fn granted_dirs(&self) -> Result<Vec<GrantedDir>, ToolError> {
        self.authority
            .dirs
            .iter()
            .map(|grant| {
                let cannot = |error: &dyn std::fmt::Display| {
                    ToolError::not_found(format!(
                        "the granted directory {} cannot be opened: {error}",
                        grant.path
                    ))
                };
                let (root, below) =
                    self.roots.find(&grant.path).ok_or_else(|| cannot(&"no such root"))?;
                let handle =
                    self.roots.open_granted(&grant.path).map_err(|errno| cannot(&errno))?;
                let handle = handle.try_clone().map_err(|error| cannot(&error))?;
                Ok(GrantedDir {
                    guest_path: grant.path.as_str().to_owned(),
                    host_path: root.host.join(below),
                    handle: Arc::new(File::from(handle)),
                    writable: grant.access == Access::Write,
                })
            })
            .collect()
    }

    fn environment(&self) -> BTreeMap<String, String> {
        self.authority
            .environment
            .iter()
            .filter_map(|name| Some((name.clone(), std::env::var(name).ok()?)))
            .collect()
    }

    /// Serves the process's way to the network, each connection checked against the grant.
    fn proxy(&self, listener: std::net::TcpListener) -> Option<Proxy> {
        let dialler = Dialler::new(
            self.tool.as_str(),
            Arc::new(self.authority.network.clone()),
            Arc::clone(&self.http.resolver),
            Arc::clone(&self.approver),
            self.witness.ledger.clone(),
        )
        .limited(Arc::clone(&self.http.rate), self.authority.limits.requests_per_minute);
        match Proxy::start(listener, self.http.client.clone(), dialler) {
            Ok(proxy) => Some(proxy),
            Err(error) => {
                // The process then has no network: less than granted, never more.
                tracing::warn!(%error, "the proxy for a process could not be started");
                None
            }
        }
    }

    fn settle(
        &self,
        argv: Vec<String>,
        finished: Result<Finished, ProcessError>,
    ) -> Result<wit::Finished, ToolError> {
        let (exit_code, duration, denials) = match &finished {
            Ok(finished) => (finished.exit_code, finished.duration, finished.denials.as_slice()),
            Err(ProcessError::TimedOut { duration, denials, .. }) => {
                (None, *duration, denials.as_slice())
            }
            Err(_) => (None, Duration::ZERO, &[][..]),
        };
        for denial in denials {
            self.witness.ledger.denial(shown(&argv), denial);
        }
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        self.witness.ledger.process(ProcessUse { argv, exit_code, duration_ms });
        let finished = finished.map_err(|error| self.explain(error))?;
        Ok(wit::Finished {
            exit_code: finished.exit_code,
            signal: finished.signal,
            stdout: finished.stdout.bytes,
            stderr: finished.stderr.bytes,
            stdout_dropped: finished.stdout.dropped,
            stderr_dropped: finished.stderr.dropped,
            duration_ms,
        })
    }

    fn explain(&self, error: ProcessError) -> ToolError {
        match error {
            ProcessError::NotFound(message) => ToolError::not_found(message),
            ProcessError::Denied(message) | ProcessError::Unavailable(message) => {
                let error = ToolError::denied(message);
                self.witness.refuse("a process", &error);
                error
            }
            ProcessError::Limit(message) => ToolError::limit_exceeded(message),
            ProcessError::Failed(message) => ToolError::failed(message),
            ProcessError::TimedOut { stdout, stderr, duration, .. } => {
                ToolError::timed_out(format!(
                    "the program was ended after {:.1} s, at its deadline, with all that it started; give it longer or less to do\nstdout so far:\n{}\nstderr so far:\n{}",
                    duration.as_secs_f64(),
                    beginning(&stdout),
                    beginning(&stderr),
                ))
            }
        }
    }
}

fn check_argv(command: &wit::Command) -> Result<Vec<String>, ToolError> {
    let argv: Vec<String> =
        [&command.program].into_iter().chain(&command.arguments).cloned().collect();
    if command.program.is_empty() || argv.iter().any(|argument| argument.contains('\0')) {
        return Err(ToolError::invalid_input(
            "a command needs a program, and no argument may hold a NUL",
        ));
    }
    if argv.iter().map(|argument| argument.len() + 1).sum::<usize>() > MAX_ARGUMENT_BYTES {
        return Err(ToolError::limit_exceeded(format!(
            "the arguments have more than {MAX_ARGUMENT_BYTES} bytes; pass the data by stdin or by a file"
        )));
    }
    Ok(argv)
}

fn shown(argv: &[String]) -> String {
    let mut text = argv.join(" ");
    text.truncate(text.floor_char_boundary(MAX_SHOWN_ARGV));
    text
}

fn beginning(kept: &Kept) -> String {
    String::from_utf8_lossy(&kept.bytes[..kept.bytes.len().min(SHOWN_OF_TIMED_OUT)]).into_owned()
}

impl Host for ProcessCtx {
    async fn run(
        &mut self,
        command: wit::Command,
    ) -> wasmtime::Result<Result<wit::Finished, WitError>> {
        Ok(self.start(command).await.map_err(Into::into))
    }
}

/// Names the context for the linker.
pub struct HasProcess;

impl HasData for HasProcess {
    type Data<'a> = &'a mut ProcessCtx;
}
