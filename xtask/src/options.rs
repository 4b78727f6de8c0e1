//! The command line, as data.

use crate::failure::Failure;

#[derive(Debug, PartialEq, Eq)]
pub enum Task {
    Help,
    Guests(GuestOptions),
    Demo,
    Test(TestOptions),
    Bench(BenchOptions),
}

/// Which build of the host precompiles the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    Dev,
    Release,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuestOptions {
    pub profile: Profile,
    /// Whether the components that only tests use are built too.
    pub test_components: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct TestOptions {
    pub ci: bool,
    /// For the test programs.
    pub passed_on: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct BenchOptions {
    /// For the benchmark program.
    pub passed_on: Vec<String>,
}

pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Task, Failure> {
    let mut arguments: Vec<String> = arguments.collect();
    let separator = arguments.iter().position(|argument| argument == "--");
    let passed_on = match separator {
        Some(at) => arguments.split_off(at).split_off(1),
        None => Vec::new(),
    };
    if arguments.iter().any(|argument| argument == "-h" || argument == "--help") {
        return Ok(Task::Help);
    }
    let Some((command, flags)) = arguments.split_first() else {
        return Err(Failure::Usage("no command given".into()));
    };
    let mut flags = Flags { command, given: flags.to_vec() };
    let task = match command.as_str() {
        "help" => Task::Help,
        "demo" => Task::Demo,
        "guests" => Task::Guests(GuestOptions {
            profile: if flags.take("--release") { Profile::Release } else { Profile::Dev },
            test_components: flags.take("--tests"),
        }),
        "test" => Task::Test(TestOptions { ci: flags.take("--ci"), passed_on: passed_on.clone() }),
        "bench" => Task::Bench(BenchOptions { passed_on: passed_on.clone() }),
        other => return Err(Failure::Usage(format!("there is no command `{other}`"))),
    };
    flags.none_left()?;
    if !passed_on.is_empty() && !matches!(task, Task::Test(_) | Task::Bench(_)) {
        return Err(Failure::Usage(format!("`{command}` takes no arguments after `--`")));
    }
    Ok(task)
}

struct Flags<'a> {
    command: &'a str,
    given: Vec<String>,
}

impl Flags<'_> {
    fn take(&mut self, flag: &str) -> bool {
        let before = self.given.len();
        self.given.retain(|given| given != flag);
        self.given.len() != before
    }

    fn none_left(&self) -> Result<(), Failure> {
        match self.given.first() {
            None => Ok(()),
            Some(unknown) => Err(Failure::Usage(format!(
                "`{}` does not take `{unknown}`; what is for the programs it runs goes after `--`",
                self.command
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Task, Failure> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn commands_and_their_flags() {
        assert_eq!(parsed("demo"), Ok(Task::Demo));
        assert_eq!(parsed("help"), Ok(Task::Help));
        assert_eq!(parsed("test --help"), Ok(Task::Help));
        assert_eq!(
            parsed("guests --tests --release"),
            Ok(Task::Guests(GuestOptions { profile: Profile::Release, test_components: true }))
        );
        assert_eq!(
            parsed("guests"),
            Ok(Task::Guests(GuestOptions { profile: Profile::Dev, test_components: false }))
        );
    }

    #[test]
    fn what_follows_the_separator_is_passed_on_untouched() {
        assert_eq!(
            parsed("test --ci -- --ci -- policy"),
            Ok(Task::Test(TestOptions {
                ci: true,
                passed_on: vec!["--ci".into(), "--".into(), "policy".into()],
            }))
        );
        assert_eq!(
            parsed("bench -- --help"),
            Ok(Task::Bench(BenchOptions { passed_on: vec!["--help".into()] }))
        );
    }

    #[test]
    fn what_is_not_known_is_a_usage_error() {
        for line in ["", "build", "demo --fast", "test policy", "guests -- x", "help me"] {
            assert!(matches!(parsed(line), Err(Failure::Usage(_))), "{line}");
        }
    }
}
