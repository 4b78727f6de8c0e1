//! What a tool is to the rest of the host: a definition, a call, and one closed set of errors.
//!
//! Nothing here knows how a tool runs. The agent loop speaks to [`ToolHost`]; the sandbox
//! implements it. A tool's failure is a value that goes back to the model, never an error of the
//! host, so [`ToolHost::call`] cannot fail: it answers a [`CallReport`].

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::policy::{Authority, Capability};
use crate::receipt::Receipt;

/// What a tool says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: serde_json::Value,
    /// Whether a call may change anything outside the tool.
    pub mutates: bool,
    /// The classes of authority that it asks for; it never gets others.
    pub capabilities: Vec<Capability>,
}

/// What a call answers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ToolOutput {
    pub text: String,
    pub metadata: Vec<(String, String)>,
}

/// The closed set of ways in which a call can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorCase {
    InvalidInput,
    NotFound,
    Denied,
    TimedOut,
    LimitExceeded,
    Failed,
    Crashed,
}

impl ErrorCase {
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorCase::InvalidInput => "invalid-input",
            ErrorCase::NotFound => "not-found",
            ErrorCase::Denied => "denied",
            ErrorCase::TimedOut => "timed-out",
            ErrorCase::LimitExceeded => "limit-exceeded",
            ErrorCase::Failed => "failed",
            ErrorCase::Crashed => "crashed",
        }
    }
}

impl fmt::Display for ErrorCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failure that the model can act on: its case, and a message that says what to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolError {
    pub case: ErrorCase,
    pub message: String,
}

impl ToolError {
    pub fn new(case: ErrorCase, message: impl Into<String>) -> Self {
        ToolError { case, message: message.into() }
    }

    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(ErrorCase::InvalidInput, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCase::NotFound, message)
    }

    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(ErrorCase::Denied, message)
    }

    pub fn timed_out(message: impl Into<String>) -> Self {
        Self::new(ErrorCase::TimedOut, message)
    }

    pub fn limit_exceeded(message: impl Into<String>) -> Self {
        Self::new(ErrorCase::LimitExceeded, message)
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorCase::Failed, message)
    }

    pub fn crashed(message: impl Into<String>) -> Self {
        Self::new(ErrorCase::Crashed, message)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.case, self.message)
    }
}

impl std::error::Error for ToolError {}

/// One call of one tool on behalf of one agent.
#[derive(Clone)]
pub struct ToolCall {
    pub tool: String,
    /// JSON text.
    pub arguments: String,
    /// All that the instance gets.
    pub authority: Arc<Authority>,
    /// Who is asked where the authority says "ask".
    pub approver: Arc<dyn Approver>,
}

/// What a call answered, and what it really used.
#[derive(Debug, Clone, Serialize)]
pub struct CallReport {
    pub result: Result<ToolOutput, ToolError>,
    pub receipt: Receipt,
}

/// Whoever can run tools.
#[async_trait]
pub trait ToolHost: Send + Sync {
    /// The tools that there are, by name.
    fn definitions(&self) -> Vec<Arc<ToolDefinition>>;

    /// Runs one call to its end or to its deadline. Cancel by dropping the future.
    async fn call(&self, call: ToolCall) -> CallReport;
}

/// Something a grant allows only after the user said yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Question {
    pub tool: String,
    /// What for, so that "always" can be remembered: `host docs.rs`, `program cargo`.
    pub subject: String,
    /// The exact act: the URL, the command line.
    pub act: String,
}

/// The user's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    Once,
    Session,
    Refuse,
}

/// Asks the user, or answers for a user who is not there.
#[async_trait]
pub trait Approver: Send + Sync {
    async fn ask(&self, question: Question) -> Answer;
}

/// Nobody is there: everything that would have to be asked is refused at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct Headless;

#[async_trait]
impl Approver for Headless {
    async fn ask(&self, _question: Question) -> Answer {
        Answer::Refuse
    }
}
