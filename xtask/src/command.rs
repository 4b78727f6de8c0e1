//! Starts other programs, and shows the exact command line when one fails.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

use crate::failure::Failure;
use crate::interrupt;

/// A program with its arguments, to be run in a clean environment: without what `cargo run` added
/// for this program, since a Cargo started from here would see changed variables and libraries
/// and build again what is built.
pub struct Program {
    command: Command,
    /// As a shell would need it, to be repeated by hand.
    line: String,
}

impl Program {
    pub fn new(program: impl AsRef<OsStr>) -> Program {
        let program = program.as_ref();
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if is_set_by_cargo_run(&name.to_string_lossy()) {
                command.env_remove(&name);
            }
        }
        Program { command, line: quoted(&display_name(program)) }
    }

    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Program {
        let argument = argument.as_ref();
        self.line.push(' ');
        self.line.push_str(&quoted(&argument.to_string_lossy()));
        self.command.arg(argument);
        self
    }

    pub fn args(self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Program {
        arguments.into_iter().fold(self, Program::arg)
    }

    /// A variable that matters to whoever repeats the command by hand.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Program {
        let value = value.as_ref();
        self.line = format!("{name}={} {}", quoted(&value.to_string_lossy()), self.line);
        self.command.env(name, value);
        self
    }

    /// A variable that only undoes what starting from here changed.
    pub fn quiet_env(mut self, name: &str, value: Option<&OsStr>) -> Program {
        match value {
            Some(value) => self.command.env(name, value),
            None => self.command.env_remove(name),
        };
        self
    }

    pub fn directory(mut self, directory: &Path) -> Program {
        self.command.current_dir(directory);
        self
    }

    #[cfg(test)]
    fn line(&self) -> &str {
        &self.line
    }

    /// Runs it with this terminal; anything but success is a failure.
    pub fn run(mut self) -> Result<(), Failure> {
        let status = self.command.status().map_err(|error| self.not_started(&error))?;
        self.check(status)
    }

    /// Runs it and answers what it wrote to standard output; anything but success is a failure.
    /// What it says on standard error, and so its progress, goes to this terminal.
    pub fn read(mut self) -> Result<String, Failure> {
        self.command.stdin(Stdio::null()).stderr(Stdio::inherit());
        let output = self.command.output().map_err(|error| self.not_started(&error))?;
        self.check(output.status)?;
        String::from_utf8(output.stdout)
            .map_err(|_| Failure::failed(format!("`{}` did not write UTF-8", self.line)))
    }

    /// Runs it, whatever comes of it.
    pub fn capture(mut self) -> Result<Output, Failure> {
        self.command.stdin(Stdio::null());
        let output = self.command.output().map_err(|error| self.not_started(&error))?;
        if interrupt::happened() { Err(Failure::Interrupted) } else { Ok(output) }
    }

    /// Whether it can be started and succeeds; says nothing.
    pub fn works(mut self) -> bool {
        self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.command.status().is_ok_and(|status| status.success())
    }

    fn check(&self, status: ExitStatus) -> Result<(), Failure> {
        if interrupt::happened() {
            return Err(Failure::Interrupted);
        }
        if status.success() {
            return Ok(());
        }
        Err(Failure::failed(format!("this command failed ({status}):\n  {}", self.line)))
    }

    fn not_started(&self, error: &std::io::Error) -> Failure {
        Failure::failed(format!("this command could not be started ({error}):\n  {}", self.line))
    }
}

/// What Cargo sets for a program that it runs, as opposed to what its user set for Cargo.
fn is_set_by_cargo_run(name: &str) -> bool {
    const EXACT: [&str; 8] = [
        "CARGO",
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_PATH",
        "CARGO_MANIFEST_LINKS",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_BIN_NAME",
        "CARGO_CRATE_NAME",
        "OUT_DIR",
    ];
    EXACT.contains(&name) || name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_BIN_EXE_")
}

/// `paths` without those below one of `roots`; nothing if that leaves none. Cargo puts its own
/// directories in front of the variable that names where libraries are.
pub fn without(paths: &OsStr, roots: &[&Path]) -> Option<OsString> {
    let kept: Vec<PathBuf> = std::env::split_paths(paths)
        .filter(|path| !path.as_os_str().is_empty())
        .filter(|path| !roots.iter().any(|root| path.starts_with(root)))
        .collect();
    if kept.is_empty() { None } else { std::env::join_paths(kept).ok() }
}

fn display_name(program: &OsStr) -> String {
    let path = Path::new(program);
    // Cargo is started by its full path, which tells a reader nothing.
    match path.file_stem().and_then(OsStr::to_str) {
        Some("cargo") => "cargo".to_owned(),
        _ => program.to_string_lossy().into_owned(),
    }
}

/// A word as a POSIX shell reads it back.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_can_be_repeated_in_a_shell() {
        let program = Program::new("/opt/rust/bin/cargo")
            .args(["build", "-p", "xzatoma"])
            .arg("it's {}")
            .env("XZATOMA_TOOLS_DIR", "/a b/tools");
        assert_eq!(
            program.line(),
            r"XZATOMA_TOOLS_DIR='/a b/tools' cargo build -p xzatoma 'it'\''s {}'"
        );
    }

    #[test]
    fn only_what_cargo_run_sets_is_removed() {
        for name in ["CARGO_MANIFEST_DIR", "CARGO_PKG_VERSION", "CARGO", "CARGO_BIN_EXE_xtask"] {
            assert!(is_set_by_cargo_run(name), "{name}");
        }
        for name in ["CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_NET_OFFLINE", "RUSTFLAGS", "PATH"] {
            assert!(!is_set_by_cargo_run(name), "{name}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn library_directories_of_cargo_are_dropped_and_others_kept() {
        let roots = [Path::new("/w/target"), Path::new("/r/toolchain")];
        let paths = OsStr::new("/w/target/debug/deps:/w/target/debug:/r/toolchain/lib:/usr/x/lib:");
        assert_eq!(without(paths, &roots), Some("/usr/x/lib".into()));
        assert_eq!(without(OsStr::new("/w/target/debug"), &roots), None);
        assert_eq!(without(OsStr::new("/w/target2/lib"), &roots), Some("/w/target2/lib".into()));
    }

    #[test]
    #[cfg(unix)]
    fn a_failure_names_the_command() {
        let failure = Program::new("false").arg("x y").run().unwrap_err();
        assert!(failure.to_string().contains("false 'x y'"), "{failure}");
        let failure = Program::new("/no/such/program").run().unwrap_err();
        assert!(failure.to_string().contains("/no/such/program"), "{failure}");
    }
}
