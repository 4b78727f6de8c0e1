//! The reference pages against what they speak of: the contract in `wit/`, the numbers in the
//! code, the example of the SDK, and the command line's own help.

mod numbers;
mod wit;

use std::collections::BTreeSet;
use std::process::Command;

use crate::documents;

const CONTRACT: &str = "docs/reference/tool_contract.md";
const COMMAND_LINE: &str = "docs/reference/command_line.md";

/// The files of the contract itself; those of WASI are below `wit/deps`.
fn contract() -> Vec<String> {
    let files = documents::files_below("wit", ".wit").into_iter();
    let own = files.filter(|path| !documents::shown(path).starts_with("wit/deps/"));
    own.map(|path| documents::read_at(&path)).collect()
}

#[test]
fn everything_in_the_contract_is_in_the_reference() {
    let text = documents::read(CONTRACT);
    let spans: BTreeSet<String> = documents::code_spans(&text).into_iter().collect();
    let mut names = 0;
    for file in contract() {
        for name in wit::names(&file) {
            // A function is written with its type where it is explained.
            let explained =
                spans.iter().any(|span| *span == name || span.starts_with(&format!("{name}: ")));
            assert!(explained, "`{name}` of wit/ is not in {CONTRACT}");
            names += 1;
        }
        let package = wit::package(&file);
        assert!(text.contains(&package), "{CONTRACT} does not name {package}");
    }
    // Fewer would mean that they are not found any more.
    assert!(names >= 60, "only {names} names were found in wit/");
}

#[test]
fn every_limit_in_the_reference_is_the_one_in_the_code() {
    let text = documents::read(CONTRACT);
    let mut checked = 0;
    for row in documents::table_rows(&text) {
        let [_, value, place] = row.as_slice() else { continue };
        let spans = documents::code_spans(place);
        let [file, name] = spans.as_slice() else { continue };
        if !file.ends_with(".rs") {
            continue;
        }
        let source = documents::read(&format!("host/src/{file}"));
        let in_code = numbers::constant(&source, name);
        let told = numbers::told(value);
        assert!(in_code.is_some(), "{file} has no number called {name}");
        assert_eq!(told, in_code, "{CONTRACT} says {value} for {name} of {file}");
        checked += 1;
    }
    assert!(checked >= 40, "only {checked} limits were found");
}

#[test]
fn the_example_is_the_one_that_the_sdk_tests() {
    let reference = documents::read(CONTRACT);
    let shown = reference.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next());
    let sdk = documents::read("guest-tools/sdk/src/lib.rs");
    let block = sdk.split("//! ```\n").nth(1).expect("an example in the SDK's documentation");
    let tested: Vec<&str> = block
        .lines()
        .map(|line| line.trim_start_matches("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        // Hidden from the reader of the SDK's documentation too.
        .filter(|line| !line.starts_with("# "))
        .collect();
    assert_eq!(shown.map(str::trim), Some(tested.join("\n").trim()));
}

/// The commands with help of their own.
const COMMANDS: [&[&str]; 5] =
    [&[], &["tools", "list"], &["tools", "show"], &["tools", "call"], &["sandbox", "explain"]];

#[test]
fn every_flag_is_in_the_reference_and_every_flag_there_exists() {
    let text = documents::read(COMMAND_LINE);
    let documented = flags(&text);
    let mut existing = BTreeSet::new();
    for command in COMMANDS {
        let output =
            Command::new(env!("CARGO_BIN_EXE_xzatoma")).args(command).arg("--help").output();
        let help = String::from_utf8(output.unwrap().stdout).unwrap();
        assert!(help.contains("Usage:"), "{command:?}: {help}");
        existing.extend(flags(&help));
        let name = command.join(" ");
        assert!(text.contains(&format!("`{name}")), "{COMMAND_LINE} does not name `{name}`");
    }
    assert_eq!(documented, existing);
}

/// Everything in a text that looks like a long flag.
fn flags(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
    text.split(|c: char| !is_part(c))
        .filter(|word| word.len() > 2 && word.starts_with("--") && !word.starts_with("---"))
        .map(str::to_owned)
        .collect()
}
