//! `tools list` and `tools show`.

use super::options::ComponentOptions;
use super::text::{harmless, print, with_newline};
use super::{Exit, Failure, session};
use crate::sandbox::{BuiltIn, Tool};

pub async fn list(
    built_ins: &'static [BuiltIn],
    components: &ComponentOptions,
    json: bool,
) -> Result<Exit, Failure> {
    let sandbox = session::open_empty(built_ins, components).await?;
    if json {
        let tools: Vec<_> = sandbox.tools().map(|tool| document(tool)).collect();
        return write(&with_newline(serde_json::json!({ "tools": tools }).to_string()));
    }
    let width = sandbox.tools().map(|tool| tool.definition().name.len()).max().unwrap_or(0);
    let lines: String = sandbox
        .tools()
        .map(|tool| {
            let definition = tool.definition();
            format!(
                "{:width$}  {}\n",
                definition.name,
                harmless(first_sentence(&definition.description))
            )
        })
        .collect();
    write(&lines)
}

pub async fn show(
    built_ins: &'static [BuiltIn],
    name: &str,
    components: &ComponentOptions,
    json: bool,
) -> Result<Exit, Failure> {
    let sandbox = session::open_empty(built_ins, components).await?;
    let Some(tool) = sandbox.tool(name) else {
        return Err(Failure::usage(format!(
            "there is no tool {name:?}; there are: {}",
            session::names(&sandbox)
        )));
    };
    if json {
        return write(&with_newline(document(tool).to_string()));
    }
    let definition = tool.definition();
    let asks: Vec<String> =
        definition.capabilities.iter().map(|capability| capability.to_string()).collect();
    let text = format!(
        "{}\n\n{}\n\norigin:   {}\nasks for: {}\nchanges:  {}\n\nparameters:\n{}",
        definition.name,
        definition.description.trim_end(),
        tool.origin(),
        if asks.is_empty() { "nothing".to_owned() } else { asks.join(", ") },
        if definition.mutates { "it may change things outside itself" } else { "nothing" },
        parameters(&definition.parameters),
    );
    write(&with_newline(harmless(&text)))
}

fn document(tool: &Tool) -> serde_json::Value {
    let mut document = serde_json::json!(**tool.definition());
    document["origin"] = tool.origin().into();
    document
}

/// A line per parameter: name, type, whether it is required, what it is.
fn parameters(schema: &serde_json::Value) -> String {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(|name| name.as_str()).collect())
        .unwrap_or_default();
    let Some(properties) = schema["properties"].as_object().filter(|all| !all.is_empty()) else {
        return "  (none)\n".to_owned();
    };
    properties
        .iter()
        .map(|(name, property)| {
            let need = if required.contains(&name.as_str()) { ", required" } else { "" };
            let description =
                property["description"].as_str().unwrap_or_default().replace('\n', " ");
            format!("  {name} ({}{need})\n      {description}\n", kind(property))
        })
        .collect()
}

/// The type of a parameter in few words.
fn kind(property: &serde_json::Value) -> String {
    if let Some(values) = property["enum"].as_array() {
        let values: Vec<&str> = values.iter().filter_map(|value| value.as_str()).collect();
        return values.join(" | ");
    }
    match &property["type"] {
        serde_json::Value::String(kind) => kind.clone(),
        serde_json::Value::Array(kinds) => {
            let kinds: Vec<&str> = kinds
                .iter()
                .filter_map(|kind| kind.as_str())
                .filter(|kind| *kind != "null")
                .collect();
            kinds.join(" or ")
        }
        _ => {
            let options = property["anyOf"].as_array().or_else(|| property["oneOf"].as_array());
            let kinds: Vec<String> = options
                .map(|options| {
                    options.iter().filter(|one| one["type"] != "null").map(kind).collect()
                })
                .unwrap_or_default();
            if kinds.is_empty() { "any".to_owned() } else { kinds.join(" or ") }
        }
    }
}

fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.')
}

fn write(text: &str) -> Result<Exit, Failure> {
    print(text).map_err(|error| Failure::failed(format!("cannot write the answer: {error}")))?;
    Ok(Exit::Done)
}
