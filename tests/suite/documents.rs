//! The project's files as text, for the tests that compare documents with the code.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the project: the directory above this package that holds the contract.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package
        .ancestors()
        .find(|directory| directory.join("wit/tool.wit").is_file())
        .unwrap_or_else(|| panic!("no wit/tool.wit above {}", package.display()))
        .to_owned()
}

/// A text file, by its path from the root.
pub fn read(path: &str) -> String {
    read_at(&root().join(path))
}

pub fn read_at(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files below a directory (given from the root) with that ending, in the order of their
/// paths. Build output is not looked at.
pub fn files_below(directory: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&root().join(directory), ending, &mut found);
    found.sort();
    assert!(!found.is_empty(), "there is no {ending} below {directory}");
    found
}

fn collect(directory: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    let entries =
        fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, ending, found);
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
}

/// A path from the root, with `/`.
pub fn shown(path: &Path) -> String {
    let relative = path.strip_prefix(root()).unwrap_or(path);
    let names: Vec<_> = relative.iter().map(|name| name.to_string_lossy()).collect();
    names.join("/")
}

/// What stands between backticks in a document, outside of fenced blocks.
pub fn code_spans(text: &str) -> Vec<String> {
    let mut spans = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            spans.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    spans
}

/// The cells of the rows of every table in a document; headings and rules included.
pub fn table_rows(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .filter(|line| line.starts_with('|') && line.trim_end().ends_with('|'))
        .map(|line| {
            let inner = line.trim_end().trim_start_matches('|').trim_end_matches('|');
            inner.split('|').map(|cell| cell.trim().to_owned()).collect()
        })
        .collect()
}
