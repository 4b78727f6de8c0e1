//! Runs a table of cases, and after each looks at everything that must be as it was.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde_json::Value;
use xzatoma::policy::{Access, Authority};
use xzatoma::tool::{CallReport, ErrorCase};

use super::isolate;
use super::scene::Scene;
use super::vital::{self, Vital};

/// What a case found wrong.
pub type Verdict = Result<(), String>;

/// One row. Several rows can show the same threat, each under another name.
pub struct Case {
    pub id: &'static str,
    pub name: &'static str,
    /// Whether the whole workspace must stay as it is, not only what is protected.
    read_only: bool,
    run: Box<dyn FnOnce(&mut Scene) -> Verdict>,
}

/// What must come of a call.
pub enum Expected {
    /// Refused by the host, and the receipt says so.
    Denied,
    /// One of these.
    Fails(&'static [ErrorCase]),
    /// An answer with this in it.
    Says(&'static str),
    /// Whatever this accepts.
    Holds(fn(&CallReport) -> Verdict),
}

/// A caller waits this much longer than the deadline at most. The sandbox promises 100 ms, which
/// the cases about time check; the rest only have to be right while other tests use the machine.
const LATE: Duration = Duration::from_secs(2);

/// A call of the hostile tool.
pub fn attack(
    id: &'static str,
    name: &'static str,
    arguments: Value,
    authority: Authority,
    expected: Expected,
) -> Case {
    let read_only = authority.dirs.iter().all(|dir| dir.access == Access::Read);
    let run = move |scene: &mut Scene| {
        let (report, waited) = scene.timed_attack(arguments, &authority);
        if waited > authority.limits.deadline() + LATE {
            return Err(format!("the answer came after {waited:?}"));
        }
        check(&report, &expected)
    };
    Case { id, name, read_only, run: Box::new(run) }
}

/// Anything else. The workspace may change.
pub fn case(
    id: &'static str,
    name: &'static str,
    run: impl FnOnce(&mut Scene) -> Verdict + 'static,
) -> Case {
    Case { id, name, read_only: false, run: Box::new(run) }
}

pub fn check(report: &CallReport, expected: &Expected) -> Verdict {
    let unexpected = |what: &str| {
        let denials = &report.receipt.denials;
        Err(format!("{what}; got {:?}, denials {denials:?}", shortened(report)))
    };
    match (expected, &report.result) {
        (Expected::Denied, Err(error)) if error.case == ErrorCase::Denied => {
            match report.receipt.denials.is_empty() {
                true => unexpected("the receipt shows no denial"),
                false => Ok(()),
            }
        }
        (Expected::Denied, _) => unexpected("expected denied"),
        (Expected::Fails(cases), Err(error)) if cases.contains(&error.case) => Ok(()),
        (Expected::Fails(cases), _) => unexpected(&format!("expected one of {cases:?}")),
        (Expected::Says(text), Ok(output)) if output.text.contains(text) => Ok(()),
        (Expected::Says(text), _) => unexpected(&format!("expected {text:?}")),
        (Expected::Holds(accepts), _) => accepts(report),
    }
}

/// A hostile answer can be long.
pub fn shortened(report: &CallReport) -> Result<String, String> {
    let cut = |text: &str| text.chars().take(500).collect::<String>();
    report.result.as_ref().map(|output| cut(&output.text)).map_err(|error| cut(&error.to_string()))
}

/// Runs a group's cases, one after the other, in a process of its own.
#[expect(clippy::print_stderr, reason = "the log of the group's process, shown when it fails")]
pub fn run(test: &str, cases: impl FnOnce() -> Vec<Case>) {
    isolate::alone(test, || {
        vital::count_panics();
        adopt_orphans();
        let mut scene = Scene::new();
        warm_up(&scene);
        let start = Vital::now();
        let mut failures = Vec::new();
        for case in cases() {
            let (id, name) = (case.id, case.name);
            // Shown when the process does not come back from a case.
            eprintln!("{id} {name}");
            if let Err(problems) = run_one(&mut scene, case, &start) {
                failures
                    .extend(problems.into_iter().map(|problem| format!("{id} {name}: {problem}")));
            }
        }
        if let Some(problem) = start.rested_since() {
            failures.push(format!("at the end: {problem}"));
        }
        assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    });
}

fn run_one(scene: &mut Scene, case: Case, start: &Vital) -> Result<(), Vec<String>> {
    scene.stage();
    let (protected, everything) = (scene.protected(), scene.everything());
    let panics = vital::panics();
    // The workspace has second names of files outside, which were read just now.
    scene.outside.age();
    let ran = catch_unwind(AssertUnwindSafe(|| (case.run)(scene)));
    let mut problems = match ran {
        Ok(verdict) => verdict.err().into_iter().collect(),
        Err(_) => vec!["the test itself panicked".to_owned()],
    };
    if problems.is_empty() && vital::panics() != panics {
        problems.push("the host panicked".to_owned());
    }
    problems.extend(scene.outside.difference().map(|what| format!("outside: {what}")));
    problems.extend(scene.canary().err());
    problems.extend(start.settled_since());
    problems
        .extend(protected.difference(&scene.protected()).map(|what| format!("protected: {what}")));
    if case.read_only {
        let changed = everything.difference(&scene.everything());
        problems.extend(changed.map(|what| format!("read-only: {what}")));
    }
    problems.extend(vital::settles(|| match scene.world.sandbox().stuck_threads() {
        0 => None,
        stuck => Some(format!("{stuck} threads are stuck")),
    }));
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Everything that is made at its first use is made before anything is measured.
fn warm_up(scene: &Scene) {
    use super::scene::{reading, writing};
    use serde_json::json;
    scene.stage();
    for _ in 0..3 {
        scene.canary().unwrap();
        for (arguments, authority) in [
            (json!({"case": "scan", "path": "/workspace"}), reading()),
            (json!({"case": "list", "path": "."}), writing()),
            (json!({"case": "allocate"}), reading()),
            (json!({"case": "http", "authority": "unknown.test"}), {
                use crate::harness::grant::Add;
                reading().public()
            }),
        ] {
            scene.attack(arguments, &authority);
        }
        scene.world.call("grep", json!({"pattern": "alpha"}), &reading());
    }
    scene.names.take_asked();
}

/// Processes whose parent ended come to this one, where they are seen.
fn adopt_orphans() {
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own)).unwrap();
}
