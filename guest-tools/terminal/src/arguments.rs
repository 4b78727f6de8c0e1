//! What the model may ask for, and the same as the command that the host is given.

use schemars::JsonSchema;
use serde::Deserialize;
use xzatoma_tool::process::Command;
use xzatoma_tool::{Error, Result, paths};

use crate::words;

const DEFAULT_MAX_OUTPUT: u64 = 64 * 1024;

/// Both streams together must fit into what the host lets a call answer.
const MAX_OUTPUT: u64 = 512 * 1024;

/// An hour; the deadline of the call is usually much shorter, and holds anyway.
const MAX_TIMEOUT_SECONDS: u64 = 3600;

/// Program and arguments together: what Linux takes at once is about this much.
const MAX_COMMAND_BYTES: usize = 128 * 1024;

// What the model reads about the fields are their doc comments; the struct itself has none.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Program and arguments, best as a list: ["cargo", "test"]. One string is split at spaces,
    /// with quotes; no shell is used, so pipes, redirections, variables and globs do not work.
    pub command: Words,
    /// Directory to run in; default the workspace.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Text for the program's standard input; default none.
    #[serde(default)]
    pub stdin: Option<String>,
    /// Stops the program after so many seconds, 1 to 3600; default what is left of the call's time.
    #[serde(default)]
    pub timeout_seconds: Option<u64>,
    /// Bytes kept of each output stream, at most 524288; default 65536.
    #[serde(default)]
    pub max_output_bytes: Option<u64>,
}

/// A command as a list of words, or as one string.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a list of strings, or one string")]
pub enum Words {
    List(Vec<String>),
    Line(String),
}

impl Default for Words {
    fn default() -> Self {
        Words::List(Vec::new())
    }
}

impl TryFrom<Arguments> for Command {
    type Error = Error;

    fn try_from(arguments: Arguments) -> Result<Command> {
        let (program, rest) = program_and_arguments(arguments.command)?;
        let max_output = arguments.max_output_bytes.unwrap_or(DEFAULT_MAX_OUTPUT);
        check("max_output_bytes", max_output, 1, MAX_OUTPUT)?;
        if let Some(seconds) = arguments.timeout_seconds {
            check("timeout_seconds", seconds, 1, MAX_TIMEOUT_SECONDS)?;
        }
        Ok(Command {
            program,
            arguments: rest,
            directory: directory(arguments.cwd.as_deref().unwrap_or("."))?,
            stdin: arguments.stdin.unwrap_or_default().into_bytes(),
            timeout_ms: arguments.timeout_seconds.map(|seconds| seconds * 1000),
            max_output,
        })
    }
}

fn program_and_arguments(command: Words) -> Result<(String, Vec<String>)> {
    let words = match command {
        Words::List(words) => words,
        Words::Line(line) => words::split(&line).map_err(|refusal| {
            Error::invalid_input(format!("the command cannot be run as it stands: {refusal}"))
        })?,
    };
    if words.iter().any(|word| word.contains('\0')) {
        return Err(Error::invalid_input(
            "the command contains a NUL character, which no program can be given; remove it",
        ));
    }
    let bytes: usize = words.iter().map(|word| word.len() + 1).sum();
    if bytes > MAX_COMMAND_BYTES {
        return Err(Error::invalid_input(format!(
            "the command has {bytes} bytes; at most {MAX_COMMAND_BYTES} are possible: give the \
             text by `stdin` or in a file"
        )));
    }
    let mut words = words.into_iter();
    match words.next() {
        Some(program) if !program.trim().is_empty() => Ok((program, words.collect())),
        _ => Err(Error::invalid_input(
            "the command is empty; give a program and its arguments, such as [\"ls\", \"-l\"]",
        )),
    }
}

/// Absolute, as the host wants it. Which directories are granted is the host's to say: this tool
/// has none of its own.
fn directory(given: &str) -> Result<String> {
    if given.contains('\0') {
        return Err(Error::invalid_input("`cwd` contains a NUL character; remove it"));
    }
    Ok(match given {
        "" | "." => paths::WORKSPACE.to_owned(),
        absolute if absolute.starts_with('/') => absolute.to_owned(),
        relative => format!("{}/{relative}", paths::WORKSPACE),
    })
}

fn check(name: &str, value: u64, least: u64, most: u64) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::invalid_input(format!("`{name}` is {value}; it can be {least} to {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(json: &str) -> Result<Command> {
        let arguments: Arguments = serde_json::from_str(json).unwrap();
        Command::try_from(arguments)
    }

    #[test]
    fn both_forms_and_defaults() {
        for json in [r#"{"command":["echo","a b"]}"#, r#"{"command":"echo 'a b'"}"#] {
            let command = command(json).unwrap();
            assert_eq!(command.program, "echo");
            assert_eq!(command.arguments, ["a b"]);
            assert_eq!(command.directory, "/workspace");
            assert_eq!((command.timeout_ms, command.max_output), (None, 64 * 1024));
            assert!(command.stdin.is_empty());
        }
    }

    #[test]
    fn everything_arrives() {
        let json = r#"{"command":["cat"],"cwd":"sub","stdin":"hé","timeout_seconds":5,"max_output_bytes":10}"#;
        let command = command(json).unwrap();
        assert_eq!(command.directory, "/workspace/sub");
        assert_eq!(command.stdin, "hé".as_bytes());
        assert_eq!((command.timeout_ms, command.max_output), (Some(5000), 10));
        assert_eq!(directory("/data").unwrap(), "/data");
    }

    #[test]
    fn lists_are_not_split_or_read() {
        let command = command(r#"{"command":["echo","$HOME","a|b","*"]}"#).unwrap();
        assert_eq!(command.arguments, ["$HOME", "a|b", "*"]);
    }

    #[test]
    fn nonsense_is_invalid() {
        for json in [
            r#"{"command":[]}"#,
            r#"{"command":""}"#,
            r#"{"command":"  "}"#,
            r#"{"command":[""]}"#,
            r#"{"command":"''"}"#,
            r#"{"command":["a\u0000b"]}"#,
            r#"{"command":"a\u0000b"}"#,
            r#"{"command":"a | b"}"#,
            r#"{"command":["a"],"cwd":"a\u0000"}"#,
            r#"{"command":["a"],"timeout_seconds":0}"#,
            r#"{"command":["a"],"timeout_seconds":3601}"#,
            r#"{"command":["a"],"max_output_bytes":0}"#,
            r#"{"command":["a"],"max_output_bytes":524289}"#,
        ] {
            assert_eq!(command(json).unwrap_err().case(), "invalid-input", "{json}");
        }
        let long = Arguments {
            command: Words::List(vec!["a".into(), "b".repeat(200_000)]),
            ..Default::default()
        };
        assert!(Command::try_from(long).unwrap_err().message().contains("stdin"));
    }
}
