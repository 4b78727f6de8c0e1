//! One command of the demo, with what it should come to.

use std::io::Write as _;
use std::path::Path;

use crate::command::{Program, quoted};
use crate::failure::Failure;

pub struct Scene {
    title: &'static str,
    arguments: Vec<String>,
    expected: i32,
    /// The exit code by which the program says that this system lacks what the command needs.
    unavailable: Option<i32>,
    /// What its output has to contain.
    shows: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    AsExpected,
    Unavailable,
    Wrong,
}

impl Scene {
    pub fn new(title: &'static str, arguments: Vec<String>, expected: i32) -> Scene {
        Scene { title, arguments, expected, unavailable: None, shows: None }
    }

    pub fn or_unavailable(self, code: i32) -> Scene {
        Scene { unavailable: Some(code), ..self }
    }

    pub fn showing(self, text: &'static str) -> Scene {
        Scene { shows: Some(text), ..self }
    }

    /// Runs the command in the project, and shows what comes of it.
    pub fn play(&self, program: &Path, project: &Path) -> Result<Outcome, Failure> {
        let words: Vec<String> = self.arguments.iter().map(|word| quoted(word)).collect();
        println!("\n# {}\n$ xzatoma {}", self.title, words.join(" "));
        let output = Program::new(program).args(&self.arguments).directory(project).capture()?;
        for stream in [&output.stdout, &output.stderr] {
            show(stream)?;
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        let outcome = self.judge(output.status.code(), &printed);
        let code = output.status.code().map_or("none".into(), |code| code.to_string());
        match outcome {
            Outcome::AsExpected => println!("  [exit code {code}, as expected]"),
            Outcome::Unavailable => {
                println!("  [exit code {code}: not available on this system]");
            }
            Outcome::Wrong => println!("  [exit code {code}; EXPECTED {}]", self.expectation()),
        }
        Ok(outcome)
    }

    fn judge(&self, code: Option<i32>, printed: &str) -> Outcome {
        let Some(code) = code else {
            return Outcome::Wrong;
        };
        if Some(code) == self.unavailable {
            return Outcome::Unavailable;
        }
        if code == self.expected && self.shows.is_none_or(|text| printed.contains(text)) {
            return Outcome::AsExpected;
        }
        Outcome::Wrong
    }

    fn expectation(&self) -> String {
        match self.shows {
            Some(text) => format!("{} and `{text}` in the output", self.expected),
            None => self.expected.to_string(),
        }
    }
}

fn show(stream: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let write = stream
        .split_inclusive(|byte| *byte == b'\n')
        .try_for_each(|line| out.write_all(b"  ").and_then(|()| out.write_all(line)))
        .and_then(|()| {
            if stream.last().is_some_and(|b| *b != b'\n') { out.write_all(b"\n") } else { Ok(()) }
        });
    write.map_err(|error| Failure::failed(format!("cannot write the output: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_is_judged_by_exit_code_and_output() {
        let scene = Scene::new("t", Vec::new(), 0).showing("grep").or_unavailable(13);
        assert_eq!(scene.judge(Some(0), "a grep b"), Outcome::AsExpected);
        assert_eq!(scene.judge(Some(0), "nothing"), Outcome::Wrong);
        assert_eq!(scene.judge(Some(10), "grep"), Outcome::Wrong);
        assert_eq!(scene.judge(Some(13), ""), Outcome::Unavailable);
        assert_eq!(scene.judge(None, "grep"), Outcome::Wrong, "killed by a signal");
        assert_eq!(Scene::new("t", Vec::new(), 10).judge(Some(13), ""), Outcome::Wrong);
    }
}
