//! `delete`, `copy`, `move` and `mkdir`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use xzatoma::policy::Access;
use xzatoma::tool::ErrorCase::{Denied, Failed, InvalidInput, LimitExceeded, NotFound};

use super::super::{Caller, fact, make_pipe, names, snapshot};
use super::writer;
use crate::harness::World;
use crate::harness::grant::{self, Add};

fn delete(path: &str, recursive: bool) -> Value {
    json!({"operation": "delete", "path": path, "recursive": recursive})
}

fn copy(path: &str, path2: &str, recursive: bool) -> Value {
    json!({"operation": "copy", "path": path, "path2": path2, "recursive": recursive})
}

fn relocate(path: &str, path2: &str) -> Value {
    json!({"operation": "move", "path": path, "path2": path2})
}

fn mkdir(path: &str) -> Value {
    json!({"operation": "mkdir", "path": path})
}

#[test]
fn deletes_files_links_and_directories() {
    let world = World::new();
    world.write("tree/a/f", "");
    world.write("tree/b", "");
    world.write("f", "");
    std::fs::create_dir(world.workspace().join("empty")).unwrap();
    symlink("tree", world.workspace().join("link")).unwrap();
    symlink("../../outside", world.workspace().join("tree/out")).unwrap();
    std::fs::write(world.outside().join("kept"), "kept").unwrap();
    let writer = writer(&world);

    assert_eq!(writer.text(delete("f", false)), "deleted f");
    assert_eq!(writer.text(delete("empty", false)), "deleted the empty directory empty");
    let link = writer.text(delete("link", true));
    assert!(link.contains("what it points to is still there"), "{link}");
    assert!(world.workspace().join("tree/a/f").exists());
    writer.fails(delete("tree", false), Failed, &["not empty", "recursive"]);
    assert!(world.workspace().join("tree/a/f").exists());
    let output = writer.ok(delete("tree", true));
    assert_eq!(output.text, "deleted the directory tree, 5 entries");
    assert_eq!(fact(&output, "deleted"), "5");
    assert!(names(&world, ".").is_empty());
    assert_eq!(std::fs::read_to_string(world.outside().join("kept")).unwrap(), "kept");
    writer.fails(delete("tree", true), NotFound, &["tree"]);
}

#[test]
fn what_cannot_be_deleted() {
    let world = World::new();
    world.write("tree/f", "");
    std::fs::write(world.workspace().join("tree").join(OsStr::from_bytes(b"\xFF")), "").unwrap();
    let mut deep = world.workspace().join("deep");
    (0..140).for_each(|_| deep.push("d"));
    std::fs::create_dir_all(deep).unwrap();
    let before = snapshot(&world.workspace());
    let writer = writer(&world);
    writer.fails(delete(".", true), Denied, &["granted directory itself"]);
    writer.fails(delete("/workspace", true), Denied, &["granted directory itself"]);
    writer.fails(delete("../outside", true), Denied, &["/workspace"]);
    // Half of a tree is worse than all of it or none.
    writer.fails(delete("deep", true), LimitExceeded, &["nothing was", "128 levels"]);
    writer.fails(delete("tree", true), LimitExceeded, &["nothing was", "could not be read"]);
    assert_eq!(snapshot(&world.workspace()), before);
}

#[test]
fn copies_files_and_trees() {
    let world = World::new();
    world.write("tree/a/f", "12");
    world.write("tree/g", "345");
    symlink("a/f", world.workspace().join("tree/link")).unwrap();
    symlink("/etc/passwd", world.workspace().join("tree/absolute")).unwrap();
    let writer = writer(&world);
    assert_eq!(
        writer.text(copy("tree/g", "new/g", false)),
        "copied tree/g to new/g: 3 bytes; made the directory new"
    );
    assert_eq!(world.read("new/g"), "345");
    let output = writer.ok(copy("tree", "copy", true));
    assert_eq!(
        output.text,
        "copied tree to copy: 2 files, 5 bytes; left out 1 links out of the grant or special files"
    );
    assert_eq!((fact(&output, "files"), fact(&output, "left_out")), ("2", "1"));
    assert_eq!(world.read("copy/link"), "12");
    assert_eq!(names(&world, "copy").len(), 3);
    // A link is followed: what is copied is the file.
    writer.ok(copy("tree/link", "through", false));
    assert_eq!(world.read("through"), "12");
    assert!(!world.workspace().join("through").is_symlink());
    // The original stays.
    assert_eq!(names(&world, "tree").len(), 4);
}

