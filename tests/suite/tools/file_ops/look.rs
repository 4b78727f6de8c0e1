//! `list`, `find` and `diff`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use xzatoma::tool::ErrorCase::{Denied, InvalidInput, LimitExceeded, NotFound};

use super::super::{Caller, fact};
use crate::harness::{World, grant};

fn reader(world: &World) -> Caller<'_> {
    Caller::new(world, "file_ops", grant::reading())
}

/// A tree with a bit of everything.
fn tree() -> World {
    let world = World::new();
    for path in ["src/main.rs", "src/deep/lib.rs", "notes.txt", ".hidden", "docs/a.md"] {
        world.write(path, path);
    }
    std::fs::create_dir(world.workspace().join("empty")).unwrap();
    symlink("src/main.rs", world.workspace().join("link")).unwrap();
    world
}

fn list(path: &str) -> Value {
    json!({"operation": "list", "path": path})
}

fn find(pattern: &str) -> Value {
    json!({"operation": "find", "pattern": pattern})
}

#[test]
fn a_directory_in_the_order_of_its_names() {
    let world = tree();
    let top = "file  .hidden  7 bytes\ndir   docs/\ndir   empty/\nlink  link -> src/main.rs\n\
               file  notes.txt  9 bytes\ndir   src/\n";
    let output = reader(&world).ok(json!({"operation": "list"}));
    assert_eq!(output.text, top);
    assert_eq!((fact(&output, "total"), fact(&output, "complete")), ("6", "true"));
    assert_eq!(reader(&world).text(list("/workspace/")), top);
    assert_eq!(reader(&world).text(list("src/deep")), "file  lib.rs  15 bytes\n");
    assert_eq!(reader(&world).text(list("empty")), "[empty is empty]");
    assert_eq!(reader(&world).text(list("notes.txt")), "file  notes.txt  9 bytes");
}

#[test]
fn a_whole_tree_in_pages() {
    let world = tree();
    let reader = reader(&world);
    let all = reader.text(json!({"operation": "list", "recursive": true}));
    let names: Vec<&str> =
        all.lines().map(|line| line.split_whitespace().nth(1).unwrap()).collect();
    assert_eq!(
        names,
        [
            ".hidden",
            "docs/",
            "docs/a.md",
            "empty/",
            "link",
            "notes.txt",
            "src/",
            "src/deep/",
            "src/deep/lib.rs",
            "src/main.rs"
        ]
    );
    let mut pages = String::new();
    let mut offset = 0;
    loop {
        let page = reader
            .ok(json!({"operation": "list", "recursive": true, "offset": offset, "limit": 4}));
        pages.extend(
            page.text.lines().filter(|line| !line.starts_with('[')).map(|l| format!("{l}\n")),
        );
        assert_eq!(fact(&page, "total"), "10");
        match page.metadata.iter().find(|(key, _)| key == "next_offset") {
            Some((_, next)) => offset = next.parse::<u64>().unwrap(),
            None => break,
        }
    }
    assert_eq!(pages, all);
    let page = reader.text(json!({"operation": "list", "limit": 2, "offset": 1}));
    assert!(page.ends_with("[entries 2-3 of 6; 3 more, continue with offset 3]"), "{page}");
    assert!(reader.text(json!({"operation": "list", "offset": 6})).contains("there are 6"));
    assert_eq!(
        reader.text(json!({"operation": "list", "offset": 0, "limit": 0})).lines().count(),
        6
    );
}

#[test]
fn a_thousand_entries_unless_more_are_wanted() {
    let world = World::new();
    for number in 0..1500 {
        world.write(&format!("f{number:04}"), "");
    }
    let output = reader(&world).ok(list("."));
    assert_eq!((fact(&output, "shown"), fact(&output, "next_offset")), ("1000", "1000"));
    let all = reader(&world).ok(json!({"operation": "list", "limit": 5000}));
    assert_eq!(fact(&all, "shown"), "1500");
}

#[test]
fn odd_names_and_links() {
    let world = World::new();
    world.write("two\nlines", "");
    let odd = OsStr::from_bytes(b"no\xFFtext");
    std::fs::write(world.workspace().join(odd), "").unwrap();
    symlink("/etc/shadow", world.workspace().join("absolute")).unwrap();
    let output = reader(&world).ok(list("."));
    assert!(output.text.contains("file  two\\nlines  0 bytes\n"), "{}", output.text);
    // Where the host's directories are is none of a guest's business.
    assert!(output.text.contains("link  absolute\n"), "{}", output.text);
    assert!(output.text.contains("1 entries could not be read"), "{}", output.text);
    assert_eq!(fact(&output, "complete"), "false");
}

