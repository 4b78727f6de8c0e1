//! What a process gets, and what can come of it: plain data that is the same on every system.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::policy::Confinement;

/// Kept of each stream at most, whatever the caller asks for: two of them are held in memory for
/// as long as the process runs.
pub const MAX_KEPT_OUTPUT: usize = 64 * 1024 * 1024;

/// Granted directories of one process. Each is a descriptor sent to the helper, and one message
/// carries at most 253 of them.
pub const MAX_GRANTED_DIRS: usize = 128;

/// A directory that the process may use, opened by the host when it was granted.
///
/// The open directory is what counts. Its path is looked up again where it has to be, and a path
/// that leads elsewhere by then is refused, never followed.
#[derive(Debug, Clone)]
pub struct GrantedDir {
    /// Where a confined process finds it; absolute, without `.` and `..`.
    pub guest_path: String,
    /// Where it is on the host; used by a process without confinement, and to keep the
    /// directories in `PATH` apart from it.
    pub host_path: PathBuf,
    pub handle: Arc<File>,
    pub writable: bool,
}

/// Ceilings for one process and all that it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Memory of the whole tree. One process cannot allocate more, and the tree is ended when
    /// its processes together hold more.
    pub memory_bytes: u64,
    /// Processes and threads alive at once.
    pub processes: u32,
    /// Descriptors of one process.
    pub open_files: u32,
    /// Size of one file that is written.
    pub file_bytes: u64,
    /// Size of the private `/tmp`, which is memory.
    pub temporary_bytes: u64,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        ProcessLimits {
            memory_bytes: 2048 * MIB,
            processes: 256,
            open_files: 1024,
            file_bytes: 4096 * MIB,
            temporary_bytes: 512 * MIB,
        }
    }
}

/// Which file is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// An absolute path as the process sees it: what [`resolve_program`](super::resolve_program)
    /// answers.
    Path(PathBuf),
    /// The executable that runs now.
    Own,
}

/// One program with everything that it gets. What is not here it does not have.
#[derive(Debug, Clone)]
pub struct ProcessSpec {
    pub program: Program,
    /// The name that the program is told it was started by.
    pub name: String,
    /// Without the name.
    pub arguments: Vec<String>,
    /// Where it starts: a guest path inside a granted directory, or `/tmp`.
    pub directory: String,
    /// All of its environment but `PATH`, `HOME`, `TMPDIR` and the variables that name a proxy.
    pub environment: BTreeMap<String, String>,
    /// Its `PATH`: what [`search_path`](super::search_path) answers.
    pub search_path: Vec<PathBuf>,
    pub dirs: Vec<GrantedDir>,
    /// Host directories that are mounted read-only where they are. One that does not exist is
    /// passed over.
    pub toolchains: Vec<PathBuf>,
    /// Host paths that a confined process neither reads nor writes, wherever they turn up below
    /// what it is given. Directories, unless they exist as something else.
    pub hidden: Vec<PathBuf>,
    pub confinement: Confinement,
    pub limits: ProcessLimits,
    pub stdin: Vec<u8>,
    pub timeout: Duration,
    /// Kept of each stream; what is over is read, counted and dropped.
    pub max_output: usize,
    /// Whether a confined process gets a proxy to the network. The host serves it.
    pub proxy: bool,
}

/// What a stream said: the beginning of it, and how much more there was.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    pub bytes: Vec<u8>,
    pub dropped: u64,
}

/// A program that ran to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// None when a signal ended it.
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: Kept,
    pub stderr: Kept,
    pub duration: Duration,
    /// What the process did and was undone afterwards, for the receipt.
    pub denials: Vec<String>,
}

/// Why there is no [`Finished`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessError {
    /// No such program or working directory.
    NotFound(String),
    /// It would need more than was granted.
    Denied(String),
    /// It ran into the deadline and was ended with all that it had started.
    TimedOut { stdout: Kept, stderr: Kept, duration: Duration, denials: Vec<String> },
    /// It ran into a limit and was ended with all that it had started.
    Limit(String),
    /// This system cannot confine a process; the message says what is missing.
    Unavailable(String),
    /// The host could not start or follow it.
    Failed(String),
}

impl fmt::Display for ProcessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessError::NotFound(message)
            | ProcessError::Denied(message)
            | ProcessError::Limit(message)
            | ProcessError::Unavailable(message)
            | ProcessError::Failed(message) => f.write_str(message),
            ProcessError::TimedOut { duration, .. } => {
                write!(f, "ended after {:.1} s, at its deadline", duration.as_secs_f64())
            }
        }
    }
}

impl std::error::Error for ProcessError {}

/// The executable that is started as the helper: this one, or in tests the one under test.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HelperExe(pub(super) PathBuf);

impl HelperExe {
    /// The running executable. By this link it is the same file even after an update replaced it
    /// on disk.
    pub fn own() -> HelperExe {
        HelperExe(PathBuf::from("/proc/self/exe"))
    }

    /// Another executable, whose `main` begins with
    /// [`become_helper_if_asked`](super::become_helper_if_asked).
    pub fn at(path: impl Into<PathBuf>) -> HelperExe {
        HelperExe(path.into())
    }
}

/// Our own executable as a child for work on untrusted input that cannot be interrupted, such as
/// compiling a component: with limits, a deadline, no files of the user's and no network.
#[derive(Debug, Clone)]
pub struct LimitedChild {
    pub arguments: Vec<String>,
    pub stdin: Vec<u8>,
    pub memory_bytes: u64,
    pub deadline: Duration,
    /// Kept of standard output. More than this is [`ProcessError::Limit`]: half a result is none.
    pub max_stdout: usize,
}
