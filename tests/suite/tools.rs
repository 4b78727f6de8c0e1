//! The five tools through the real sandbox: every operation and every parameter that they have,
//! and every failure as the case that it should be, with a message that one can act on.

mod fetch;
mod file_ops;
mod file_ops_readonly;
mod grep;
mod terminal;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use xzatoma::policy::Authority;
use xzatoma::tool::{CallReport, ErrorCase, ToolHost, ToolOutput};

use crate::harness::World;
use crate::harness::grant::{self, Add};

/// The tools that there are, with all their parameters.
const PARAMETERS: [(&str, &[&str]); 5] = [
    ("fetch", &["body", "format", "headers", "max_bytes", "method", "url"]),
    (
        "file_ops",
        &[
            "content",
            "limit",
            "line_numbers",
            "new_text",
            "offset",
            "old_text",
            "operation",
            "path",
            "path2",
            "pattern",
            "recursive",
        ],
    ),
    (
        "file_ops_readonly",
        &[
            "content",
            "limit",
            "line_numbers",
            "offset",
            "operation",
            "path",
            "path2",
            "pattern",
            "recursive",
        ],
    ),
    (
        "grep",
        &[
            "case_sensitive",
            "context",
            "exclude",
            "include",
            "max_file_size",
            "max_results",
            "offset",
            "output",
            "path",
            "pattern",
        ],
    ),
    ("terminal", &["command", "cwd", "max_output_bytes", "stdin", "timeout_seconds"]),
];

/// One tool of a world under one grant.
struct Caller<'w> {
    world: &'w World,
    tool: &'static str,
    authority: Authority,
}

impl<'w> Caller<'w> {
    fn new(world: &'w World, tool: &'static str, authority: Authority) -> Caller<'w> {
        Caller { world, tool, authority }
    }

    fn report(&self, arguments: Value) -> CallReport {
        self.world.call(self.tool, arguments, &self.authority)
    }

    /// The answer of a call that has to work.
    #[track_caller]
    fn ok(&self, arguments: Value) -> ToolOutput {
        match self.report(arguments.clone()).result {
            Ok(output) => output,
            Err(error) => panic!("{arguments} failed: {error}"),
        }
    }

    /// Its text alone.
    #[track_caller]
    fn text(&self, arguments: Value) -> String {
        self.ok(arguments).text
    }

    /// The message of a call that has to fail with `case`, and has to say all of `parts`.
    #[track_caller]
    fn fails(&self, arguments: Value, case: ErrorCase, parts: &[&str]) -> String {
        let error = match self.report(arguments.clone()).result {
            Ok(output) => panic!("{arguments} worked: {}", output.text),
            Err(error) => error,
        };
        assert_eq!(error.case, case, "{arguments}: {error}");
        for part in parts {
            assert!(error.message.contains(part), "{arguments}: {part:?} is not in: {error}");
        }
        error.message
    }
}

/// The value of a fact of an answer.
#[track_caller]
fn fact<'o>(output: &'o ToolOutput, key: &str) -> &'o str {
    let found = output.metadata.iter().find(|(known, _)| known == key);
    found.map_or_else(|| panic!("no {key} in {:?}", output.metadata), |(_, value)| value.as_str())
}

/// Everything below a directory: what each entry is, its mode, its bytes and when they changed.
fn snapshot(directory: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(path) = pending.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let state = if metadata.is_dir() {
            pending.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
            format!("directory {:o}", metadata.mode())
        } else if metadata.is_symlink() {
            format!("link to {}", path.read_link().unwrap().display())
        } else if metadata.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let changed = (metadata.mtime(), metadata.mtime_nsec());
            format!("file {:o} {changed:?} {bytes:?}", metadata.mode())
        } else {
            "something else".to_owned()
        };
        found.insert(path.strip_prefix(directory).unwrap().to_owned(), state);
    }
    found
}

/// The names in a directory below the workspace.
fn names(world: &World, directory: &str) -> BTreeSet<String> {
    let entries = world.workspace().join(directory).read_dir().unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// Makes a pipe, on which nobody will ever write.
fn make_pipe(world: &World, name: &str) {
    let made = std::process::Command::new("mkfifo").arg(world.workspace().join(name)).status();
    assert!(made.unwrap().success());
}

/// Says why a test does nothing here.
#[allow(clippy::print_stderr)]
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

#[test]
fn the_tools_and_their_parameters() {
    let world = World::new();
    let definitions = world.sandbox().definitions();
    let mut found = BTreeMap::new();
    for definition in &definitions {
        let properties = definition.parameters["properties"].as_object().unwrap();
        let names: Vec<&str> = properties.keys().map(String::as_str).collect();
        for (name, property) in properties {
            assert!(property["description"].is_string(), "{}: {name}", definition.name);
        }
        assert_eq!(definition.parameters["additionalProperties"], false, "{}", definition.name);
        found.insert(definition.name.as_str(), names);
    }
    let expected: BTreeMap<&str, Vec<&str>> =
        PARAMETERS.iter().map(|(tool, names)| (*tool, names.to_vec())).collect();
    assert_eq!(found, expected);
}

#[test]
fn arguments_that_do_not_fit_are_invalid_input() {
    let world = World::new();
    // A tool without its interfaces does not even start; its arguments are looked at by itself.
    let authority = grant::reading().program("ls");
    for (tool, _) in PARAMETERS {
        let caller = Caller::new(&world, tool, authority.clone());
        let invalid = |arguments: Value, parts: &[&str]| {
            caller.fails(arguments, ErrorCase::InvalidInput, parts);
        };
        invalid(json!({}), &["missing field"]);
        invalid(json!([1, 2]), &[]);
        invalid(json!("text"), &[]);
        invalid(json!({"approved": true}), &["approved"]);
    }
    let wrong = [
        ("file_ops", json!({"operation": "chmod", "path": "x"}), "operation"),
        ("file_ops", json!({"operation": "read", "path": 1}), "path"),
        ("file_ops", json!({"operation": "read", "path": "x", "offset": -1}), "offset"),
        ("file_ops", json!({"operation": "list", "recursive": "yes"}), "recursive"),
        ("grep", json!({"pattern": ["x"]}), "pattern"),
        ("grep", json!({"pattern": "x", "include": "*.rs"}), "include"),
        ("grep", json!({"pattern": "x", "output": "json"}), "output"),
        ("fetch", json!({"url": "http://h/", "method": "DELETE"}), "method"),
        ("fetch", json!({"url": "http://h/", "format": "pdf"}), "format"),
        ("terminal", json!({"command": {"program": "ls"}}), "command"),
        ("terminal", json!({"command": ["ls"], "stdin": 1}), "stdin"),
    ];
    for (tool, arguments, field) in wrong {
        let caller = Caller::new(&world, tool, authority.clone());
        caller.fails(arguments, ErrorCase::InvalidInput, &[&format!("`{field}`")]);
    }
}
