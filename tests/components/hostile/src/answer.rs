//! Answers that break the contract, or leaves without one.

use crate::bindings::exports::xzatoma::tool::tool::{Output, ToolError};
use crate::bindings::wasi::cli::exit;
use crate::{Answer, Arguments, achieved, answer};

pub fn act(arguments: &Arguments) -> Option<Answer> {
    let count = arguments.count as usize;
    Some(match arguments.case.as_str() {
        "text" => answer("x".repeat(count)),
        "error-text" => Err(ToolError::Failed("x".repeat(count))),
        "deep-json" => answer(format!("{}{}", "[".repeat(count), "]".repeat(count))),
        "metadata" => Ok(Output {
            text: "ok".to_owned(),
            metadata: (0..count).map(|n| (n.to_string(), "value".to_owned())).collect(),
        }),
        "metadata-value" => Ok(Output {
            text: "ok".to_owned(),
            metadata: vec![("large".to_owned(), "x".repeat(count))],
        }),
        "exit-well" => {
            exit::exit(Ok(()));
            achieved("life after exit")
        }
        "exit-code" => {
            exit::exit_with_code(count as u8);
            achieved("life after exit")
        }
        "panic" => panic!("as asked"),
        _ => return None,
    })
}
