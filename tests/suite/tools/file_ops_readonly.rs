//! `file_ops_readonly`: the same reading, and no code that writes.

use serde_json::{Value, json};
use xzatoma::tool::ErrorCase::{Denied, InvalidInput, NotFound};

use super::{Caller, snapshot};
use crate::harness::{World, grant};

fn filled() -> World {
    let world = World::new();
    world.write("src/main.rs", "one\ntwo\n");
    world.write("src/lib.rs", "one\n");
    world.write("data", b"\0\x01");
    world
}

fn readings() -> Vec<Value> {
    vec![
        json!({"operation": "read", "path": "src/main.rs", "line_numbers": true}),
        json!({"operation": "read", "path": "src/main.rs", "offset": 1, "limit": 1}),
        json!({"operation": "read", "path": "data"}),
        json!({"operation": "list", "recursive": true}),
        json!({"operation": "list", "path": "src", "offset": 1, "limit": 1}),
        json!({"operation": "find", "pattern": "*.rs"}),
        json!({"operation": "find", "pattern": "src/*.rs", "limit": 1}),
        json!({"operation": "find", "pattern": "*", "path": "src", "recursive": false}),
        json!({"operation": "diff", "path": "src/main.rs", "path2": "src/lib.rs"}),
        json!({"operation": "diff", "path": "src/main.rs", "content": "one\nthree\n"}),
    ]
}

#[test]
fn reads_as_the_other_one_does() {
    let world = filled();
    let readonly = Caller::new(&world, "file_ops_readonly", grant::reading());
    let other = Caller::new(&world, "file_ops", grant::reading());
    for arguments in readings() {
        assert_eq!(readonly.ok(arguments.clone()), other.ok(arguments));
    }
    readonly.fails(json!({"operation": "read", "path": "missing"}), NotFound, &["missing"]);
    readonly.fails(json!({"operation": "read", "path": "src"}), InvalidInput, &["list"]);
    readonly.fails(json!({"operation": "read"}), InvalidInput, &["needs `path`"]);
    let outside = json!({"operation": "read", "path": "../../etc/passwd"});
    readonly.fails(outside, Denied, &["outside the workspace"]);
    let senseless = json!({"operation": "list", "content": "x"});
    readonly.fails(senseless, InvalidInput, &["`content` has no meaning"]);
}

#[test]
fn operations_that_write_are_not_known() {
    let world = filled();
    let before = snapshot(&world.workspace());
    // Even where the grant would let it.
    let caller = Caller::new(&world, "file_ops_readonly", grant::writing());
    for operation in ["write", "edit", "append", "delete", "copy", "move", "mkdir"] {
        let arguments = json!({"operation": operation, "path": "src/main.rs"});
        caller.fails(
            arguments,
            InvalidInput,
            &["`operation`", operation, "`read`, `list`, `find`"],
        );
    }
    assert_eq!(snapshot(&world.workspace()), before);
}

/// Functions of `wasi:filesystem` by which something can be changed.
const WRITING: [&str; 14] = [
    "[method]descriptor.write",
    "[method]descriptor.write-via-stream",
    "[method]descriptor.append-via-stream",
    "[method]descriptor.set-size",
    "[method]descriptor.set-times",
    "[method]descriptor.set-times-at",
    "[method]descriptor.create-directory-at",
    "[method]descriptor.link-at",
    "[method]descriptor.remove-directory-at",
    "[method]descriptor.rename-at",
    "[method]descriptor.symlink-at",
    "[method]descriptor.unlink-file-at",
    "[method]descriptor.sync",
    "[method]descriptor.sync-data",
];

/// Whether the bytes of a component hold the name of an import: with its length before it, so
/// that `write` is not found in `write-via-stream`.
fn imports(component: &[u8], name: &str) -> bool {
    let mut with_length = vec![u8::try_from(name.len()).unwrap()];
    with_length.extend(name.bytes());
    component.windows(with_length.len()).any(|window| window == with_length)
}

#[test]
fn the_component_imports_nothing_that_writes() {
    let component = |tool: &str| {
        crate::built_in::TOOLS.iter().find(|built_in| built_in.name == tool).unwrap().component
    };
    // The names that the test looks for are those that a component that writes does have.
    for name in ["write", "rename-at", "unlink-file-at", "append-via-stream", "set-size"] {
        let name = format!("[method]descriptor.{name}");
        assert!(imports(component("file_ops"), &name), "{name}");
    }
    let readonly = component("file_ops_readonly");
    assert!(imports(readonly, "[method]descriptor.read"));
    assert!(imports(readonly, "[method]descriptor.open-at"));
    for name in WRITING {
        assert!(!imports(readonly, name), "{name}");
    }
    for interface in ["wasi:http", "wasi:sockets", "xzatoma:tool/process"] {
        let found = readonly.windows(interface.len()).any(|window| window == interface.as_bytes());
        assert!(!found, "{interface}");
    }
}
