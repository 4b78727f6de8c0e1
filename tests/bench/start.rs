//! From the start of the process to the first result, against /bin/echo.

use std::process::{Command, Stdio};

use super::measure::{Figures, Promise, medians, millis, ratio};
use super::world::Scratch;

pub fn run(figures: &mut Figures) {
    let scratch = Scratch::new("start");
    std::fs::write(scratch.path().join("a.txt"), "hello\n").expect("a file is written");
    let ours = || {
        let output = Command::new(env!("CARGO_BIN_EXE_xzatoma"))
            .args(["tools", "call", "file_ops_readonly", r#"{"operation":"read","path":"a.txt"}"#])
            .current_dir(scratch.path())
            .output()
            .expect("xzatoma runs");
        assert!(output.status.success() && output.stdout.starts_with(b"hello"), "{output:?}");
    };
    let echo = || {
        let output = Command::new("/bin/echo")
            .arg("hello")
            .stdin(Stdio::null())
            .output()
            .expect("echo runs");
        assert!(output.status.success());
    };
    let (our_time, echo_time) = medians(200, ours, echo);
    figures.add(
        "process start to first result, against /bin/echo",
        millis(our_time),
        millis(echo_time),
        Some(ratio(our_time, echo_time)),
        Some(Promise::AtMost(4.0)),
    );
}
