//! The ways in which a task can end other than well.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// The command line makes no sense; the usage is shown as well.
    Usage(String),
    /// Something did not work; the text says what, and what to do.
    Failed(String),
    /// The user pressed Ctrl-C.
    Interrupted,
}

impl Failure {
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Failed(_) => ExitCode::from(1),
            Failure::Usage(_) => ExitCode::from(2),
            Failure::Interrupted => ExitCode::from(130),
        }
    }

    pub fn failed(text: impl Into<String>) -> Failure {
        Failure::Failed(text.into())
    }

    /// An input or output error, with what was being done to which file.
    pub fn io(doing: &str, path: &Path, error: &io::Error) -> Failure {
        Failure::Failed(format!("cannot {doing} {}: {error}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(text) | Failure::Failed(text) => write!(f, "error: {text}"),
            Failure::Interrupted => write!(f, "interrupted"),
        }
    }
}
