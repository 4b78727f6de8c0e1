//! A grant to read: every call of `wasi:filesystem` that could change something.
//!
//! After each, the table compares the bytes, modes and times of the whole workspace.

use serde_json::json;

use super::scene::reading;
use super::table::{Case, Expected, attack, run};

const ID: &str = "T-FS-10";

#[test]
fn a_grant_to_read_changes_nothing() {
    run("hostile::read_only::a_grant_to_read_changes_nothing", || {
        let open = |how: &[&str]| json!({"case": "open", "path": "notes.txt", "how": how});
        let acts = [
            ("open to write", open(&["write"])),
            ("open to read and write", open(&["read", "write"])),
            ("truncate", open(&["truncate"])),
            ("truncate while reading", open(&["read", "truncate"])),
            ("append", open(&["read", "append"])),
            ("write by a stream", open(&["read", "stream"])),
            (
                "change the size",
                json!({"case": "open", "path": "notes.txt", "how": ["read", "size"], "count": 1}),
            ),
            (
                "write to what is open to read",
                json!({"case": "open", "path": "notes.txt", "how": ["read", "beyond"], "count": 0}),
            ),
            ("change the times of an open file", open(&["read", "times"])),
            (
                "change the times of an open directory",
                json!({"case": "open", "path": "src", "how": ["directory", "mutate", "times"]}),
            ),
            ("change the times by name", json!({"case": "set-times", "path": "notes.txt"})),
            (
                "change the times of a link",
                json!({"case": "set-times", "path": "dangling", "how": ["nofollow"]}),
            ),
            ("create a file", json!({"case": "open", "path": "new.txt", "how": ["create"]})),
            (
                "create a file through a link",
                json!({"case": "open", "path": "dangling", "how": ["write", "create"]}),
            ),
            (
                "create below an open directory",
                json!({"case": "open", "below": "src", "path": "new.txt", "how": ["write", "create"]}),
            ),
            ("make a directory", json!({"case": "mkdir", "path": "new"})),
            (
                "make a directory below an open one",
                json!({"case": "mkdir", "below": "src", "path": "new"}),
            ),
            ("make a link", json!({"case": "symlink", "path": "new", "to": "notes.txt"})),
            ("make a hard link", json!({"case": "link", "path": "notes.txt", "to": "new.txt"})),
            ("rename", json!({"case": "rename", "path": "notes.txt", "to": "new.txt"})),
            ("rename over", json!({"case": "rename", "path": "notes.txt", "to": "script.sh"})),
            ("rename a directory", json!({"case": "rename", "path": "src", "to": "empty"})),
            ("unlink", json!({"case": "unlink", "path": "notes.txt"})),
            (
                "unlink below an open directory",
                json!({"case": "unlink", "below": "src", "path": "main.txt"}),
            ),
            ("remove a directory", json!({"case": "rmdir", "path": "empty"})),
        ];
        let mut cases: Vec<Case> = acts
            .into_iter()
            .map(|(name, arguments)| attack(ID, name, arguments, reading(), Expected::Denied))
            .collect();
        cases.push(attack(
            ID,
            "reading works",
            open(&["read"]),
            reading(),
            Expected::Says("alpha"),
        ));
        cases
    });
}
