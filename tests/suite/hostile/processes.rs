//! Programs: past the grant. What holds a program that does run has its tests in `process`; here
//! are the ways of a guest that holds the raw interface.

use serde_json::{Value, json};
use xzatoma::policy::Authority;
use xzatoma::tool::ErrorCase;

use super::scene::{Scene, reading, writing};
use super::table::{Case, Expected, Verdict, attack, case, check, run};
use crate::harness::grant::{self, Add};

fn start(program: &str, arguments: &[&str]) -> Value {
    json!({"case": "run", "program": program, "arguments": arguments})
}

#[test]
fn only_granted_programs_start() {
    run("hostile::processes::only_granted_programs_start", || {
        let mut cases = vec![
            case("T-PROC-01", "no program in the grant", |scene| {
                // The interface is not there: the component cannot even be put together.
                let report = scene.attack(start("true", &[]), &grant::reading());
                check(&report, &Expected::Denied)
            }),
            attack(
                "T-PROC-01",
                "a program that is not granted",
                start("sh", &["-c", "true"]),
                reading().program("true"),
                Expected::Denied,
            ),
            attack(
                "T-PROC-02",
                "a granted name by a path",
                start("/bin/true", &[]),
                reading().program("true"),
                Expected::Denied,
            ),
            attack(
                "T-PROC-02",
                "a granted name by a path of the workspace",
                start("./true", &[]),
                reading().program("true"),
                Expected::Denied,
            ),
            attack(
                "T-PROC-02",
                "a granted name with arguments in it",
                start("true --version", &[]),
                reading().program("true"),
                Expected::Denied,
            ),
            attack(
                "T-PROC-02",
                "a granted name and a NUL",
                start("true\0sh", &[]),
                reading().program("true"),
                Expected::Fails(&[ErrorCase::InvalidInput, ErrorCase::Denied]),
            ),
            attack(
                "T-PROC-02",
                "no name",
                start("", &[]),
                reading().program("true"),
                Expected::Fails(&[ErrorCase::InvalidInput, ErrorCase::Denied]),
            ),
            attack(
                "T-PROC-02",
                "a NUL in an argument",
                start("true", &["a\0b"]),
                reading().program("true"),
                Expected::Fails(&[ErrorCase::InvalidInput]),
            ),
            attack(
                "T-PROC-03",
                "arguments without end",
                start("true", &[&"x".repeat(1 << 20)]),
                reading().program("true"),
                Expected::Fails(&[ErrorCase::LimitExceeded]),
            ),
            attack(
                "T-PROC-04",
                "a directory outside",
                json!({"case": "run", "program": "true", "path": "/etc"}),
                reading().program("true"),
                Expected::Fails(&[ErrorCase::Denied, ErrorCase::NotFound]),
            ),
            attack(
                "T-PROC-04",
                "a directory above",
                json!({"case": "run", "program": "true", "path": "/workspace/../etc"}),
                reading().program("true"),
                Expected::Fails(&[ErrorCase::Denied, ErrorCase::NotFound]),
            ),
            attack(
                "T-PROC-04",
                "a directory through a link",
                json!({"case": "run", "program": "true", "path": "/workspace/absolute-directory"}),
                reading().program("true"),
                Expected::Fails(&[ErrorCase::Denied, ErrorCase::NotFound, ErrorCase::Failed]),
            ),
            attack(
                "T-PROC-04",
                "a program that does not exist",
                start("a-program-that-does-not-exist", &[]),
                reading(),
                Expected::Fails(&[ErrorCase::NotFound, ErrorCase::Denied]),
            ),
        ];
        cases.extend(running());
        cases
    });
}

/// A program that is granted and runs, where the system can hold it; else it must be refused.
fn confined(
    id: &'static str,
    name: &'static str,
    arguments: Value,
    authority: Authority,
    expected: Expected,
) -> Case {
    case(id, name, move |scene: &mut Scene| -> Verdict {
        let available = scene.world.runtime().block_on(scene.world.sandbox().process_confinement());
        let report = scene.attack(arguments, &authority);
        match available {
            Ok(()) => check(&report, &expected),
            Err(_) => check(&report, &Expected::Denied),
        }
    })
}

fn running() -> Vec<Case> {
    let shell = |script: &str| start("sh", &["-c", script]);
    let allowed = || writing().program("sh");
    vec![
        confined(
            "T-PROC-05",
            "the same calls work when granted",
            shell("echo hello"),
            allowed(),
            Expected::Says("exit Some(0)"),
        ),
        confined(
            "T-PROC-05",
            "what it starts ends with it",
            shell("sleep 1000 & sleep 1000 & sleep 1000"),
            allowed().deadline_ms(1000),
            Expected::Fails(&[ErrorCase::TimedOut]),
        ),
        confined(
            "T-PROC-05",
            "what it leaves behind ends too",
            shell("setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo left"),
            allowed(),
            Expected::Says("left"),
        ),
        confined(
            "T-PROC-06",
            "the hooks of the repository",
            shell(
                "echo x > .git/hooks/pre-commit; echo x > nested/.git/config; rm -rf .git; echo tried",
            ),
            allowed(),
            Expected::Says("tried"),
        ),
        confined(
            "T-PROC-06",
            "the host's own files",
            shell("cat own/xzatoma/token.txt; echo x > own/xzatoma/token.txt; echo tried"),
            allowed(),
            Expected::Holds(|report| match &report.result {
                Ok(output)
                    if output.text.contains("tried") && !output.text.contains("OWN-SECRET") =>
                {
                    Ok(())
                }
                other => Err(format!("{other:?}")),
            }),
        ),
        confined(
            "T-PROC-06",
            "the files outside",
            shell(
                "cat ../outside/secret.txt up-link absolute-link; echo x > ../outside/new; echo tried",
            ),
            allowed(),
            Expected::Holds(|report| match &report.result {
                Ok(output)
                    if output.text.contains("tried") && !output.text.contains("OUTSIDE-SECRET") =>
                {
                    Ok(())
                }
                other => Err(format!("{other:?}")),
            }),
        ),
        confined(
            "T-PROC-07",
            "the host's environment",
            shell("env"),
            allowed(),
            Expected::Holds(|report| match &report.result {
                Ok(output)
                    if output.text.contains("PATH=")
                        && !output.text.contains("XZATOMA_SUITE_ALONE") =>
                {
                    Ok(())
                }
                other => Err(format!("{other:?}")),
            }),
        ),
        confined(
            "T-PROC-07",
            "the host's descriptors",
            shell("ls /proc/self/fd | wc -l"),
            allowed(),
            Expected::Holds(|report| match &report.result {
                // The three streams, and the one by which `ls` reads the directory.
                Ok(output) if output.text.lines().any(|line| line.trim() == "4") => Ok(()),
                other => Err(format!("{other:?}")),
            }),
        ),
        confined(
            "T-PROC-08",
            "output without end",
            shell("yes"),
            allowed().deadline_ms(1000),
            Expected::Fails(&[ErrorCase::TimedOut]),
        ),
        confined(
            "T-PROC-08",
            "more output than is kept",
            shell("head -c 50000000 /dev/zero"),
            allowed(),
            Expected::Says("50000000 + 0 bytes"),
        ),
    ]
}
