//! Tells how a program ended.

use std::fmt::Write;

use xzatoma_tool::process::Finished;
use xzatoma_tool::{Error, Output, Result};

/// Text shown of one stream. Bytes that are no UTF-8 grow when they are shown, and both streams
/// together have to stay below what the host lets a call answer.
const MAX_STREAM_TEXT: usize = 480 * 1024;

/// Success with both streams; a failure, with the same text, where the program failed.
pub fn report(program: &str, finished: &Finished) -> Result {
    let ending = match (finished.exit_code, finished.signal) {
        (Some(0), None) => None,
        (Some(code), None) => Some(format!("{program:?} failed with exit code {code}")),
        (_, Some(signal)) => Some(format!("{program:?} was ended by signal {}", name(signal))),
        (None, None) => Some(format!("{program:?} ended without an exit code")),
    };
    let streams = streams(finished);
    match ending {
        None => {
            Ok(Output::text(format!("exit code 0 after {} ms\n{streams}", finished.duration_ms))
                .with("exit_code", 0)
                .with("duration_ms", finished.duration_ms)
                .with("stdout_bytes", finished.stdout.len())
                .with("stderr_bytes", finished.stderr.len())
                .with("stdout_dropped", finished.stdout_dropped)
                .with("stderr_dropped", finished.stderr_dropped))
        }
        Some(ending) => Err(Error::failed(format!(
            "{ending} after {} ms; its output says more\n{streams}",
            finished.duration_ms
        ))),
    }
}

fn streams(finished: &Finished) -> String {
    let mut text = String::new();
    push(&mut text, "stdout", &finished.stdout, finished.stdout_dropped);
    push(&mut text, "stderr", &finished.stderr, finished.stderr_dropped);
    text.truncate(text.trim_end_matches('\n').len());
    text
}

fn push(text: &mut String, name: &str, bytes: &[u8], dropped: u64) {
    // Writing to a string cannot fail.
    if bytes.is_empty() && dropped == 0 {
        let _ = writeln!(text, "--- {name}: empty");
        return;
    }
    let _ = writeln!(text, "--- {name}");
    let stream = String::from_utf8_lossy(bytes);
    let shown = &stream[..stream.floor_char_boundary(MAX_STREAM_TEXT)];
    text.push_str(shown);
    if !shown.ends_with('\n') {
        text.push('\n');
    }
    if shown.len() < stream.len() {
        let _ = writeln!(text, "[cut: {name} is shown up to here; write it to a file to see all]");
    }
    if dropped > 0 {
        let _ = writeln!(
            text,
            "[cut: {dropped} more bytes of {name} dropped; raise max_output_bytes or write to a file]"
        );
    }
}

/// A signal's number and, for those that programs usually meet, its name and what it means.
fn name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL, an illegal instruction",
        6 => "SIGABRT, it gave up by itself",
        7 => "SIGBUS",
        8 => "SIGFPE, an arithmetic error",
        9 => "SIGKILL, perhaps because it used too much memory",
        11 => "SIGSEGV, a memory error",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU, it used too much processor time",
        25 => "SIGXFSZ, it wrote too large a file",
        31 => "SIGSYS, it made a system call that the sandbox forbids",
        _ => return signal.to_string(),
    };
    format!("{signal} ({name})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished() -> Finished {
        Finished {
            exit_code: Some(0),
            signal: None,
            stdout: b"out\n".to_vec(),
            stderr: Vec::new(),
            stdout_dropped: 0,
            stderr_dropped: 0,
            duration_ms: 12,
        }
    }

    #[test]
    fn success_shows_both_streams() {
        let output = report("ls", &finished()).unwrap();
        assert_eq!(output.as_text(), "exit code 0 after 12 ms\n--- stdout\nout\n--- stderr: empty");
        assert_eq!(output.fact("exit_code"), Some("0"));
        assert_eq!(output.fact("duration_ms"), Some("12"));
    }

    #[test]
    fn failure_has_code_and_output() {
        let error = report(
            "x",
            &Finished { exit_code: Some(3), stderr: b"bad\xFF".to_vec(), ..finished() },
        )
        .unwrap_err();
        assert_eq!(error.case(), "failed");
        for part in ["exit code 3", "12 ms", "--- stdout\nout\n", "--- stderr\nbad\u{FFFD}"] {
            assert!(error.message().contains(part), "{error}");
        }
    }

    #[test]
    fn signals_are_named() {
        let killed = |signal| Finished { exit_code: None, signal: Some(signal), ..finished() };
        assert!(report("x", &killed(9)).unwrap_err().message().contains("9 (SIGKILL"));
        assert!(report("x", &killed(64)).unwrap_err().message().contains("signal 64 after"));
        let neither = Finished { exit_code: None, ..finished() };
        assert_eq!(report("x", &neither).unwrap_err().case(), "failed");
    }

    #[test]
    fn dropped_bytes_are_said() {
        let output = report("x", &Finished { stdout_dropped: 7, ..finished() }).unwrap();
        assert!(output.as_text().contains("[cut: 7 more bytes of stdout"), "{output:?}");
        let output = report("x", &Finished { stdout: vec![], stdout_dropped: 7, ..finished() });
        assert!(output.unwrap().as_text().contains("7 more bytes"));
    }

    #[test]
    fn the_text_fits_into_an_answer() {
        let junk = vec![0xFF; 512 * 1024];
        let output = report("x", &Finished { stdout: junk.clone(), stderr: junk, ..finished() });
        let output = output.unwrap();
        assert!(output.as_text().len() < 1000 * 1024, "{}", output.as_text().len());
        assert!(output.as_text().contains("[cut: stdout is shown up to here"));
    }
}
