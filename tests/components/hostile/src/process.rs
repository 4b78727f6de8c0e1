//! Programs: with every argument of the interface in the guest's hand.

use crate::bindings::xzatoma::tool::process::{Command, run};
use crate::{Answer, Arguments, achieved};

pub fn act(arguments: &Arguments) -> Option<Answer> {
    if arguments.case != "run" {
        return None;
    }
    let command = Command {
        program: arguments.program.clone(),
        arguments: arguments.arguments.clone(),
        directory: if arguments.path.is_empty() { "/workspace" } else { &arguments.path }
            .to_owned(),
        stdin: arguments.body.clone().into_bytes(),
        timeout_ms: (arguments.count != 0).then_some(arguments.count),
        max_output: u64::MAX,
    };
    Some(match run(&command) {
        Ok(finished) => achieved(format!(
            "exit {:?} signal {:?}, {} + {} bytes\n{}\n{}",
            finished.exit_code,
            finished.signal,
            finished.stdout.len() as u64 + finished.stdout_dropped,
            finished.stderr.len() as u64 + finished.stderr_dropped,
            String::from_utf8_lossy(&finished.stdout[..finished.stdout.len().min(4096)]),
            String::from_utf8_lossy(&finished.stderr[..finished.stderr.len().min(4096)]),
        )),
        Err(error) => Err(error),
    })
}
