//! The closed set of failures, and how the errors of the standard library become one of them.

use std::fmt;
use std::io;

use crate::Output;
use crate::bindings::xzatoma::tool::types::ToolError;

/// What a tool's function answers.
pub type Result<T = Output> = std::result::Result<T, Error>;

/// Everything that can go wrong. The message says what happened and what to do next: the model
/// reads it and acts on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The arguments do not fit.
    InvalidInput(String),
    /// No such file, directory, program or host name.
    NotFound(String),
    /// The grant does not cover it.
    Denied(String),
    /// The deadline passed.
    TimedOut(String),
    /// A size, memory, output, rate or quota limit, or a full disk.
    LimitExceeded(String),
    /// It ran and failed.
    Failed(String),
    /// The tool broke; normally the host finds that, not the tool.
    Crashed(String),
}

impl Error {
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Error::InvalidInput(message.into())
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Error::NotFound(message.into())
    }

    pub fn denied(message: impl Into<String>) -> Self {
        Error::Denied(message.into())
    }

    pub fn timed_out(message: impl Into<String>) -> Self {
        Error::TimedOut(message.into())
    }

    pub fn limit_exceeded(message: impl Into<String>) -> Self {
        Error::LimitExceeded(message.into())
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Error::Failed(message.into())
    }

    pub fn crashed(message: impl Into<String>) -> Self {
        Error::Crashed(message.into())
    }

    /// The case as the contract spells it.
    pub fn case(&self) -> &'static str {
        match self {
            Error::InvalidInput(_) => "invalid-input",
            Error::NotFound(_) => "not-found",
            Error::Denied(_) => "denied",
            Error::TimedOut(_) => "timed-out",
            Error::LimitExceeded(_) => "limit-exceeded",
            Error::Failed(_) => "failed",
            Error::Crashed(_) => "crashed",
        }
    }

    pub fn message(&self) -> &str {
        match self {
            Error::InvalidInput(message)
            | Error::NotFound(message)
            | Error::Denied(message)
            | Error::TimedOut(message)
            | Error::LimitExceeded(message)
            | Error::Failed(message)
            | Error::Crashed(message) => message,
        }
    }

    /// The same case with another message.
    #[must_use]
    pub fn map_message(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Error::InvalidInput(message) => Error::InvalidInput(change(message)),
            Error::NotFound(message) => Error::NotFound(change(message)),
            Error::Denied(message) => Error::Denied(change(message)),
            Error::TimedOut(message) => Error::TimedOut(change(message)),
            Error::LimitExceeded(message) => Error::LimitExceeded(change(message)),
            Error::Failed(message) => Error::Failed(change(message)),
            Error::Crashed(message) => Error::Crashed(change(message)),
        }
    }

    /// The host's own words, where the host refused; WASI's codes carry none.
    ///
    /// Meant for errors that the host may have caused: it takes the newest refusal of the call. One
    /// of another case is not about this error but about something before it, which the tool got
    /// over.
    #[must_use]
    pub fn or_refusal(self) -> Self {
        match self {
            Error::Denied(_) | Error::LimitExceeded(_) | Error::TimedOut(_) => {
                refusal().filter(|refusal| refusal.case() == self.case()).unwrap_or(self)
            }
            other => other,
        }
    }
}

/// The newest refusal by the host in this call, if there was one. Taken.
pub(crate) fn refusal() -> Option<Error> {
    #[cfg(target_arch = "wasm32")]
    return crate::bindings::xzatoma::tool::refusal::take().map(Error::from);
    #[cfg(not(target_arch = "wasm32"))]
    None
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.case(), self.message())
    }
}

impl std::error::Error for Error {}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        match error {
            Error::InvalidInput(message) => ToolError::InvalidInput(message),
            Error::NotFound(message) => ToolError::NotFound(message),
            Error::Denied(message) => ToolError::Denied(message),
            Error::TimedOut(message) => ToolError::TimedOut(message),
            Error::LimitExceeded(message) => ToolError::LimitExceeded(message),
            Error::Failed(message) => ToolError::Failed(message),
            Error::Crashed(message) => ToolError::Crashed(message),
        }
    }
}

impl From<ToolError> for Error {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::InvalidInput(message) => Error::InvalidInput(message),
            ToolError::NotFound(message) => Error::NotFound(message),
            ToolError::Denied(message) => Error::Denied(message),
            ToolError::TimedOut(message) => Error::TimedOut(message),
            ToolError::LimitExceeded(message) => Error::LimitExceeded(message),
            ToolError::Failed(message) => Error::Failed(message),
            ToolError::Crashed(message) => Error::Crashed(message),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        if cfg!(target_os = "wasi") && error.raw_os_error() == Some(WASI_EIO) {
            return refusal().unwrap_or_else(|| {
                Error::failed("input or output failed; the disk may be full or damaged")
            });
        }
        classify(&error).or_refusal()
    }
}

