//! Every threat of `docs/explanation/threat_model.md` has a test that names its id, and every id
//! that a test names is explained there.

use std::collections::{BTreeMap, BTreeSet};

use crate::documents;

const DOCUMENT: &str = "docs/explanation/threat_model.md";

/// Where tests are: this suite, and those beside the code.
const TESTS: [&str; 3] = ["tests/suite", "host/src", "guest-tools"];

/// The ids in a text: `T-`, an area in capitals, and two digits, such as those of the document.
fn ids(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
    text.split(|c: char| !is_part(c)).filter(|word| is_id(word)).map(str::to_owned).collect()
}

fn is_id(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let [t, area, number] = parts.as_slice() else { return false };
    let is_area = !area.is_empty() && area.chars().all(|c| c.is_ascii_uppercase());
    let is_number = number.len() == 2 && number.chars().all(|c| c.is_ascii_digit());
    *t == "T" && is_area && is_number
}

/// The rows of the document that are about a threat: its id, and the file whose test shows it.
fn documented() -> Vec<(String, String)> {
    let rows = documents::table_rows(&documents::read(DOCUMENT)).into_iter();
    rows.filter(|row| row.first().is_some_and(|cell| is_id(cell)))
        .map(|row| {
            let file = row.last().and_then(|cell| documents::code_spans(cell).into_iter().next());
            let file =
                file.unwrap_or_else(|| panic!("{}: no file is named in the last cell", row[0]));
            (row[0].clone(), file)
        })
        .collect()
}

/// The ids that each file with tests names.
fn tested() -> BTreeMap<String, BTreeSet<String>> {
    let files = TESTS.iter().flat_map(|directory| documents::files_below(directory, ".rs"));
    files
        .map(|path| (documents::shown(&path), path))
        // This file speaks of ids without testing a threat.
        .filter(|(shown, _)| shown != "tests/suite/threats.rs")
        .map(|(shown, path)| (shown, ids(&documents::read_at(&path))))
        .filter(|(_, ids)| !ids.is_empty())
        .collect()
}

#[test]
fn every_threat_has_a_test_and_every_test_a_threat() {
    let documented: BTreeSet<String> = documented().into_iter().map(|(id, _)| id).collect();
    let tested: BTreeSet<String> = tested().into_values().flatten().collect();
    let untested: Vec<_> = documented.difference(&tested).collect();
    let unexplained: Vec<_> = tested.difference(&documented).collect();
    assert!(untested.is_empty(), "no test names {untested:?} of {DOCUMENT}");
    assert!(unexplained.is_empty(), "{DOCUMENT} does not explain {unexplained:?}");
    assert!(documented.len() >= 40, "only {} threats were found", documented.len());
}

#[test]
fn the_test_is_where_the_document_says() {
    let tested = tested();
    for (id, file) in documented() {
        let names_it = tested.get(&file).is_some_and(|ids| ids.contains(&id));
        assert!(names_it, "{DOCUMENT} says that {file} shows {id}; it does not name it");
    }
}

#[test]
fn no_threat_is_told_twice() {
    let all = documented();
    let different: BTreeSet<&String> = all.iter().map(|(id, _)| id).collect();
    assert_eq!(all.len(), different.len(), "an id is used twice in {DOCUMENT}");
}

#[test]
fn ids_are_told_from_other_words() {
    let text = "`T-FS-03`, T-CPU-01; not T-FS-3, XT-FS-04, T--01, T-FS-031 or T-FS";
    let expected = ["T-CPU-01", "T-FS-03"].map(str::to_owned);
    assert_eq!(ids(text), BTreeSet::from(expected));
}
