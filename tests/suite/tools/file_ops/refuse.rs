//! What no operation may change: a read-only grant, `.git`, and what is hidden.

use serde_json::{Value, json};
use xzatoma::tool::ErrorCase::Denied;

use super::super::{Caller, snapshot};
use super::writer;
use crate::harness::{Setup, World, grant};

/// Every operation that would change something at `path`, which is a file, or in `directory`.
fn changes(path: &str, directory: &str) -> Vec<Value> {
    let inside = format!("{directory}/new");
    vec![
        json!({"operation": "write", "path": path, "content": "new"}),
        json!({"operation": "write", "path": inside, "content": "new"}),
        json!({"operation": "append", "path": path, "content": "new"}),
        json!({"operation": "append", "path": inside, "content": "new"}),
        json!({"operation": "edit", "path": path, "old_text": "old", "new_text": "new"}),
        json!({"operation": "delete", "path": path}),
        json!({"operation": "delete", "path": directory, "recursive": true}),
        json!({"operation": "copy", "path": "f", "path2": inside}),
        json!({"operation": "copy", "path": "plain", "path2": inside, "recursive": true}),
        json!({"operation": "move", "path": path, "path2": "elsewhere"}),
        json!({"operation": "move", "path": directory, "path2": "elsewhere"}),
        json!({"operation": "move", "path": "f", "path2": inside}),
        json!({"operation": "mkdir", "path": inside}),
    ]
}

fn filled(setup: Setup) -> World {
    let world = World::with(setup);
    for path in [
        "f",
        "plain/f",
        "other/deep/f",
        "tree/!first",
        "tree/f",
        "tree/.git/config",
        ".git/config",
        ".git/hooks/sample",
        "own/f",
        "keeps/!first",
        "keeps/own/f",
    ] {
        world.write(path, "old");
    }
    std::os::unix::fs::symlink(".git", world.workspace().join("git-link")).unwrap();
    world
}

#[test]
fn a_read_only_grant_stays_as_it_is() {
    let world = filled(Setup::default());
    let before = snapshot(&world.workspace());
    let reader = Caller::new(&world, "file_ops", grant::reading());
    for arguments in changes("f", "other/deep") {
        let report = reader.report(arguments.clone());
        let message = reader.fails(arguments.clone(), Denied, &["read-only", "--allow-write"]);
        assert!(!report.receipt.denials.is_empty(), "{arguments}: {message}");
        assert_eq!(report.receipt.written_bytes, 0);
    }
    assert_eq!(snapshot(&world.workspace()), before);
}

#[test]
fn git_is_read_and_never_written() {
    let world = filled(Setup::default());
    let before = snapshot(&world.workspace());
    let writer = writer(&world);
    assert_eq!(writer.text(json!({"operation": "read", "path": ".git/config"})), "old");
    for (path, directory) in [
        (".git/config", ".git"),
        (".git/hooks/sample", ".git/hooks"),
        ("tree/.git/config", "tree/.git"),
        ("git-link/config", "git-link/hooks"),
    ] {
        for arguments in changes(path, directory) {
            writer.fails(arguments, Denied, &[".git is never written"]);
        }
    }
    // Neither by its own name nor with what is around it.
    for path2 in [".git", "tree/.git", "new/.git", "new/.Git ", "new/git~1"] {
        let arguments = json!({"operation": "move", "path": "f", "path2": path2});
        let case = writer.report(arguments).result.unwrap_err();
        let exists = case.message.contains("exists");
        assert!(case.case == Denied || exists, "{path2}: {case}");
    }
    // Nothing of a tree that cannot go as a whole.
    for arguments in [
        json!({"operation": "delete", "path": "tree", "recursive": true}),
        json!({"operation": "copy", "path": "tree", "path2": "copy", "recursive": true}),
    ] {
        writer.fails(arguments, Denied, &[".git is never written"]);
    }
    assert_eq!(snapshot(&world.workspace()), before);
}

#[test]
fn hidden_files_are_not_there_and_not_moved() {
    let world = filled(Setup { hidden: vec!["own", "keeps/own"], ..Setup::default() });
    let before = snapshot(&world.workspace());
    let writer = writer(&world);
    for arguments in changes("own/f", "own") {
        writer.fails(arguments, Denied, &["closed to tools"]);
    }
    writer.fails(json!({"operation": "read", "path": "own/f"}), Denied, &["closed to tools"]);
    // Nor with what is around them, of which nothing goes either.
    for arguments in [
        json!({"operation": "delete", "path": "keeps", "recursive": true}),
        json!({"operation": "move", "path": "keeps", "path2": "elsewhere"}),
    ] {
        writer.fails(arguments, Denied, &["closed to tools"]);
    }
    let listed = writer.text(json!({"operation": "list"}));
    assert!(!listed.contains("own"), "{listed}");
    assert_eq!(snapshot(&world.workspace()), before);
}
