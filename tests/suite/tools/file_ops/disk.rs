//! Disks: another one, and a full one.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use serde_json::{Value, json};
use xzatoma::policy::Access;
use xzatoma::tool::ErrorCase::{Failed, LimitExceeded};

use super::super::{Caller, fact, names, skip, snapshot};
use super::writer;
use crate::harness::grant::{self, Add};
use crate::harness::{Setup, World};

/// A directory on a disk of its own that every user has.
struct SharedMemory(PathBuf);

impl SharedMemory {
    /// None, with a word about it, where there is no such disk.
    fn new(world: &Path) -> Option<SharedMemory> {
        let path = PathBuf::from(format!("/dev/shm/xzatoma-suite-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        if let Err(error) = std::fs::create_dir(&path) {
            skip(&format!("/dev/shm cannot be used: {error}"));
            return None;
        }
        let shared = SharedMemory(path);
        if shared.0.metadata().unwrap().dev() == world.metadata().unwrap().dev() {
            skip("/dev/shm is on the same disk as the tests");
            return None;
        }
        Some(shared)
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A disk of a few pages inside a workspace.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// None, with a word about it, where that takes a right that this user has not.
    fn new(world: &World) -> Option<SmallDisk> {
        let path = world.workspace().join("small");
        std::fs::create_dir(&path).unwrap();
        match mount("tmpfs", &path, "tmpfs", MountFlags::empty(), Some(c"size=64k")) {
            Ok(()) => Some(SmallDisk(path)),
            Err(error) => {
                skip(&format!("a small disk cannot be mounted: {error}"));
                None
            }
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

fn relocate(path: &str, path2: &str) -> Value {
    json!({"operation": "move", "path": path, "path2": path2})
}

#[test]
fn a_move_to_another_disk_copies_and_deletes() {
    let tests = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let Some(other) = SharedMemory::new(tests) else { return };
    let world = World::with(Setup { roots: vec![("/other", other.0.clone())], ..Setup::default() });
    world.write("tree/a/f", "12");
    world.write("f", "345");
    std::os::unix::fs::symlink("a/f", world.workspace().join("tree/link")).unwrap();
    let caller = Caller::new(&world, "file_ops", grant::writing().dir("/other", Access::Write));

    let output = caller.ok(relocate("f", "/other/f"));
    assert_eq!(fact(&output, "copied"), "true");
    assert!(output.text.contains("by copying"), "{}", output.text);
    caller.ok(relocate("tree", "/other/new/tree"));
    assert!(names(&world, ".").is_empty());
    assert_eq!(std::fs::read_to_string(other.0.join("new/tree/link")).unwrap(), "12");
    caller.ok(relocate("/other/f", "back"));
    assert_eq!(world.read("back"), "345");

    // What cannot go along keeps everything where it is.
    world.write("tree/f", "1");
    std::os::unix::fs::symlink("/etc/passwd", world.workspace().join("tree/absolute")).unwrap();
    let before = (snapshot(&world.workspace()), snapshot(&other.0));
    caller.fails(relocate("tree", "/other/tree"), Failed, &["nothing was moved"]);
    assert_eq!((snapshot(&world.workspace()), snapshot(&other.0)), before);

    // The same where the source may only be read.
    let caller = Caller::new(&world, "file_ops", grant::reading().dir("/other", Access::Write));
    caller.fails(
        relocate("back", "/other/x"),
        xzatoma::tool::ErrorCase::Denied,
        &["nothing was moved"],
    );
    assert_eq!((snapshot(&world.workspace()), snapshot(&other.0)), before);
}

#[test]
fn a_full_disk_changes_nothing_and_leaves_nothing_behind() {
    let world = World::new();
    let Some(_disk) = SmallDisk::new(&world) else { return };
    world.write("small/f", "old");
    world.write("tree/f", "x".repeat(20_000));
    world.write("tree/g", "y".repeat(100_000));
    std::os::unix::fs::symlink("/etc/passwd", world.workspace().join("tree/absolute")).unwrap();
    world.write("large", "x".repeat(100_000));
    let large = "x".repeat(100_000);
    for arguments in [
        json!({"operation": "write", "path": "small/f", "content": large}),
        json!({"operation": "write", "path": "small/new/deep/f", "content": large}),
        json!({"operation": "append", "path": "small/f", "content": large}),
        json!({"operation": "append", "path": "small/new", "content": large}),
        json!({"operation": "edit", "path": "small/f", "old_text": "old", "new_text": large}),
        json!({"operation": "copy", "path": "large", "path2": "small/new"}),
        // A link that is left out on the way is not the reason.
        json!({"operation": "copy", "path": "tree", "path2": "small/new", "recursive": true}),
        json!({"operation": "move", "path": "large", "path2": "small/new/large"}),
    ] {
        let mut before = snapshot(&world.workspace());
        writer(&world).fails(arguments.clone(), LimitExceeded, &["disk is full"]);
        let mut after = snapshot(&world.workspace());
        if arguments["operation"] == "append" {
            // Taken back, so that its time is another.
            before.remove(Path::new("small/f"));
            after.remove(Path::new("small/f"));
        }
        assert!(after == before, "{}: {:?}", arguments["operation"], after.keys());
        assert_eq!(world.read("small/f"), "old");
    }
    writer(&world).ok(json!({"operation": "write", "path": "small/f", "content": "fits"}));
}
