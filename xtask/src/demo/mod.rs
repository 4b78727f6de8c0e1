//! `demo`: shows the main job, offline: tools that work inside their grant, and are refused
//! outside it.
//!
//! Every command is shown as a user would type it, with its real output and exit code, and its
//! exit code is checked: a demo that shows something else than it should fails.

mod project;
mod scene;

use std::path::Path;

use crate::failure::Failure;
use crate::files::TemporaryDirectory;
use crate::guests;
use crate::options::{GuestOptions, Profile};
use crate::step::step;
use crate::workspace::Workspace;
use scene::{Outcome, Scene};

/// The exit codes that the program documents.
const DONE: i32 = 0;
const DENIED: i32 = 10;
const SANDBOX_UNAVAILABLE: i32 = 13;

pub fn run(workspace: &Workspace) -> Result<(), Failure> {
    let options = GuestOptions { profile: Profile::Dev, test_components: false };
    guests::prepare(workspace, options)?;
    let messages = step("building xzatoma", || {
        let cargo = workspace.cargo_with_tools().args(["build", "--package", "xzatoma"]);
        cargo.args(["--bin", "xzatoma", "--message-format", "json-render-diagnostics"]).read()
    })?;
    let program = guests::executable(&messages, "xzatoma")
        .ok_or_else(|| Failure::failed("Cargo built no program `xzatoma`"))?;

    let temporary = TemporaryDirectory::new("demo")?;
    let project = project::create(temporary.path())?;
    println!("\nA small project in a temporary directory, with a link that points out of it:\n");
    project::show(&project)?;
    let outcomes = perform(&program, &project)?;
    project::check_untouched(temporary.path())?;
    summarise(&outcomes)
}

fn perform(program: &Path, project: &Path) -> Result<Vec<Outcome>, Failure> {
    let outcomes = scenes().into_iter().map(|scene| scene.play(program, project)).collect();
    println!();
    outcomes
}

fn scenes() -> Vec<Scene> {
    let call = |tool: &str, arguments: &str, options: &[&str]| {
        let mut line = vec!["tools", "call", tool, arguments];
        line.extend(options);
        line.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let strict = ["--sandbox", "strict"];
    vec![
        Scene::new("What tools are there?", vec!["tools".into(), "list".into()], DONE)
            .showing("grep"),
        Scene::new(
            "Search the project.",
            call("grep", r#"{"pattern":"lantern","context":1}"#, &[]),
            DONE,
        )
        .showing("harbour.rs"),
        Scene::new(
            "Read a file, with a component that has no code to write one.",
            call("file_ops_readonly", r#"{"operation":"read","path":"notes/plan.md"}"#, &[]),
            DONE,
        )
        .showing("Light the lantern"),
        Scene::new(
            "Climb out of the project.",
            call("file_ops_readonly", r#"{"operation":"read","path":"../../etc/passwd"}"#, &[]),
            DENIED,
        ),
        Scene::new(
            "Leave by a link that points out.",
            call("file_ops_readonly", r#"{"operation":"read","path":"way-out/secret.txt"}"#, &[]),
            DENIED,
        ),
        Scene::new(
            "Plant a hook in .git.",
            call(
                "file_ops",
                r#"{"operation":"write","path":".git/hooks/pre-commit","content":"x"}"#,
                &[],
            ),
            DENIED,
        ),
        Scene::new(
            "Write, where an untrusted task may only read.",
            call("file_ops", r#"{"operation":"write","path":"new.txt","content":"x"}"#, &strict),
            DENIED,
        ),
        Scene::new(
            "Ask the cloud's metadata service for its secrets.",
            call("fetch", r#"{"url":"http://169.254.169.254/"}"#, &[]),
            DENIED,
        ),
        Scene::new(
            "Run a program that nobody allowed.",
            call("terminal", r#"{"command":"uname -s"}"#, &strict),
            DENIED,
        ),
        Scene::new(
            "Run one that is allowed, inside the operating system's sandbox.",
            call(
                "terminal",
                r#"{"command":"uname -s"}"#,
                &["--sandbox", "strict", "--allow-command", "uname"],
            ),
            DONE,
        )
        .or_unavailable(SANDBOX_UNAVAILABLE),
        Scene::new(
            "What may a tool do at this level, and why?",
            ["sandbox", "explain", "--sandbox", "strict"].map(str::to_owned).to_vec(),
            DONE,
        )
        .or_unavailable(SANDBOX_UNAVAILABLE),
    ]
}

fn summarise(outcomes: &[Outcome]) -> Result<(), Failure> {
    let count = |wanted: Outcome| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    let wrong = count(Outcome::Wrong);
    println!("{} commands: {} as expected, {wrong} not.", outcomes.len(), outcomes.len() - wrong);
    if count(Outcome::Unavailable) > 0 {
        println!(
            "This system offers no sandbox for native programs, so strict refused to run one. \
             Everything else works the same."
        );
    }
    if wrong > 0 {
        return Err(Failure::failed("the demo did not go as it should; see above"));
    }
    println!("The files outside the project, and its .git, are as they were.");
    println!("Next: `cargo xtask test` runs all tests; `docs/` explains how it works.");
    Ok(())
}
