//! Which files are searched.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use xzatoma::policy::Access;

use super::super::{Caller, fact, make_pipe};
use super::{results, searcher, with};
use crate::harness::grant::{self, Add};
use crate::harness::{Setup, World};

/// A world whose files all hold the word `needle`.
fn world(paths: &[&str]) -> World {
    filled(World::new(), paths)
}

fn filled(world: World, paths: &[&str]) -> World {
    for path in paths {
        world.write(path, "needle\n");
    }
    world
}

/// The files in which the needle is found.
#[track_caller]
fn found(world: &World, more: Value) -> Vec<String> {
    let mut more = more;
    more["output"] = json!("files");
    results(world, "needle", more)
}

#[test]
fn ignore_files_are_honoured() {
    let world = world(&[
        "kept.txt",
        "a.log",
        "important.log",
        "build/x",
        "src/build/x",
        "src/only/here",
        "docs/a.md",
        "docs/b.md",
        "vendor/keep/x",
        "vendor/drop/x",
        "local",
    ]);
    world.write(
        ".gitignore",
        "# comment\n*.log\n!important.log\n/build/\nonly/\nvendor/*\n!vendor/keep\n",
    );
    // Further down and negated: the nearer file wins.
    world.write("docs/.gitignore", "*.md\n!b.md\n");
    world.write(".ignore", "local\n");
    assert_eq!(
        found(&world, json!({})),
        ["docs/b.md", "important.log", "kept.txt", "src/build/x", "vendor/keep/x"]
    );
    // The rules of the directories above hold further down, too.
    assert_eq!(found(&world, json!({"path": "src"})), ["src/build/x"]);
    assert_eq!(found(&world, json!({"path": "docs"})), ["docs/b.md"]);
    // Who names something means it.
    assert_eq!(found(&world, json!({"path": "a.log"})), ["a.log"]);
    assert_eq!(found(&world, json!({"path": "build"})), ["build/x"]);
    assert_eq!(found(&world, json!({"include": ["*.log"]})), ["a.log", "important.log"]);
}

#[test]
fn a_repositorys_own_exclusions_count() {
    let world = world(&["f", "excluded", "sub/excluded"]);
    world.write(".git/info/exclude", "excluded\n");
    world.write(".git/config", "needle\n");
    assert_eq!(found(&world, json!({})), ["f"]);
    // .ignore has the last word.
    world.write("sub/.ignore", "!excluded\n");
    assert_eq!(found(&world, json!({})), ["f", "sub/excluded"]);
}

#[test]
fn ignore_files_that_are_traps() {
    let world = world(&["f", "g.log"]);
    let hostile = format!("{}\n[\n{}\n*.log\n", "x".repeat(100_000), "{a,".repeat(500));
    world.write(".gitignore", hostile);
    assert_eq!(found(&world, json!({})), ["f"]);
    std::fs::remove_file(world.workspace().join(".gitignore")).unwrap();
    std::fs::write(world.outside().join("rules"), "f\n").unwrap();
    symlink("../outside/rules", world.workspace().join(".gitignore")).unwrap();
    make_pipe(&world, ".ignore");
    assert_eq!(found(&world, json!({})), ["f", "g.log"]);
}

#[test]
fn hidden_files_are_searched_only_when_named() {
    let world = world(&[".env", ".github/workflow.yml", "f", ".git/config"]);
    assert_eq!(found(&world, json!({})), ["f"]);
    assert_eq!(found(&world, json!({"path": ".github"})), [".github/workflow.yml"]);
    assert_eq!(found(&world, json!({"path": ".env"})), [".env"]);
}

#[test]
fn globs_choose() {
    let world = world(&["a.rs", "b.md", "src/c.rs", "src/deep/d.rs", "src/e.md", "docs/f.md"]);
    let only = |include: &[&str]| found(&world, json!({"include": include}));
    assert_eq!(only(&["*.rs"]), ["a.rs", "src/c.rs", "src/deep/d.rs"]);
    assert_eq!(only(&["/*.rs"]), ["a.rs"]);
    assert_eq!(only(&["src/**"]), ["src/c.rs", "src/deep/d.rs", "src/e.md"]);
    assert_eq!(only(&["src/*.rs"]), ["src/c.rs"]);
    assert_eq!(only(&["*.{md,txt}", "a.rs"]), ["a.rs", "b.md", "docs/f.md", "src/e.md"]);
    assert_eq!(only(&["*.py"]), Vec::<String>::new());
    let without = |exclude: &[&str]| found(&world, json!({"exclude": exclude}));
    assert_eq!(without(&["*.rs"]), ["b.md", "docs/f.md", "src/e.md"]);
    assert_eq!(without(&["src"]), ["a.rs", "b.md", "docs/f.md"]);
    assert_eq!(without(&["src/", "/b.md"]), ["a.rs", "docs/f.md"]);
    let both = json!({"include": ["*.rs"], "exclude": ["deep"]});
    assert_eq!(found(&world, both), ["a.rs", "src/c.rs"]);
    // With a slash they speak of paths below `path`.
    let below = json!({"path": "src", "include": ["deep/*"]});
    assert_eq!(found(&world, below), ["src/deep/d.rs"]);
    let empty = json!({"include": [], "exclude": []});
    assert_eq!(found(&world, empty).len(), 6);
}

