//! The tool `file_ops_readonly`: the reading half of `file_ops` as a component of its own.
//!
//! It is for agents that may look and not touch. Its grant says so too, but here the code that
//! could write is not even there.

use schemars::JsonSchema;
use serde::Deserialize;
use xzatoma_file_read::{Parameters, Request, run};
use xzatoma_tool::{Result, tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// read: the text of a file. list: what is in a directory. find: files and directories by
    /// name. diff: what differs between two files, or between a file and a text.
    operation: Operation,
    /// The file or directory; relative paths start at /workspace. list and find default to
    /// /workspace itself.
    #[serde(default)]
    path: Option<String>,
    /// diff: the file to compare with.
    #[serde(default)]
    path2: Option<String>,
    /// diff: the text to compare with, instead of path2.
    #[serde(default)]
    content: Option<String>,
    /// find: a glob such as *.rs, matched with names; with a / in it, such as src/**/*.rs, with
    /// paths relative to path.
    #[serde(default)]
    pattern: Option<String>,
    /// list, find: whether the whole tree is meant; default false for list, true for find.
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
    List,
    Find,
    Diff,
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
    let (operation, name) = match arguments.operation {
        Operation::Read => (xzatoma_file_read::Operation::Read, "read"),
        Operation::List => (xzatoma_file_read::Operation::List, "list"),
        Operation::Find => (xzatoma_file_read::Operation::Find, "find"),
        Operation::Diff => (xzatoma_file_read::Operation::Diff, "diff"),
    };
    run(operation, &request, &Parameters::of(name, &request))
}

tool! {
    name: "file_ops_readonly",
    description: "Reads, lists, finds and compares files; changes nothing. Paths are under \
        /workspace; relative ones start there. read answers text as it is, long files in parts by \
        offset and limit; find takes a glob for names; diff answers a unified diff. To search in \
        the text of files use grep.",
    mutates: false,
    capabilities: [FilesRead],
    call: call,
}
