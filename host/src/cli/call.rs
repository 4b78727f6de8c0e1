//! `tools call`: one call of one tool, without any model.

use std::io::Read;
use std::sync::Arc;

use super::options::SandboxOptions;
use super::text::{harmless, print, with_newline};
use super::{Exit, Failure, prompt, session};
use crate::policy::Confinement;
use crate::sandbox::BuiltIn;
use crate::tool::{CallReport, ToolCall, ToolHost};

/// Arguments larger than this do not come from a person or a model.
const MAX_ARGUMENTS: u64 = 8 << 20;

pub async fn call(
    built_ins: &'static [BuiltIn],
    name: &str,
    arguments: &str,
    options: &SandboxOptions,
    json: bool,
) -> Result<Exit, Failure> {
    let arguments = match arguments {
        "-" => read_arguments()?,
        given => given.to_owned(),
    };
    if let Err(error) = serde_json::from_str::<serde_json::Value>(&arguments) {
        return Err(Failure::usage(format!("the arguments are not JSON: {error}")));
    }
    let granted = options.granted()?;
    let level = options.sandbox;
    let sandbox = session::open(built_ins, &granted, &options.components, level).await?;
    let Some(tool) = sandbox.tool(name) else {
        return Err(Failure::usage(format!(
            "there is no tool {name:?}; there are: {}",
            session::names(&sandbox)
        )));
    };
    let capabilities = &tool.definition().capabilities;
    let authority = level.authority(&granted.options).for_capabilities(capabilities);
    if !authority.programs.is_empty() && authority.programs.confinement == Confinement::Os {
        sandbox.process_confinement().await.map_err(|missing| {
            Failure::unavailable(format!(
                "--sandbox {level} needs an operating-system sandbox for programs, which is not available here: {missing}"
            ))
        })?;
    }
    let call = ToolCall {
        tool: name.to_owned(),
        arguments,
        authority: Arc::new(authority),
        approver: prompt::approver(level),
    };
    let report = sandbox.call(call).await;
    show(&report, json)
}

fn read_arguments() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin().take(MAX_ARGUMENTS).read_to_string(&mut text).map_err(|error| {
        Failure::usage(format!("the arguments cannot be read from standard input: {error}"))
    })?;
    Ok(text)
}

fn show(report: &CallReport, json: bool) -> Result<Exit, Failure> {
    let exit = match &report.result {
        Ok(_) => Exit::Done,
        Err(error) => error.case.into(),
    };
    if json {
        let (output, error) = (report.result.as_ref().ok(), report.result.as_ref().err());
        let document =
            serde_json::json!({ "output": output, "error": error, "receipt": report.receipt });
        write(&with_newline(document.to_string()))?;
        return Ok(exit);
    }
    match &report.result {
        Ok(output) => write(&with_newline(harmless(&output.text)))?,
        Err(error) => super::text::error(&error.to_string()),
    }
    Ok(exit)
}

fn write(text: &str) -> Result<(), Failure> {
    print(text).map_err(|error| Failure::failed(format!("cannot write the answer: {error}")))
}
