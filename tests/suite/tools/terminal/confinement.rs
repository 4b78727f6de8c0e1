//! What a program cannot do, whatever it is.

use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use xzatoma::policy::Level;
use xzatoma::tool::ErrorCase::Failed;

use super::super::{Caller, fact, names, skip, snapshot};
use super::{level, run, sh, stdout, strict, world};

fn standard<'w>(world: &'w crate::harness::World, commands: &[&str]) -> Caller<'w> {
    Caller::new(world, "terminal", level(Level::Standard, commands))
}

#[test]
fn the_environment_is_not_the_hosts() {
    let Some(world) = world() else { return };
    let text = strict(&world, &["env"]).text(run(&["env"]));
    let mut variables: Vec<&str> =
        stdout(&text).lines().map(|line| line.split('=').next().unwrap()).collect();
    variables.sort_unstable();
    assert_eq!(variables, ["HOME", "PATH", "TMPDIR"], "{text}");
    assert!(text.contains("HOME=/tmp/home\n") && text.contains("TMPDIR=/tmp\n"), "{text}");
    // Under standard only what is on the list, never what the host happens to have.
    let text = standard(&world, &["env"]).text(run(&["env"]));
    let known = ["HOME", "LANG", "LC_ALL", "PATH", "TERM", "TMPDIR", "TZ"];
    for (name, value) in stdout(&text).lines().filter_map(|line| line.split_once('=')) {
        // The way to the network that this level has, which asks before anything goes out.
        let to_the_proxy = name.to_ascii_uppercase().ends_with("_PROXY")
            && (value.starts_with("http://127.0.0.1:") || value.is_empty());
        assert!(known.contains(&name) || to_the_proxy, "{name}={value}");
    }
}

#[test]
fn the_workspace_is_read_only_under_strict() {
    let Some(world) = world() else { return };
    world.write("dir/f", "old");
    let before = snapshot(&world.workspace());
    let caller = strict(&world, &["sh"]);
    assert_eq!(stdout(&caller.text(sh("cat dir/f"))), "old\n");
    for script in [
        "echo new > dir/f",
        "echo new > made",
        "rm dir/f",
        "mv dir other",
        "chmod 777 dir/f",
        "ln dir/f made",
        "ln -s f made",
        "touch dir/f",
        "mkdir made",
    ] {
        caller.fails(sh(script), Failed, &["exit code"]);
    }
    assert_eq!(snapshot(&world.workspace()), before);
    // What it needs to write it writes elsewhere, and that is gone afterwards.
    assert_eq!(stdout(&caller.text(sh("echo x > /tmp/f && cat /tmp/f"))), "x\n");
    caller.fails(sh("cat /tmp/f"), Failed, &["No such file"]);
}

#[test]
fn the_workspace_is_written_under_standard_and_git_is_not() {
    let Some(world) = world() else { return };
    world.write(".git/config", "old");
    world.write("sub/.git/config", "old");
    let git = |world: &crate::harness::World| {
        (snapshot(&world.workspace().join(".git")), snapshot(&world.workspace().join("sub/.git")))
    };
    let before = git(&world);
    let caller = standard(&world, &["sh"]);
    caller.ok(sh("echo new > made && mkdir dir && mv made dir/ && chmod 755 dir/made"));
    assert_eq!(world.read("dir/made"), "new\n");
    for script in [
        "echo new > .git/config",
        "echo new > .git/hooks-made",
        "rm -rf .git",
        "mv .git elsewhere",
        "echo new >> sub/.git/config",
        "ln .git/config linked && echo new > linked",
    ] {
        caller.fails(sh(script), Failed, &["exit code"]);
    }
    assert_eq!(git(&world), before);
    // One that was not there is not there afterwards either.
    caller.ok(sh("mkdir fresh && (mkdir fresh/.git; true)"));
    assert!(!world.workspace().join("fresh/.git").exists(), "{:?}", names(&world, "fresh"));
}

#[test]
fn the_rest_of_the_host_is_not_there() {
    let Some(world) = world() else { return };
    let secret = world.outside().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    std::os::unix::fs::symlink(&secret, world.workspace().join("link")).unwrap();
    let caller = standard(&world, &["sh"]);
    for path in [
        secret.to_str().unwrap(),
        "../outside/secret",
        "link",
        "/etc/shadow",
        "/root/.ssh",
        "/proc/1/environ",
    ] {
        let message = caller.fails(run(&["sh", "-c", "cat \"$0\"", path]), Failed, &["exit code"]);
        assert!(!message.contains("--- stdout\n"), "{message}");
    }
    let own = std::process::id().to_string();
    caller.fails(run(&["sh", "-c", "kill -0 $0", &own]), Failed, &["exit code"]);
}

#[test]
fn there_is_no_network() {
    let Some(world) = world() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    // Only this shell can connect without a program for it.
    if !Path::new("/bin/bash").exists() {
        return skip("there is no bash");
    }
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
    for caller in [strict(&world, &["bash"]), standard(&world, &["bash"])] {
        let report = caller.report(run(&["bash", "-c", &script]));
        let error = report.result.unwrap_err();
        assert_eq!(error.case, Failed, "{error}");
        assert!(!error.message.contains("connected\n"), "{error}");
    }
    assert!(listener.accept().is_err(), "somebody connected");
}

/// Processes of the host, this test's helpers among them, whose command line holds `mark`.
fn alive(mark: &str) -> usize {
    let processes = Path::new("/proc").read_dir().unwrap();
    let lines =
        processes.filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok());
    lines.filter(|line| line.windows(mark.len()).any(|window| window == mark.as_bytes())).count()
}

#[test]
fn what_is_left_behind_is_killed() {
    let Some(world) = world() else { return };
    let caller = strict(&world, &["sh"]);
    // A time that nobody else sleeps, to know them by.
    let long = |number: u32| format!("77{number}{}", std::process::id());
    // In the background, out of the session, with the streams kept open or not.
    for (number, script) in [
        (1, "sleep TIME & echo done"),
        (2, "sleep TIME >/dev/null 2>&1 </dev/null & echo done"),
        (3, "(setsid sleep TIME &) ; echo done"),
    ] {
        let started = Instant::now();
        let script = script.replace("TIME", &long(number));
        assert_eq!(stdout(&caller.text(sh(&script))), "done\n");
        assert!(started.elapsed() < Duration::from_secs(5), "{script}: {:?}", started.elapsed());
        assert_eq!(alive(&long(number)), 0, "{script}");
    }
    let mut slow = sh(&"sleep TIME & (setsid sleep TIME &) ; wait".replace("TIME", &long(4)));
    slow["timeout_seconds"] = json!(1);
    caller.fails(slow, xzatoma::tool::ErrorCase::TimedOut, &[]);
    assert_eq!(alive(&long(4)), 0);
}

#[test]
fn calls_do_not_see_each_other() {
    let Some(world) = world() else { return };
    let caller = strict(&world, &["sh", "ps"]);
    let output = caller.ok(sh("echo $$; ls /proc | grep -c '^[0-9]'"));
    let mut lines = stdout(&output.text).lines();
    let own: u32 = lines.next().unwrap().parse().unwrap();
    let processes: u32 = lines.next().unwrap().parse().unwrap();
    assert!(own < 20 && processes < 10, "{}", output.text);
    assert_eq!(fact(&output, "exit_code"), "0");
}
