//! Exit codes, and errors of the command line itself.

use std::process::ExitCode;

use crate::tool::ErrorCase;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    Failed,
    Usage,
    Denied,
    Limit,
    SandboxUnavailable,
    Interrupted,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Denied => 10,
            Exit::Limit => 11,
            Exit::SandboxUnavailable => 13,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

impl From<ErrorCase> for Exit {
    fn from(case: ErrorCase) -> Exit {
        match case {
            ErrorCase::InvalidInput => Exit::Usage,
            ErrorCase::Denied => Exit::Denied,
            ErrorCase::LimitExceeded => Exit::Limit,
            ErrorCase::NotFound | ErrorCase::TimedOut | ErrorCase::Failed | ErrorCase::Crashed => {
                Exit::Failed
            }
        }
    }
}

/// The command could not be carried out. The message says what to do.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
}

impl Failure {
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::Usage, message: message.into() }
    }

    pub fn failed(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::Failed, message: message.into() }
    }

    pub fn unavailable(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::SandboxUnavailable, message: message.into() }
    }
}