#[test]
fn what_cannot_be_listed_or_searched() {
    let world = tree();
    let reader = reader(&world);
    for operation in ["list", "find"] {
        let at = |path: &str| match operation {
            "list" => list(path),
            _ => json!({"operation": "find", "pattern": "*", "path": path}),
        };
        reader.fails(at("missing"), NotFound, &["missing"]);
        reader.fails(at("../outside"), Denied, &["/workspace"]);
        reader.fails(at("notes.txt/x"), InvalidInput, &["directory is needed"]);
    }
    let in_a_file = json!({"operation": "find", "pattern": "*", "path": "notes.txt"});
    reader.fails(in_a_file, InvalidInput, &["is a file"]);
}

#[test]
fn globs_match_names_or_paths() {
    let world = tree();
    let reader = reader(&world);
    for (pattern, expected) in [
        ("*.rs", "src/deep/lib.rs\nsrc/main.rs\n"),
        ("main*", "src/main.rs\n"),
        ("src/*.rs", "src/main.rs\n"),
        ("./src/**/*.rs", "src/deep/lib.rs\nsrc/main.rs\n"),
        ("**/deep", "src/deep/\n"),
        ("{notes,docs}*", "docs/\nnotes.txt\n"),
        ("[!a-z]*", ".hidden\n"),
        ("li?k", "link\n"),
    ] {
        assert_eq!(reader.text(find(pattern)), expected, "{pattern}");
    }
    let below = json!({"operation": "find", "pattern": "*.rs", "path": "src"});
    assert_eq!(reader.text(below), "deep/lib.rs\nmain.rs\n");
    let flat = json!({"operation": "find", "pattern": "*.rs", "path": "src", "recursive": false});
    assert_eq!(reader.text(flat), "main.rs\n");
    let page = reader.ok(json!({"operation": "find", "pattern": "*", "offset": 1, "limit": 2}));
    assert_eq!((fact(&page, "total"), fact(&page, "next_offset")), ("10", "3"));
    assert!(page.text.starts_with("docs/\ndocs/a.md\n[matches 2-3 of 10"), "{}", page.text);
    let none = reader.ok(find("*.py"));
    assert!(none.text.contains("nothing below . fits \"*.py\""), "{}", none.text);
    assert_eq!(fact(&none, "total"), "0");
}

#[test]
fn what_is_no_glob() {
    let world = World::new();
    let reader = reader(&world);
    reader.fails(json!({"operation": "find"}), InvalidInput, &["needs `pattern`"]);
    reader.fails(find(""), InvalidInput, &["`pattern` is empty"]);
    reader.fails(find("[a"), InvalidInput, &["not a glob"]);
    reader.fails(find(&"{a,".repeat(300)), InvalidInput, &["not a glob"]);
    reader.fails(find(&"*".repeat(2000)), InvalidInput, &["2000 bytes"]);
}

#[test]
fn differences() {
    let world = World::new();
    world.write("old", "a\nb\nc\n");
    world.write("same", "a\nb\nc\n");
    world.write("new", "a\nB\nc\nd\n");
    let reader = reader(&world);
    let with = |path2: &str| json!({"operation": "diff", "path": "old", "path2": path2});
    let equal = reader.ok(with("same"));
    assert_eq!(equal.text, "[no differences between old and same]");
    assert_eq!(fact(&equal, "differ"), "false");
    let differs = reader.ok(with("new"));
    assert_eq!(differs.text, "--- old\n+++ new\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n");
    assert_eq!((fact(&differs, "lines_added"), fact(&differs, "lines_removed")), ("2", "1"));
    let text = |content: &str| json!({"operation": "diff", "path": "old", "content": content});
    assert!(reader.text(text("a\nb\nc\n")).contains("no differences"));
    assert!(reader.text(text("a\nb\n")).contains("-c\n"));
    // No text at all is a text too; an empty `path2` is just not given.
    assert!(reader.text(text("")).contains("-a\n-b\n-c\n"));
    let mut filled_in = text("a\nb\n");
    filled_in["path2"] = json!("");
    assert!(reader.text(filled_in).contains("-c\n"));
    world.write("binary", b"\0\xFF");
    let binary = reader.ok(with("binary"));
    assert!(binary.text.contains("old (6 bytes) and binary (2 bytes) differ"), "{}", binary.text);
}

#[test]
fn what_cannot_be_compared() {
    let world = World::new();
    world.write("f", "a\n");
    world.write("dir/f", "a\n");
    world.write("large", "x\n".repeat(5 << 20));
    let reader = reader(&world);
    let with = |path2: &str| json!({"operation": "diff", "path": "f", "path2": path2});
    reader.fails(with("missing"), NotFound, &["missing"]);
    reader.fails(with("dir"), InvalidInput, &["directory"]);
    reader.fails(with("../outside/f"), Denied, &["/workspace"]);
    reader.fails(with("large"), LimitExceeded, &["large", "10485760"]);
    reader.fails(
        json!({"operation": "diff", "path": "f"}),
        InvalidInput,
        &["`path2` or `content`"],
    );
    let both = json!({"operation": "diff", "path": "f", "path2": "dir/f", "content": "a"});
    reader.fails(both, InvalidInput, &["not both"]);
    reader.fails(json!({"operation": "diff", "content": "a"}), InvalidInput, &["needs `path`"]);
}