#[test]
fn what_cannot_be_copied_or_moved() {
    let world = World::new();
    world.write("tree/f", "");
    world.write("f", "");
    world.write("there", "");
    make_pipe(&world, "pipe");
    let before = snapshot(&world.workspace());
    let writer = writer(&world);
    writer.fails(copy("tree", "copy", false), InvalidInput, &["directory", "recursive"]);
    writer.fails(copy("pipe", "copy", false), InvalidInput, &["not a regular file"]);
    for operation in ["copy", "move"] {
        let to = |path: &str, path2: &str| json!({"operation": operation, "path": path, "path2": path2, "recursive": true});
        writer.fails(to("missing", "x"), NotFound, &["missing"]);
        writer.fails(to("f", "f"), InvalidInput, &["the same"]);
        writer.fails(to("f", "there"), InvalidInput, &["there exists", "delete it first"]);
        writer.fails(to("f", "tree"), InvalidInput, &["is a directory", "tree/f"]);
        writer.fails(to("tree", "tree/deep/copy"), InvalidInput, &["inside tree"]);
        writer.fails(to("f", "there/x"), InvalidInput, &["directory is needed"]);
        writer.fails(to("f", "../outside/f"), Denied, &["/workspace"]);
        writer.fails(to("../outside/f", "x"), Denied, &["/workspace"]);
        let no_target = json!({"operation": operation, "path": "f"});
        writer.fails(no_target, InvalidInput, &["needs `path2`"]);
    }
    writer.fails(relocate(".", "x"), Denied, &["granted directory itself"]);
    assert_eq!(snapshot(&world.workspace()), before);
}

#[test]
fn moves_by_renaming() {
    let world = World::new();
    world.write("tree/a/f", "12");
    world.write("f", "3");
    symlink("tree/a/f", world.workspace().join("link")).unwrap();
    let writer = writer(&world);
    let output = writer.ok(relocate("f", "new/g"));
    assert_eq!(output.text, "moved f to new/g; made the directory new");
    assert_eq!(fact(&output, "copied"), "false");
    writer.ok(relocate("tree", "new/tree"));
    assert_eq!(
        (world.read("new/g"), world.read("new/tree/a/f")),
        ("3".to_owned(), "12".to_owned())
    );
    // A link moves as a link, wherever it leads.
    writer.ok(relocate("link", "moved"));
    assert!(world.workspace().join("moved").is_symlink());
    assert_eq!(names(&world, ".").into_iter().collect::<Vec<_>>(), ["moved", "new"]);
}

#[test]
fn nothing_moves_out_of_a_read_only_grant() {
    let world = World::new();
    world.write("f", "text");
    world.write("tree/f", "text");
    std::fs::create_dir(world.workspace().join("out")).unwrap();
    let before = snapshot(&world.workspace());
    let authority = grant::reading().dir("/workspace/out", Access::Write);
    let caller = Caller::new(&world, "file_ops", authority);
    for path in ["f", "tree"] {
        let message = caller.fails(relocate(path, "out/f"), Denied, &["cannot be deleted"]);
        assert!(
            message.contains("read-only") && message.contains("nothing was moved"),
            "{message}"
        );
    }
    caller.fails(relocate("out", "elsewhere"), Denied, &[]);
    caller.fails(copy("f", "copy", false), Denied, &["read-only", "--allow-write"]);
    assert_eq!(snapshot(&world.workspace()), before);
    // Copying is what the grant is for.
    caller.ok(copy("tree", "out/tree", true));
    caller.ok(relocate("out/tree", "out/moved"));
    assert_eq!(world.read("out/moved/f"), "text");
}

#[test]
fn two_writable_grants_are_one_place() {
    let world = World::new();
    world.write("a/f", "text");
    std::fs::create_dir(world.workspace().join("b")).unwrap();
    let authority =
        grant::nothing().dir("/workspace/a", Access::Write).dir("/workspace/b", Access::Write);
    let caller = Caller::new(&world, "file_ops", authority);
    caller.ok(relocate("a/f", "b/g"));
    assert_eq!(world.read("b/g"), "text");
    assert!(names(&world, "a").is_empty());
    caller.fails(relocate("b/g", "c"), Denied, &["/workspace/a, /workspace/b"]);
}

#[test]
fn makes_directories() {
    let world = World::new();
    world.write("f", "");
    let writer = writer(&world);
    let output = writer.ok(mkdir("a/b/c"));
    assert_eq!(
        (output.text.as_str(), fact(&output, "created")),
        ("made the directory a/b/c", "true")
    );
    assert!(world.workspace().join("a/b/c").is_dir());
    let again = writer.ok(json!({"operation": "mkdir", "path": "a/b", "recursive": true}));
    assert_eq!((again.text.as_str(), fact(&again, "created")), ("a/b exists already", "false"));
    writer.fails(mkdir("f"), Failed, &["f exists and is not a directory"]);
    writer.fails(mkdir("f/x"), InvalidInput, &["directory is needed"]);
    writer.fails(mkdir("../outside/x"), Denied, &["/workspace"]);
    writer.fails(mkdir(".git"), Denied, &[".git is never written"]);
    writer.fails(mkdir("x/y/.GIT/z"), Denied, &[".git is never written"]);
    assert!(!world.workspace().join("x").exists());
}
