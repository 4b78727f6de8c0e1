//! `terminal`: programs of the system, each in the operating system's sandbox.

mod confinement;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xzatoma::capability::process;
use xzatoma::policy::{Authority, Level, LevelOptions};
use xzatoma::tool::ErrorCase::{Denied, Failed, InvalidInput, NotFound, TimedOut};

use super::{Caller, fact, skip};
use crate::harness::grant::{self, Add};
use crate::harness::{World, helper};

/// A world for processes; none, with a word about it, where the system cannot confine them.
fn world() -> Option<World> {
    match process::availability(&helper()) {
        Ok(()) => Some(World::new()),
        Err(why) => {
            skip(&why);
            None
        }
    }
}

/// A level with these programs named by `--allow-command`.
fn level(level: Level, commands: &[&str]) -> Authority {
    let commands = commands.iter().map(|name| (*name).to_owned()).collect();
    level.authority(&LevelOptions { commands, ..LevelOptions::default() })
}

/// A terminal under strict with these programs.
fn strict<'w>(world: &'w World, commands: &[&str]) -> Caller<'w> {
    Caller::new(world, "terminal", level(Level::Strict, commands))
}

fn run(command: &[&str]) -> Value {
    json!({"command": command})
}

fn sh(script: &str) -> Value {
    run(&["sh", "-c", script])
}

/// What a program wrote to its output, out of an answer that shows both streams.
#[track_caller]
fn stdout(text: &str) -> &str {
    let (_, after) = text.split_once("--- stdout\n").unwrap_or_else(|| panic!("{text}"));
    after.split_once("--- stderr").unwrap_or_else(|| panic!("{text}")).0
}

