//! How results are shown: lines, files or counts, with neighbours, in pages.

use serde_json::{Value, json};

use super::super::fact;
use super::{results, searcher, with};
use crate::harness::World;

/// Twelve matching lines in three files.
fn many() -> World {
    let world = World::new();
    for name in ["a", "b/c", "d"] {
        world.write(name, "hit 1\nmiss\nhit 2\nhit 3\nmiss\nmiss\nhit 4\n");
    }
    world
}

#[test]
fn files_and_counts() {
    let world = many();
    world.write("e", "miss\n");
    let files = searcher(&world).ok(with("hit", json!({"output": "files"})));
    assert_eq!(files.text, "a\nb/c\nd\n\n3 files with a match. Searched 4 files (122 bytes).");
    let count = searcher(&world).ok(with("hit", json!({"output": "count"})));
    assert!(
        count.text.starts_with("a:4\nb/c:4\nd:4\n\n12 matching lines in 3 files."),
        "{}",
        count.text
    );
    assert_eq!((fact(&count, "matching_lines"), fact(&count, "results")), ("12", "3"));
    let lines = searcher(&world).text(with("hit", json!({"output": "lines"})));
    assert_eq!(lines, searcher(&world).text(with("hit", json!({}))));
}

#[test]
fn neighbours() {
    let world = many();
    world.write("f", "1\n2\n3\nx\n5\n6\n7\nx\n9\nx");
    let around = |context: u64| results(&world, "x", json!({"path": "f", "context": context}));
    assert_eq!(around(0), ["f:4:x", "f:8:x", "f:10:x"]);
    assert_eq!(around(1), ["f-3-3", "f:4:x", "f-5-5", "--", "f-7-7", "f:8:x", "f-9-9", "f:10:x"]);
    let all = around(20);
    assert_eq!((all.len(), all[0].as_str(), all[9].as_str()), (10, "f-1-1", "f:10:x"));
    let apart = results(&world, "hit 1", json!({"context": 1}));
    assert_eq!(
        apart,
        ["a:1:hit 1", "a-2-miss", "--", "b/c:1:hit 1", "b/c-2-miss", "--", "d:1:hit 1", "d-2-miss"]
    );
}

/// All the pages of a search, one after the other.
#[track_caller]
fn pages(world: &World, pattern: &str, more: Value, size: u64) -> Vec<String> {
    let mut all = Vec::new();
    let mut more = more;
    more["max_results"] = json!(size);
    loop {
        let output = searcher(world).ok(with(pattern, more.clone()));
        let lines: Vec<_> = results(world, pattern, more.clone());
        assert!(lines.len() as u64 <= size && !lines.is_empty(), "{}", output.text);
        assert_eq!(fact(&output, "results"), lines.len().to_string());
        all.extend(lines);
        if fact(&output, "truncated") == "false" {
            return all;
        }
        let next = fact(&output, "next_offset");
        assert_eq!(next, all.len().to_string());
        assert!(output.text.contains(&format!("offset={next}")), "{}", output.text);
        more["offset"] = json!(next.parse::<u64>().unwrap());
    }
}

#[test]
fn pages_fit_together() {
    let world = many();
    for (output, total) in [("lines", 12), ("files", 3), ("count", 3)] {
        let whole = results(&world, "hit", json!({"output": output}));
        assert_eq!(whole.len(), total);
        for size in [1, 2, 5, 12] {
            assert_eq!(
                pages(&world, "hit", json!({"output": output}), size),
                whole,
                "{output} {size}"
            );
        }
    }
    let beyond = searcher(&world).ok(with("hit", json!({"offset": 12})));
    assert!(
        beyond.text.starts_with("Nothing at offset 12: there are 12 results."),
        "{}",
        beyond.text
    );
    let far = searcher(&world).text(with("hit", json!({"offset": u64::MAX})));
    assert!(far.starts_with("Nothing at offset"), "{far}");
}

#[test]
fn a_hundred_results_unless_more_are_wanted() {
    let world = World::new();
    world.write("f", "hit\n".repeat(10_500));
    let output = searcher(&world).ok(with("hit", json!({})));
    assert_eq!((fact(&output, "results"), fact(&output, "next_offset")), ("100", "100"));
    let output = searcher(&world).ok(with("hit", json!({"max_results": 10_000})));
    assert_eq!(fact(&output, "results"), "10000");
    let count = searcher(&world).ok(with("hit", json!({"output": "count", "max_results": 1})));
    assert_eq!(fact(&count, "matching_lines"), "10500");
}

#[test]
fn many_batches_keep_their_order() {
    let world = World::new();
    for number in 0..60 {
        let filler = "x\n".repeat(20_000);
        world.write(&format!("f{number:02}"), format!("{filler}needle {number}\n"));
    }
    let lines = results(&world, "needle", json!({}));
    let expected: Vec<String> =
        (0..60).map(|number| format!("f{number:02}:20001:needle {number}")).collect();
    assert_eq!(lines, expected);
    assert_eq!(pages(&world, "needle", json!({}), 7), expected);
}

#[test]
fn long_lines_and_long_answers_are_cut() {
    let world = World::new();
    world.write("long", format!("{}needle{}\n", "a".repeat(3_000_000), "b".repeat(3_000_000)));
    let line = &results(&world, "needle", json!({}))[0];
    assert!(line.contains("needle") && line.contains("[cut: line of 6000006 bytes"), "{line}");
    assert!(line.len() < 700, "{}", line.len());

    std::fs::remove_file(world.workspace().join("long")).unwrap();
    world.write("wide", format!("hit {}\n", "w".repeat(450)).repeat(2000));
    let output = searcher(&world).ok(with("hit", json!({"max_results": 10_000})));
    assert!(output.text.len() < 300 * 1024, "{}", output.text.len());
    assert_eq!(fact(&output, "truncated"), "true");
    let next: u64 = fact(&output, "next_offset").parse().unwrap();
    let rest = results(&world, "hit", json!({"offset": next, "max_results": 1}));
    assert!(rest[0].starts_with(&format!("wide:{}:", next + 1)), "{}", rest[0]);
}

#[test]
fn odd_names_stay_on_their_line() {
    let world = World::new();
    world.write("two\nlines:9:x", "needle\n");
    assert_eq!(results(&world, "needle", json!({})), ["two\\nlines:9:x:1:needle"]);
}
