//! A test in a process of its own.
//!
//! The after-conditions count descriptors, threads, children and memory of the whole process. Other
//! tests of the suite run side by side in this one, so each group starts the same executable again
//! for itself alone. That also means that a host that is killed outright fails one test, by name.

use std::fs::{self, File};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::harness::TemporaryDirectory;

const ALONE: &str = "XZATOMA_SUITE_ALONE";
/// A group takes seconds; one that takes this long hangs.
const PATIENCE: Duration = Duration::from_secs(300);
/// What the hostile tool writes to standard output and error, and nobody must ever see.
const FLOOD: &str = "HOSTILE-FLOOD";

/// Runs `body` in a process where nothing else runs. `test` is the full name of the caller.
pub fn alone(test: &str, body: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let directory = TemporaryDirectory::new();
    let log = directory.path().join("log");
    let output = File::create(&log).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(ALONE, "1")
        // Backtraces of refused file operations cost more than the operations.
        .env("RUST_BACKTRACE", "0")
        // Large blocks go back to the system when they are freed: what is resident is in use.
        .env("MALLOC_MMAP_THRESHOLD_", "131072")
        // Tools must not use it; nobody listens there.
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .env("http_proxy", "http://127.0.0.1:9")
        .stdin(Stdio::null())
        .stdout(output.try_clone().unwrap())
        .stderr(output)
        .spawn()
        .unwrap();
    let status = wait(&mut child);
    let said = fs::read(&log).unwrap();
    let said = String::from_utf8_lossy(&said);
    let ran = said.contains("1 passed") || said.contains("1 failed");
    assert!(status.is_none_or(|status| !status.success()) || ran, "no such test: {test}\n{said}");
    match status {
        Some(status) => assert!(status.success(), "{test}, {status}:\n{said}"),
        None => panic!("{test} did not end:\n{said}"),
    }
    assert!(!said.contains(FLOOD), "a guest wrote to the host's own streams:\n{said}");
}

fn wait(child: &mut Child) -> Option<ExitStatus> {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}