#[test]
fn one_file_or_one_directory() {
    let world = world(&["dir/f", "dir/g", "h"]);
    symlink("dir", world.workspace().join("link")).unwrap();
    assert_eq!(found(&world, json!({"path": "dir/f"})), ["dir/f"]);
    assert_eq!(found(&world, json!({"path": "/workspace/dir/"})), ["dir/f", "dir/g"]);
    assert_eq!(found(&world, json!({"path": "./dir/../dir"})), ["dir/f", "dir/g"]);
    assert_eq!(found(&world, json!({"path": "/workspace"})), ["dir/f", "dir/g", "h"]);
    // A link that is named is followed, others are passed by: nothing is found twice.
    assert_eq!(found(&world, json!({"path": "link"})), ["link/f", "link/g"]);
    assert_eq!(found(&world, json!({})), ["dir/f", "dir/g", "h"]);
}

#[test]
fn a_grant_further_down_is_a_place_of_its_own() {
    let world = world(&["a/f", "b/f", "c"]);
    let authority = grant::nothing().dir("/workspace/a", Access::Read);
    let caller = Caller::new(&world, "grep", authority);
    let path = json!({"path": "a", "output": "files"});
    assert!(caller.text(with("needle", path)).starts_with("a/f\n"));
    let message = caller.fails(
        with("needle", json!({"path": "b"})),
        xzatoma::tool::ErrorCase::Denied,
        &["paths are under /workspace/a"],
    );
    assert!(!message.contains("needle"));
}

#[test]
fn binary_files_are_skipped_and_counted() {
    let world = world(&["f"]);
    world.write("binary", b"needle\n\0");
    world.write("late", format!("needle\n{}\0", "x\n".repeat(100_000)));
    world.write("latin", b"needle \xFC\n");
    let wide: Vec<u8> = "\u{FEFF}needle\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    world.write("wide", wide);
    let output = searcher(&world).ok(with("needle", json!({})));
    for line in ["f:1:needle", "latin:1:needle \u{FFFD}", "wide:1:needle"] {
        assert!(output.text.contains(&format!("{line}\n")), "{}", output.text);
    }
    assert!(output.text.contains("Skipped 2 files with binary content"), "{}", output.text);
    assert_eq!((fact(&output, "skipped_binary"), fact(&output, "results")), ("2", "3"));
}

#[test]
fn large_files_are_skipped_and_counted() {
    let world = world(&["f"]);
    world.write("large", format!("needle\n{}", "x".repeat(2000)));
    let limited = searcher(&world).ok(with("needle", json!({"max_file_size": 1000})));
    assert!(
        limited.text.contains("Skipped 1 file over 1000 bytes (max_file_size)"),
        "{}",
        limited.text
    );
    assert_eq!((fact(&limited, "skipped_too_large"), fact(&limited, "results")), ("1", "1"));
    assert_eq!(results(&world, "needle", json!({"max_file_size": 2007})).len(), 2);
    assert_eq!(results(&world, "needle", json!({"max_file_size": 2006})).len(), 1);
    // One that is named is no exception.
    let named = searcher(&world).ok(with("needle", json!({"path": "large", "max_file_size": 10})));
    assert!(named.text.contains("Skipped 1 file over 10 bytes"), "{}", named.text);
    world.write("sparse", "needle\n");
    let sparse = world.workspace().join("sparse");
    std::fs::OpenOptions::new().write(true).open(sparse).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(fact(&searcher(&world).ok(with("needle", json!({}))), "skipped_too_large"), "1");
}

#[test]
fn what_is_not_searched_is_said() {
    let world = filled(
        World::with(Setup { hidden: vec!["own"], ..Setup::default() }),
        &["f", "own/secret"],
    );
    std::fs::write(world.workspace().join(OsStr::from_bytes(b"odd\xFF")), "needle\n").unwrap();
    make_pipe(&world, "pipe");
    let output = searcher(&world).ok(with("needle", json!({})));
    assert!(output.text.contains("f:1:needle\n"), "{}", output.text);
    assert!(!output.text.contains("secret"), "{}", output.text);
    assert_eq!(fact(&output, "skipped_unreadable"), "1", "{}", output.text);
    assert!(output.text.contains("Skipped 1 file that could not be read"), "{}", output.text);
    let own = with("needle", json!({"path": "own"}));
    searcher(&world).fails(own, xzatoma::tool::ErrorCase::Denied, &["closed to tools"]);
}

#[test]
fn the_receipt_sums_the_walk() {
    let world = world(&["a/f", "b"]);
    let receipt = searcher(&world).report(with("needle", json!({}))).receipt;
    assert_eq!(receipt.files["/workspace/**"].read_bytes, 14);
    let receipt = searcher(&world).report(with("needle", json!({"path": "b"}))).receipt;
    assert_eq!(receipt.files["/workspace/b"].read_bytes, 7);
}