/// The case of an I/O error, with words that say what to do next.
fn classify(error: &io::Error) -> Error {
    use io::ErrorKind as Kind;
    match io_kind(error) {
        Kind::NotFound => {
            Error::not_found("it does not exist; check the name, or list the directory above it")
        }
        Kind::PermissionDenied => Error::denied(
            "the grant does not allow it: it leaves the granted directories, is protected, \
             or is not granted for writing",
        ),
        Kind::ReadOnlyFilesystem => {
            Error::denied("the directory is not granted for writing; --allow-write DIR grants it")
        }
        Kind::StorageFull | Kind::QuotaExceeded => {
            Error::limit_exceeded("the disk is full or its quota is used up; free some space")
        }
        Kind::FileTooLarge | Kind::OutOfMemory => {
            Error::limit_exceeded(format!("{error}; work on a smaller part"))
        }
        Kind::TimedOut => Error::timed_out(format!("{error}; try less work in one call")),
        Kind::InvalidInput | Kind::InvalidFilename => {
            Error::invalid_input(format!("{error}; name another path"))
        }
        Kind::IsADirectory => Error::invalid_input("it is a directory; name a file"),
        Kind::NotADirectory => {
            Error::invalid_input("it, or a part of its path, is a file where a directory is needed")
        }
        Kind::DirectoryNotEmpty => Error::failed("the directory is not empty"),
        Kind::AlreadyExists => Error::failed("it exists already"),
        _ => Error::failed(error.to_string()),
    }
}

/// The kind of an I/O error. For WASI the standard library tells only the most common apart.
pub fn io_kind(error: &io::Error) -> io::ErrorKind {
    #[cfg(target_os = "wasi")]
    {
        use io::ErrorKind as Kind;
        // The numbers of wasi-libc.
        match error.raw_os_error() {
            Some(19) => return Kind::QuotaExceeded,
            Some(22) => return Kind::FileTooLarge,
            Some(31) => return Kind::IsADirectory,
            Some(37) => return Kind::InvalidFilename,
            Some(51) => return Kind::StorageFull,
            Some(54) => return Kind::NotADirectory,
            Some(55) => return Kind::DirectoryNotEmpty,
            Some(69) => return Kind::ReadOnlyFilesystem,
            Some(75) => return Kind::CrossesDevices,
            // Not covered by any granted directory.
            Some(76) => return Kind::PermissionDenied,
            _ => {}
        }
    }
    error.kind()
}

/// wasi-libc's EIO. Files written by the standard library go through streams, where this stands
/// for whatever the host said.
const WASI_EIO: i32 = 29;

/// Says what was being done when an error came up, such as "reading notes.txt".
pub trait Context<T> {
    /// Puts `doing` in front of the error's message; it is only made when there is an error.
    fn context<D: fmt::Display>(self, doing: impl FnOnce() -> D) -> Result<T>;
}

impl<T, E: Into<Error>> Context<T> for std::result::Result<T, E> {
    fn context<D: fmt::Display>(self, doing: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|error| error.into().map_message(|message| format!("{}: {message}", doing())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_become_cases() {
        use io::ErrorKind as Kind;
        let expected = [
            (Kind::NotFound, "not-found"),
            (Kind::PermissionDenied, "denied"),
            (Kind::ReadOnlyFilesystem, "denied"),
            (Kind::StorageFull, "limit-exceeded"),
            (Kind::QuotaExceeded, "limit-exceeded"),
            (Kind::FileTooLarge, "limit-exceeded"),
            (Kind::OutOfMemory, "limit-exceeded"),
            (Kind::TimedOut, "timed-out"),
            (Kind::InvalidInput, "invalid-input"),
            (Kind::InvalidFilename, "invalid-input"),
            (Kind::IsADirectory, "invalid-input"),
            (Kind::NotADirectory, "invalid-input"),
            (Kind::AlreadyExists, "failed"),
            (Kind::DirectoryNotEmpty, "failed"),
            (Kind::Other, "failed"),
        ];
        for (kind, case) in expected {
            assert_eq!(Error::from(io::Error::from(kind)).case(), case, "{kind:?}");
        }
    }

    #[test]
    fn context_names_what_was_done() {
        let failed: std::result::Result<(), _> = Err(io::Error::from(io::ErrorKind::NotFound));
        let error = failed.context(|| "reading notes.txt").unwrap_err();
        assert_eq!(error.case(), "not-found");
        assert!(error.message().starts_with("reading notes.txt: it does not exist"), "{error}");
    }

    #[test]
    fn crosses_the_boundary_unchanged() {
        for error in [
            Error::invalid_input("a"),
            Error::not_found("b"),
            Error::denied("c"),
            Error::timed_out("d"),
            Error::limit_exceeded("e"),
            Error::failed("f"),
            Error::crashed("g"),
        ] {
            assert_eq!(Error::from(ToolError::from(error.clone())), error);
        }
    }
}
