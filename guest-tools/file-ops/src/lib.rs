//! The tool `file_ops`: reads and changes files.
//!
//! Reading is shared with `file_ops_readonly`. Changing keeps three promises: a failed call leaves
//! things as they were, wherever that can be had; nothing is overwritten or deleted by a side
//! effect (only `write` and `edit` replace a file, only `delete` and `move` remove one); and links
//! are neither broken nor followed out of what was meant.

mod copy;
mod delete;
mod edit;
mod links;
mod make;
mod parents;
mod relocate;
mod stage;
#[cfg(target_arch = "wasm32")]
mod system_wasi;
#[cfg(target_arch = "wasm32")]
use system_wasi as system;
#[cfg(not(target_arch = "wasm32"))]
mod system_native;
#[cfg(not(target_arch = "wasm32"))]
use system_native as system;
mod write;

use schemars::JsonSchema;
use serde::Deserialize;
use xzatoma_file_read::{Operation as Reading, Parameters, Place, Request, required, run};
use xzatoma_tool::{Result, tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// read: the text of a file. write: makes a file hold content, all or nothing. edit: replaces
    /// old_text, which must occur exactly once, by new_text. append: adds content at the end of a
    /// file. delete: a file, or a directory. list: what is in a directory. find: files and
    /// directories by name. copy, move: path to path2, which must not exist. mkdir: a directory,
    /// with those above it. diff: what differs between path and path2, or between path and content.
    operation: Operation,
    /// The file or directory; relative paths start at /workspace. list and find default to
    /// /workspace itself.
    #[serde(default)]
    path: Option<String>,
    /// copy, move: where to. diff: the file to compare with.
    #[serde(default)]
    path2: Option<String>,
    /// write, append: the text. diff: the text to compare with, instead of path2.
    #[serde(default)]
    content: Option<String>,
    /// edit: the text to replace, with enough around it to occur only once in the file.
    #[serde(default)]
    old_text: Option<String>,
    /// edit: what to put in its place; empty to remove it.
    #[serde(default)]
    new_text: Option<String>,
    /// find: a glob such as *.rs, matched with names; with a / in it, such as src/**/*.rs, with
    /// paths relative to path.
    #[serde(default)]
    pattern: Option<String>,
    /// list, find, delete, copy: whether everything below the directory is meant; default false,
    /// for find true.
    #[serde(default)]
    recursive: Option<bool>,
    /// How many lines (read) or entries (list, find) to skip; default 0.
    #[serde(default)]
    offset: Option<u64>,
    /// How many lines (read) or entries (list, find) to show; default all that fits (read), 1000
    /// (list, find).
    #[serde(default)]
    limit: Option<u64>,
    /// read: whether each line is shown with its number; default false.
    #[serde(default)]
    line_numbers: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Operation {
    Read,
    Write,
    Edit,
    Append,
    Delete,
    List,
    Find,
    Copy,
    Move,
    Mkdir,
    Diff,
}

impl Operation {
    fn name(&self) -> &'static str {
        match self {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Edit => "edit",
            Operation::Append => "append",
            Operation::Delete => "delete",
            Operation::List => "list",
            Operation::Find => "find",
            Operation::Copy => "copy",
            Operation::Move => "move",
            Operation::Mkdir => "mkdir",
            Operation::Diff => "diff",
        }
    }
}

fn call(arguments: Arguments) -> Result {
    let request = Request {
        path: arguments.path.as_deref(),
        path2: arguments.path2.as_deref(),
        content: arguments.content.as_deref(),
        pattern: arguments.pattern.as_deref(),
        recursive: arguments.recursive,
        offset: arguments.offset,
        limit: arguments.limit,
        line_numbers: arguments.line_numbers,
    };
    let (old_text, new_text) = (arguments.old_text.as_deref(), arguments.new_text.as_deref());
    let name = arguments.operation.name();
    let given = Parameters::of(name, &request).and("old_text", old_text).and("new_text", new_text);
    let needed = |parameter, value| required(name, parameter, value);
    let place = |parameter, value| Place::resolve(needed(parameter, value)?);
    let recursive = request.recursive.unwrap_or(false);
    match arguments.operation {
        Operation::Read => run(Reading::Read, &request, &given),
        Operation::List => run(Reading::List, &request, &given),
        Operation::Find => run(Reading::Find, &request, &given),
        Operation::Diff => run(Reading::Diff, &request, &given),
        Operation::Write => {
            given.only(&["path", "content"])?;
            let content = needed("content", request.content)?;
            write::write(&place("path", request.path)?, content)
        }
        Operation::Append => {
            given.only(&["path", "content"])?;
            let content = needed("content", request.content)?;
            write::append(&place("path", request.path)?, content)
        }
        Operation::Edit => {
            given.only(&["path", "old_text", "new_text"])?;
            let (old, new) = (needed("old_text", old_text)?, needed("new_text", new_text)?);
            edit::edit(&place("path", request.path)?, old, new)
        }
        Operation::Delete => {
            given.only(&["path", "recursive"])?;
            delete::delete(&place("path", request.path)?, recursive)
        }
        Operation::Copy => {
            given.only(&["path", "path2", "recursive"])?;
            let to = place("path2", request.path2)?;
            copy::copy(&place("path", request.path)?, &to, recursive)
        }
        Operation::Move => {
            // A directory moves as a whole; saying so does no harm.
            given.only(&["path", "path2", "recursive"])?;
            let to = place("path2", request.path2)?;
            relocate::relocate(&place("path", request.path)?, &to)
        }
        Operation::Mkdir => {
            // It always makes the directories above, too.
            given.only(&["path", "recursive"])?;
            make::mkdir(&place("path", request.path)?)
        }
    }
}

tool! {
    name: "file_ops",
    description: "Reads and changes files. Paths are under /workspace; relative ones start there. \
        Operations: read, write, edit, append, delete, list, find, copy, move, mkdir, diff. read \
        answers text as it is, long files in parts by offset and limit. Prefer edit to write for \
        changing a part of a file. write and edit are all or nothing. To search in the text of \
        files use grep.",
    mutates: true,
    capabilities: [FilesRead, FilesWrite],
    call: call,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invalid(arguments: &str) -> String {
        match xzatoma_tool::support::call(arguments, call) {
            Err(xzatoma_tool::bindings::xzatoma::tool::types::ToolError::InvalidInput(text)) => {
                text
            }
            other => panic!("{arguments} gave {other:?}"),
        }
    }

    #[test]
    fn parameters_that_do_not_fit_are_named() {
        for (arguments, named) in [
            (r#"{"operation":"write","path":"a"}"#, "`content`"),
            (r#"{"operation":"write","content":"a"}"#, "`path`"),
            (r#"{"operation":"edit","path":"a","new_text":"b"}"#, "`old_text`"),
            (r#"{"operation":"edit","path":"a","old_text":"b"}"#, "`new_text`"),
            (r#"{"operation":"copy","path":"a"}"#, "`path2`"),
            (r#"{"operation":"move","path":"a"}"#, "`path2`"),
            (r#"{"operation":"find"}"#, "`pattern`"),
            (r#"{"operation":"diff","path":"a"}"#, "`path2`"),
            (r#"{"operation":"write","path":"a","content":"","limit":3}"#, "`limit`"),
            (r#"{"operation":"delete"}"#, "`path`"),
            (r#"{"operation":"chmod","path":"a"}"#, "`operation`"),
            (r#"{"operation":"read","path":"a","mode":"x"}"#, "`mode`"),
        ] {
            let message = invalid(arguments);
            assert!(message.contains(named), "{arguments}: {message}");
        }
    }
}
