//! The absences of `docs/explanation/architecture.md`: what must not be in which part.

mod rules;
mod source;

use std::collections::{BTreeMap, BTreeSet};

use crate::documents;
use rules::{ABSENCES, Absence, CHECKED_APART};
use source::Source;

const DOCUMENT: &str = "docs/explanation/architecture.md";

/// Which words of an absence a file names, and on which lines.
fn hits(absence: &Absence, file: &Source) -> Vec<String> {
    // The type by which an open file is held.
    let code = file.code.replace("std::fs::File", "File");
    let rules = absence.rules.iter().filter(|rule| {
        rule.scope.is_empty() || rule.scope.iter().any(|place| covers(place, &file.path))
    });
    rules
        .flat_map(|rule| rule.words)
        .flat_map(|word| {
            let lines = source::lines_naming(&code, word).into_iter();
            lines.map(move |line| format!("{}:{line} names {word}", file.path))
        })
        .collect()
}

/// Whether `place`, a file or a directory with `/` at the end, is or holds `path`.
fn covers(place: &str, path: &str) -> bool {
    path == place || (place.ends_with('/') && path.starts_with(place))
}

#[test]
fn what_is_absent_is_not_there() {
    let files = source::host();
    let mut broken = Vec::new();
    for absence in ABSENCES {
        for file in &files {
            if !absence.allowed.iter().any(|place| covers(place, &file.path)) {
                broken.extend(
                    hits(absence, file).into_iter().map(|hit| format!("{} {hit}", absence.id)),
                );
            }
        }
    }
    assert!(broken.is_empty(), "see {DOCUMENT}:\n{}", broken.join("\n"));
}

#[test]
fn nothing_is_allowed_without_need() {
    let files = source::host();
    for absence in ABSENCES {
        for place in absence.allowed {
            let mut inside = files.iter().filter(|file| covers(place, &file.path));
            assert!(
                inside.any(|file| !hits(absence, file).is_empty()),
                "{}: {place} is allowed to break the rule and does not: take it off the list",
                absence.id
            );
        }
    }
}

#[test]
fn every_rule_speaks_of_files_that_exist() {
    let files = source::host();
    for rule in ABSENCES.iter().flat_map(|absence| absence.rules) {
        for place in rule.scope {
            assert!(files.iter().any(|file| covers(place, &file.path)), "there is no {place}");
        }
    }
}

#[test]
fn guests_know_nothing_of_the_host() {
    let mut manifests = documents::files_below("guest-tools", "Cargo.toml");
    manifests.extend(documents::files_below("tests/components", "Cargo.toml"));
    for path in manifests {
        for line in dependencies(&documents::read_at(&path)) {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            let is_host =
                name == "xzatoma" || line.contains("\"xzatoma\"") || line.contains("/host\"");
            let place = documents::shown(&path);
            assert!(!is_host && !name.starts_with("wasmtime"), "A-12 {place}: {line}");
        }
    }
}

#[test]
fn xtask_depends_on_nothing() {
    let found = dependencies(&documents::read("xtask/Cargo.toml"));
    assert!(found.is_empty(), "A-14: {found:?}");
}

/// The lines below the headings of a manifest that speak of dependencies.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line.contains("dependencies");
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            found.push(line.to_owned());
        }
    }
    found
}

#[test]
fn dependencies_are_found_in_a_manifest() {
    let text = "[package]\nname = \"a\"\n\n[dependencies]\n# why\nb = \"1\"\nxzatoma.workspace = true\n\
                [target.'cfg(unix)'.dev-dependencies]\nc = \"2\"\n[lints]\nworkspace = true\n";
    assert_eq!(dependencies(text), ["b = \"1\"", "xzatoma.workspace = true", "c = \"2\""]);
}

/// Functions of `wasi:filesystem` that change something.
const CHANGING: [&str; 13] = [
    "append-via-stream",
    "create-directory-at",
    "link-at",
    "remove-directory-at",
    "rename-at",
    "set-size",
    "set-times",
    "set-times-at",
    "symlink-at",
    "unlink-file-at",
    "write",
    "write-via-stream",
    "sync",
];

#[test]
fn file_ops_readonly_imports_nothing_that_writes() {
    assert_eq!(changing_imports("file_ops_readonly"), Vec::<&str>::new(), "A-13");
    // Else the names are written in another way by now, and the line above says nothing.
    assert!(changing_imports("file_ops").contains(&"rename-at"));
}

/// Which of [`CHANGING`] a built-in component imports, by the names in its bytes.
fn changing_imports(tool: &str) -> Vec<&'static str> {
    let tools = crate::built_in::TOOLS;
    let tool = tools.iter().find(|known| known.name == tool).expect("a built-in tool");
    let imports = |function: &&str| {
        let name = format!("[method]descriptor.{function}");
        tool.component.windows(name.len()).any(|bytes| bytes == name.as_bytes())
    };
    CHANGING.into_iter().filter(imports).collect()
}

/// The sections of the document about one absence each, by id.
fn documented() -> BTreeMap<String, String> {
    let text = documents::read(DOCUMENT);
    let sections = text.split("\n### A-").skip(1).map(|section| {
        let (number, rest) = section.split_once(':').expect("a heading such as `### A-1: title`");
        // The last one ends where another subject begins.
        let rest = rest.split("\n## ").next().unwrap_or_default();
        (format!("A-{number}"), rest.to_owned())
    });
    sections.collect()
}

#[test]
fn the_document_and_the_checks_have_the_same_absences() {
    let documented: BTreeSet<String> = documented().into_keys().collect();
    let checked = ABSENCES.iter().map(|absence| absence.id).chain(CHECKED_APART);
    let checked: BTreeSet<String> = checked.map(str::to_owned).collect();
    assert_eq!(documented, checked);
}

#[test]
fn the_document_and_the_checks_allow_the_same_places() {
    for (id, section) in documented() {
        let bullets = section.lines().filter_map(|line| line.strip_prefix("- `"));
        let documented: BTreeSet<&str> =
            bullets.filter_map(|line| line.split_once('`')).map(|(place, _)| place).collect();
        let allowed = ABSENCES.iter().find(|absence| absence.id == id);
        let allowed =
            allowed.map_or(BTreeSet::new(), |absence| absence.allowed.iter().copied().collect());
        assert_eq!(documented, allowed, "{id}");
    }
}