#[test]
fn a_command_is_a_list_or_a_line() {
    let Some(world) = world() else { return };
    let caller = strict(&world, &["echo"]);
    let report = caller.report(run(&["echo", "a  b", "$HOME", "*", "", "\"q\""]));
    let output = report.result.unwrap();
    assert!(output.text.starts_with("exit code 0 after "), "{}", output.text);
    assert_eq!(stdout(&output.text), "a  b $HOME *  \"q\"\n");
    assert!(output.text.ends_with("--- stderr: empty"), "{}", output.text);
    assert_eq!((fact(&output, "exit_code"), fact(&output, "stdout_bytes")), ("0", "18"));
    assert!(fact(&output, "duration_ms").parse::<u64>().is_ok());
    let used = &report.receipt.processes[0];
    assert_eq!((used.argv[1].as_str(), used.exit_code), ("a  b", Some(0)));

    let line = json!({"command": r#"echo 'a  b' "c \"d\"" e\ f '$HOME | x'"#});
    assert_eq!(stdout(&caller.text(line)), "a  b c \"d\" e f $HOME | x\n");
}

#[test]
fn what_only_a_shell_would_do_is_refused() {
    let world = World::new();
    let caller = strict(&world, &["echo", "sh"]);
    for (line, part) in [
        ("echo a | cat", "\"|\""),
        ("echo a && echo b", "\"&&\""),
        ("echo a; echo b", "\";\""),
        ("echo a > f", "\">\""),
        ("echo a\necho b", "\"\\n\""),
        ("echo $HOME", "\"$H\""),
        ("echo $(id)", "\"$(\""),
        ("echo \"`id`\"", "\"`\""),
        ("echo *.rs", "\"*\""),
        ("echo ~/x", "\"~\""),
    ] {
        let message =
            caller.fails(json!({"command": line}), InvalidInput, &[part, "needs a shell"]);
        assert!(message.contains(r#"["sh", "-c", "..."]"#), "{message}");
    }
    caller.fails(json!({"command": "echo 'a"}), InvalidInput, &["not closed"]);
    caller.fails(json!({"command": "echo a\\"}), InvalidInput, &["backslash"]);
}

#[test]
fn what_is_no_command() {
    let world = World::new();
    let caller = strict(&world, &["echo"]);
    for command in [json!([]), json!(""), json!("   "), json!([""]), json!([" ", "x"])] {
        caller.fails(json!({"command": command}), InvalidInput, &["command is empty"]);
    }
    caller.fails(run(&["echo", "a\0b"]), InvalidInput, &["NUL"]);
    caller.fails(run(&["echo", &"x".repeat(200_000)]), InvalidInput, &["stdin"]);
    for (name, value) in [
        ("timeout_seconds", 0),
        ("timeout_seconds", 3601),
        ("max_output_bytes", 0),
        ("max_output_bytes", 524_289),
    ] {
        let mut arguments = run(&["echo"]);
        arguments[name] = json!(value);
        caller.fails(arguments, InvalidInput, &[&format!("`{name}` is {value}")]);
    }
}

#[test]
fn a_program_that_fails_shows_both_streams() {
    let Some(world) = world() else { return };
    let caller = strict(&world, &["sh"]);
    let report = caller.report(sh("echo out; echo err >&2; exit 3"));
    let error = report.result.unwrap_err();
    assert_eq!(error.case, Failed);
    for part in ["exit code 3", " ms", "--- stdout\nout\n", "--- stderr\nerr"] {
        assert!(error.message.contains(part), "{error}");
    }
    assert_eq!(report.receipt.processes[0].exit_code, Some(3));
    caller.fails(sh("kill -SEGV $$"), Failed, &["signal 11 (SIGSEGV"]);
    caller.fails(sh("kill -KILL $$"), Failed, &["signal 9 (SIGKILL"]);
    let both = caller.text(sh("echo out; echo err >&2"));
    assert!(both.ends_with("--- stdout\nout\n--- stderr\nerr"), "{both}");
    assert!(caller.text(sh("printf 'a\\377b'")).contains("a\u{FFFD}b"));
}

#[test]
fn only_granted_programs_start() {
    let Some(world) = world() else { return };
    world.write("echo", "#!/bin/sh\ntouch /workspace/ran\n");
    let caller = strict(&world, &["echo", "no-such-program"]);
    let message = caller.fails(run(&["ls"]), Denied, &["ls may not be started"]);
    assert!(message.contains("--allow-command ls"), "{message}");
    for spelling in ["/bin/echo", "./echo", "/usr/bin/../bin/echo", "Echo", "echo "] {
        caller.fails(run(&[spelling, "x"]), Denied, &["--allow-command"]);
    }
    caller.fails(run(&["no-such-program"]), NotFound, &["no such program: no-such-program"]);
    // Without anybody to ask, asking is refusing.
    let standard = Caller::new(&world, "terminal", level(Level::Standard, &[]));
    standard.fails(run(&["echo"]), Denied, &["nobody was there to ask"]);
    let nothing = Caller::new(&world, "terminal", grant::reading());
    nothing.fails(run(&["echo"]), Denied, &[]);
    assert!(!world.workspace().join("ran").exists());
}

#[test]
fn it_starts_where_it_is_told() {
    let Some(world) = world() else { return };
    world.write("sub dir/f", "x");
    world.write("file", "x");
    let caller = strict(&world, &["pwd", "ls"]);
    let at = |cwd: &str| json!({"command": ["pwd"], "cwd": cwd});
    for (cwd, place) in [
        (".", "/workspace\n"),
        ("", "/workspace\n"),
        ("sub dir", "/workspace/sub dir\n"),
        ("./sub dir/../sub dir", "/workspace/sub dir\n"),
        ("/workspace/sub dir", "/workspace/sub dir\n"),
    ] {
        assert_eq!(stdout(&caller.text(at(cwd))), place, "{cwd}");
    }
    assert_eq!(stdout(&caller.text(run(&["pwd"]))), "/workspace\n");
    assert_eq!(stdout(&caller.text(json!({"command": "ls", "cwd": "sub dir"}))), "f\n");
    caller.fails(at("missing"), NotFound, &["/workspace/missing"]);
    caller.fails(at("file"), NotFound, &["/workspace/file"]);
    for cwd in ["..", "../outside", "/etc", "/", "/workspace/../tmp"] {
        caller.fails(at(cwd), Denied, &["/workspace"]);
    }
    caller.fails(at("a\0b"), InvalidInput, &["NUL"]);
}

#[test]
fn standard_input() {
    let Some(world) = world() else { return };
    let caller = strict(&world, &["cat", "wc", "true"]);
    let fed = |command: &str, stdin: &str| caller.text(json!({"command": command, "stdin": stdin}));
    assert_eq!(stdout(&fed("cat", "grüße\n")), "grüße\n");
    assert_eq!(stdout(&fed("wc -c", &"x".repeat(1_000_000))).trim(), "1000000");
    // None is the end at once, and what nobody reads holds nothing up.
    assert!(caller.text(run(&["cat"])).contains("--- stdout: empty"));
    fed("true", &"x".repeat(1_000_000));
}

#[test]
fn time_runs_out() {
    let Some(world) = world() else { return };
    let caller = strict(&world, &["sh", "sleep"]);
    let started = Instant::now();
    let mut arguments = sh("echo before; echo warning >&2; sleep 20; echo after");
    arguments["timeout_seconds"] = json!(1);
    let message = caller.fails(arguments, TimedOut, &["before", "warning", "ended after 1."]);
    assert!(!message.contains("after\n") && message.contains("longer"), "{message}");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    // The deadline of the call is the shorter one here.
    let hasty = level(Level::Strict, &["sleep"]).deadline_ms(600);
    let started = Instant::now();
    let sleep = json!({"command": ["sleep", "20"], "timeout_seconds": 10});
    Caller::new(&world, "terminal", hasty).fails(sleep, TimedOut, &[]);
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
}

#[test]
fn output_is_bounded() {
    let Some(world) = world() else { return };
    let caller = strict(&world, &["sh", "head", "seq"]);
    let mut arguments = sh("printf 1234567890; printf abcdefghij >&2");
    arguments["max_output_bytes"] = json!(4);
    let output = caller.ok(arguments);
    for part in ["1234\n", "[cut: 6 more bytes of stdout dropped", "abcd\n", "bytes of stderr"] {
        assert!(output.text.contains(part), "{}", output.text);
    }
    assert_eq!((fact(&output, "stdout_dropped"), fact(&output, "stderr_dropped")), ("6", "6"));
    // A flood is read to its end and dropped; by default 64 KiB are kept.
    let started = Instant::now();
    let flood = caller.ok(run(&["head", "-c", "100000000", "/dev/zero"]));
    assert_eq!(fact(&flood, "stdout_bytes"), "65536");
    assert_eq!(fact(&flood, "stdout_dropped"), "99934464");
    let mut most = run(&["head", "-c", "2000000", "/dev/urandom"]);
    most["max_output_bytes"] = json!(524_288);
    let output = caller.ok(most);
    assert!(output.text.len() < 1 << 20, "{}", output.text.len());
    assert_eq!(fact(&output, "stdout_dropped"), "1475712");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
