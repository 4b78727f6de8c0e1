//! `write`, `append` and `edit`.

use std::os::unix::fs::{MetadataExt, symlink};

use serde_json::{Value, json};
use xzatoma::tool::ErrorCase::{Denied, Failed, InvalidInput, LimitExceeded, NotFound};

use super::super::{fact, mode, names, set_mode, snapshot};
use super::writer;
use crate::harness::World;

fn write(path: &str, content: &str) -> Value {
    json!({"operation": "write", "path": path, "content": content})
}

fn append(path: &str, content: &str) -> Value {
    json!({"operation": "append", "path": path, "content": content})
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"operation": "edit", "path": path, "old_text": old, "new_text": new})
}

#[test]
fn writes_a_new_file_with_the_directories_above_it() {
    let world = World::new();
    let output = writer(&world).ok(write("a/b/f.txt", "grüße\n"));
    assert_eq!(output.text, "created a/b/f.txt: 8 bytes; made the directory a/b");
    assert_eq!((fact(&output, "bytes"), fact(&output, "created")), ("8", "true"));
    assert_eq!(world.read("a/b/f.txt"), "grüße\n");
    assert_eq!(names(&world, "a/b").len(), 1);
    assert_eq!(writer(&world).text(write("empty", "")), "created empty: 0 bytes");
    assert_eq!(world.read("empty"), "");
}

#[test]
fn replaces_a_file_in_one_step_and_keeps_its_mode() {
    let world = World::new();
    for bits in [0o755, 0o600, 0o444, 0o664] {
        let path = world.write("f", "old");
        set_mode(&path, bits);
        let before = path.metadata().unwrap().ino();
        let output = writer(&world).ok(write("f", "new"));
        assert_eq!(
            (output.text.as_str(), fact(&output, "created")),
            ("replaced f: 3 bytes", "false")
        );
        assert_eq!((world.read("f").as_str(), mode(&path)), ("new", bits), "{bits:o}");
        assert_ne!(path.metadata().unwrap().ino(), before, "the old one was written over");
        writer(&world).ok(edit("f", "new", "newer"));
        assert_eq!((world.read("f").as_str(), mode(&path)), ("newer", bits), "{bits:o}");
        assert_eq!(names(&world, ".").len(), 1);
        std::fs::remove_file(path).unwrap();
    }
    // What would run as its owner is no business of a tool.
    let path = world.write("f", "old");
    set_mode(&path, 0o4755);
    writer(&world).ok(write("f", "new"));
    assert_eq!(mode(&path), 0o755);
}

#[test]
fn links_stay_links() {
    let world = World::new();
    let real = world.write("dir/real", "old");
    set_mode(&real, 0o750);
    for (name, target) in [("link", "dir/real"), ("dir/again", "../link"), ("new", "dir/made")] {
        symlink(target, world.workspace().join(name)).unwrap();
    }
    writer(&world).ok(write("dir/again", "one"));
    writer(&world).ok(append("link", " two"));
    writer(&world).ok(edit("dir/again", "two", "three"));
    assert_eq!((world.read("dir/real").as_str(), mode(&real)), ("one three", 0o750));
    writer(&world).ok(write("new", "made through a link"));
    assert_eq!(world.read("dir/made"), "made through a link");
    for name in ["link", "dir/again", "new"] {
        assert!(world.workspace().join(name).is_symlink(), "{name}");
    }
}

#[test]
fn links_that_lead_nowhere_good() {
    let world = World::new();
    let secret = world.outside().join("secret");
    std::fs::write(&secret, "old").unwrap();
    for (name, target) in [
        ("out", "../outside/secret".to_owned()),
        ("new", "../outside/made".to_owned()),
        ("absolute", secret.to_str().unwrap().to_owned()),
        ("circle", "circle".to_owned()),
    ] {
        symlink(target, world.workspace().join(name)).unwrap();
    }
    let before = (snapshot(&world.workspace()), snapshot(&world.outside()));
    for operation in [write("x", "new"), append("x", "new"), edit("x", "old", "new")] {
        for name in ["out", "new", "absolute"] {
            let mut arguments = operation.clone();
            arguments["path"] = json!(name);
            writer(&world).fails(arguments, Denied, &[name]);
        }
        let mut arguments = operation;
        arguments["path"] = json!("circle");
        writer(&world).fails(arguments, Failed, &["circle"]);
    }
    assert_eq!((snapshot(&world.workspace()), snapshot(&world.outside())), before);
}

#[test]
fn a_file_with_two_names_is_left_alone() {
    let world = World::new();
    let one = world.write("one", "old");
    std::fs::hard_link(one, world.workspace().join("two")).unwrap();
    let before = snapshot(&world.workspace());
    writer(&world).fails(write("one", "new"), Failed, &["2 names (hard links)", "copy it"]);
    writer(&world).fails(edit("two", "old", "new"), Failed, &["hard links"]);
    writer(&world).fails(append("one", "more"), Denied, &["hard links"]);
    assert_eq!(snapshot(&world.workspace()), before);
    // The way out that the message names.
    let do_it = |arguments| drop(writer(&world).ok(arguments));
    do_it(json!({"operation": "copy", "path": "one", "path2": "copy"}));
    do_it(json!({"operation": "delete", "path": "one"}));
    do_it(json!({"operation": "move", "path": "copy", "path2": "one"}));
    do_it(write("one", "new"));
    assert_eq!((world.read("one"), world.read("two")), ("new".to_owned(), "old".to_owned()));
}

#[test]
fn a_failed_write_leaves_nothing_behind() {
    let world = World::new();
    world.write("dir/f", "x");
    let before = snapshot(&world.workspace());
    let long = format!("a/b/{}", "n".repeat(256));
    writer(&world).fails(write("dir", "x"), InvalidInput, &["dir is a directory"]);
    writer(&world).fails(write("dir/f/below", "x"), InvalidInput, &["directory is needed"]);
    writer(&world).fails(write(&long, "x"), InvalidInput, &["256"]);
    writer(&world).fails(append("dir", "x"), InvalidInput, &["dir is a directory"]);
    writer(&world).fails(write("../outside/f", "x"), Denied, &["/workspace"]);
    // The directories above were made before the name turned out to be protected.
    writer(&world).fails(write("new/deep/.git", "x"), Denied, &[".git"]);
    assert_eq!(snapshot(&world.workspace()), before);
    assert!(names(&world, "../outside").is_empty());
}

#[test]
fn appends_at_the_end() {
    let world = World::new();
    let output = writer(&world).ok(append("logs/log", "one\n"));
    let said = "appended 4 bytes to logs/log, which has 4 bytes now; made the directory logs";
    assert_eq!((output.text.as_str(), fact(&output, "created")), (said, "true"));
    let path = world.workspace().join("logs/log");
    set_mode(&path, 0o640);
    let file = path.metadata().unwrap().ino();
    let output = writer(&world).ok(append("logs/log", "two"));
    assert_eq!((fact(&output, "size"), fact(&output, "created")), ("7", "false"));
    assert_eq!(world.read("logs/log"), "one\ntwo");
    assert_eq!((mode(&path), path.metadata().unwrap().ino()), (0o640, file), "in place");
    writer(&world).ok(append("logs/log", ""));
    writer(&world).ok(append("logs/log", &"x".repeat(100_000)));
    assert_eq!(world.read("logs/log").len(), 100_007);
}

#[test]
fn edits_the_only_match() {
    let world = World::new();
    world.write("f", "one\ntwo\r\nthrée\n");
    let output = writer(&world).ok(edit("f", "two\r\nth", "2\nth"));
    assert_eq!(output.text, "edited f at line 2: 7 bytes became 4");
    assert_eq!((fact(&output, "line"), fact(&output, "size")), ("2", "13"));
    writer(&world).ok(edit("f", "é", ""));
    assert_eq!(world.read("f"), "one\n2\nthre\n");
    writer(&world).ok(edit("f", "one\n2\nthre\n", "all"));
    assert_eq!(world.read("f"), "all");
}

#[test]
fn an_edit_that_is_not_clear_changes_nothing() {
    let world = World::new();
    world.write("f", "abab\n  x = 1;\nabab\n");
    world.write("windows", "a\r\nb\r\n");
    world.write("dir/f", "");
    world.write("binary", b"ab\xFF");
    world.write("many", "a\n".repeat(20_000));
    let before = snapshot(&world.workspace());
    let writer = writer(&world);
    writer.fails(edit("f", "zzz", "y"), Failed, &["matched 0 times in f", "nothing was changed"]);
    writer.fails(edit("f", "x = 1;\n\n", "y"), Failed, &["without the blanks"]);
    writer.fails(edit("f", "abab", "y"), Failed, &["matched 2 times in f (lines 1, 3)"]);
    // Which of two that overlap is meant nobody can tell.
    writer.fails(edit("dir/../f", "ab", "y"), Failed, &["matched 4 times"]);
    writer.fails(edit("many", "a", "b"), Failed, &["at least 10000 times", "1, 2, 3", "..."]);
    writer.fails(edit("windows", "a\nb", "c"), Failed, &["matched 0 times", "\\r\\n"]);
    writer.fails(edit("f", "", "y"), InvalidInput, &["`old_text` is empty"]);
    writer.fails(edit("f", "x", "x"), InvalidInput, &["are the same"]);
    writer.fails(edit("missing", "x", "y"), NotFound, &["missing does not exist", "write"]);
    writer.fails(edit("dir", "x", "y"), InvalidInput, &["directory"]);
    writer.fails(edit("binary", "a", "b"), Failed, &["not UTF-8 text"]);
    assert_eq!(snapshot(&world.workspace()), before);

    world.write("huge", "x".repeat((32 << 20) + 1));
    writer.fails(edit("huge", "y", "z"), LimitExceeded, &["33554433 bytes"]);
}

#[test]
fn the_receipt_says_what_was_written() {
    let world = World::new();
    let receipt = writer(&world).report(write("f", "12345")).receipt;
    assert_eq!(receipt.written_bytes, 5);
    assert!(receipt.files["/workspace/f"].changed, "{:?}", receipt.files);
    let receipt = writer(&world).report(append("f", "678")).receipt;
    assert_eq!(receipt.files["/workspace/f"].written_bytes, 3);
}
