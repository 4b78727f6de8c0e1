//! `.git`, whose hooks and configuration run as the user: never written, under any grant, by any
//! way. The table compares every such directory after each row.

use serde_json::{Value, json};
use xzatoma::tool::ErrorCase;

use super::scene::writing;
use super::table::{Case, Expected, attack, case, check, run};

fn denied(id: &'static str, name: &'static str, arguments: Value) -> Case {
    attack(id, name, arguments, writing(), Expected::Denied)
}

fn create(path: &str) -> Value {
    json!({"case": "open", "path": path, "how": ["write", "create"]})
}

#[test]
fn git_is_never_written() {
    run("hostile::git::git_is_never_written", || {
        let hook = ".git/hooks/pre-commit";
        let open = |how: &[&str]| json!({"case": "open", "path": hook, "how": how});
        let mut cases = vec![
            attack(
                "T-GIT-01",
                "reading works",
                open(&["read"]),
                writing(),
                Expected::Says("exit 0"),
            ),
            denied("T-GIT-01", "write", open(&["write"])),
            denied("T-GIT-01", "truncate", open(&["truncate"])),
            denied("T-GIT-01", "times", open(&["read", "times"])),
            denied(
                "T-GIT-01",
                "size",
                json!({"case": "open", "path": hook, "how": ["read", "size"], "count": 0}),
            ),
            denied("T-GIT-01", "append", open(&["read", "append"])),
            denied("T-GIT-01", "a new hook", create(".git/hooks/post-commit")),
            denied("T-GIT-01", "a new file", create(".git/new")),
            denied("T-GIT-01", "a new directory", json!({"case": "mkdir", "path": ".git/new"})),
            denied("T-GIT-01", "unlink", json!({"case": "unlink", "path": hook})),
            denied(
                "T-GIT-01",
                "remove a directory",
                json!({"case": "rmdir", "path": ".git/hooks"}),
            ),
            denied(
                "T-GIT-01",
                "times by name",
                json!({"case": "set-times", "path": ".git/config"}),
            ),
            denied(
                "T-GIT-01",
                "times of the directory",
                json!({"case": "set-times", "path": ".git"}),
            ),
            denied(
                "T-GIT-01",
                "a link inside",
                json!({"case": "symlink", "path": ".git/hooks/post-commit", "to": "../../script.sh"}),
            ),
        ];
        cases.extend(by_rename());
        cases.extend(by_another_way());
        cases.extend(by_spelling());
        cases.extend(nested_and_new());
        cases
    });
}

fn by_rename() -> Vec<Case> {
    let rename = |from: &str, to: &str| json!({"case": "rename", "path": from, "to": to});
    vec![
        denied("T-GIT-02", "onto a hook", rename("script.sh", ".git/hooks/pre-commit")),
        denied("T-GIT-02", "to a new hook", rename("script.sh", ".git/hooks/post-commit")),
        denied("T-GIT-02", "a hook away", rename(".git/hooks/pre-commit", "mine")),
        denied("T-GIT-02", "the hooks away", rename(".git/hooks", "mine")),
        denied("T-GIT-02", "all of it away", rename(".git", "mine")),
        denied("T-GIT-02", "all of it away, with a slash", rename(".git/", "mine/")),
        denied("T-GIT-02", "a directory onto it", rename("empty", ".git")),
        denied("T-GIT-02", "a directory into its place elsewhere", rename("src", "empty/.git")),
        denied("T-GIT-02", "through a link", rename("script.sh", "hooks-link/pre-commit")),
        denied("T-GIT-03", "what is above it", rename("nested", "elsewhere")),
        denied("T-GIT-03", "what is far above it", rename("far", "elsewhere")),
        denied("T-GIT-03", "what is above a .git file", rename("module", "elsewhere")),
        denied("T-GIT-03", "what is above it, into an empty directory", rename("nested", "empty")),
        attack(
            "T-GIT-03",
            "a directory without one can be moved",
            rename("src", "elsewhere"),
            writing(),
            Expected::Says("renamed"),
        ),
    ]
}

fn by_another_way() -> Vec<Case> {
    vec![
        denied(
            "T-GIT-04",
            "a hard link to a hook",
            json!({"case": "link", "path": ".git/hooks/pre-commit", "to": "mine"}),
        ),
        denied(
            "T-GIT-04",
            "a hard link as a hook",
            json!({"case": "link", "path": "script.sh", "to": ".git/hooks/post-commit"}),
        ),
        denied(
            "T-GIT-04",
            "a hard link that is there already",
            json!({"case": "open", "path": "hard-config", "how": ["write"]}),
        ),
        denied("T-GIT-05", "through a link to it", create("git-link/hooks/post-commit")),
        denied("T-GIT-05", "through a link to its hooks", create("hooks-link/post-commit")),
        denied("T-GIT-05", "by a detour", create("src/../.git/hooks/post-commit")),
        denied(
            "T-GIT-05",
            "by a detour inside",
            create("src/../git-link/../.git/./hooks//post-commit"),
        ),
        denied(
            "T-GIT-06",
            "from a descriptor of its hooks",
            json!({"case": "open", "below": ".git/hooks", "path": "post-commit", "how": ["write", "create"]}),
        ),
        denied(
            "T-GIT-06",
            "from a descriptor through a link",
            json!({"case": "open", "below": "hooks-link", "path": "post-commit", "how": ["write", "create"]}),
        ),
        denied(
            "T-GIT-06",
            "a directory from a descriptor",
            json!({"case": "mkdir", "below": ".git", "path": "new"}),
        ),
        denied(
            "T-GIT-06",
            "unlink from a descriptor",
            json!({"case": "unlink", "below": ".git/hooks", "path": "pre-commit"}),
        ),
        denied(
            "T-GIT-06",
            "rename from a descriptor",
            json!({"case": "rename", "below": ".git/hooks", "path": "pre-commit", "to": "mine"}),
        ),
        denied(
            "T-GIT-06",
            "times of an open directory",
            json!({"case": "open", "path": ".git", "how": ["directory", "mutate", "times"]}),
        ),
    ]
}

/// Spellings that some file system takes for the same name.
fn by_spelling() -> Vec<Case> {
    let mut cases = Vec::new();
    for name in [
        ".GIT",
        ".Git",
        ".gIt",
        ".git.",
        ".git ",
        ".git...",
        "git~1",
        "GIT~1",
        ".g\u{200c}it",
        ".git\u{200b}",
        "\u{feff}.git",
        ".git::$INDEX_ALLOCATION",
        ".git:stream",
    ] {
        cases.push(denied(
            "T-GIT-07",
            "a directory by another spelling",
            json!({"case": "mkdir", "path": name}),
        ));
        cases.push(denied(
            "T-GIT-07",
            "a file by another spelling",
            create(&format!("src/{name}")),
        ));
        cases.push(denied(
            "T-GIT-07",
            "a rename to another spelling",
            json!({"case": "rename", "path": "src", "to": name}),
        ));
    }
    for name in [".gitignore", ".github", "git", ".gitmodules", "my.git", "x.git.txt"] {
        cases.push(attack(
            "T-GIT-07",
            "an honest name",
            create(name),
            writing(),
            Expected::Says("wrote"),
        ));
    }
    cases
}

fn nested_and_new() -> Vec<Case> {
    vec![
        denied("T-GIT-08", "a nested one", create("nested/.git/hooks/post-commit")),
        denied("T-GIT-08", "one far down", create("far/down/.git/config")),
        denied(
            "T-GIT-08",
            "from a descriptor above",
            json!({"case": "open", "below": "nested", "path": ".git/config", "how": ["write"]}),
        ),
        denied(
            "T-GIT-09",
            "a .git file",
            json!({"case": "open", "path": "module/.git", "how": ["write"]}),
        ),
        denied(
            "T-GIT-09",
            "a .git file, unlinked",
            json!({"case": "unlink", "path": "module/.git"}),
        ),
        denied(
            "T-GIT-09",
            "a .git file, renamed over",
            json!({"case": "rename", "path": "script.sh", "to": "module/.git"}),
        ),
        denied(
            "T-GIT-10",
            "a directory that is not there yet",
            json!({"case": "mkdir", "path": "src/.git"}),
        ),
        denied("T-GIT-10", "a file that is not there yet", create("src/.git")),
        denied(
            "T-GIT-10",
            "a link that is not there yet",
            json!({"case": "symlink", "path": "src/.git", "to": "../empty"}),
        ),
        denied(
            "T-GIT-10",
            "a hard link that is not there yet",
            json!({"case": "link", "path": "notes.txt", "to": "src/.git"}),
        ),
        denied(
            "T-GIT-10",
            "a rename to one that is not there yet",
            json!({"case": "rename", "path": "empty", "to": "src/.git"}),
        ),
        denied(
            "T-GIT-10",
            "from a descriptor",
            json!({"case": "mkdir", "below": "src", "path": ".git"}),
        ),
        case("T-GIT-10", "a walk does not show it", |scene| {
            let report = scene.attack(
                json!({"case": "scan", "path": "/workspace", "to": "refs/heads/main"}),
                &writing(),
            );
            check(&report, &Expected::Says("word found: false"))
        }),
        case("T-GIT-03", "the bottom of a deep directory", |scene| {
            // Deeper than the host looks: it must say no rather than not look.
            scene.world.write(&format!("{}/.git/config", ["deep"; 200].join("/")), "[core]\n");
            let report = scene
                .attack(json!({"case": "rename", "path": "deep", "to": "elsewhere"}), &writing());
            check(&report, &Expected::Fails(&[ErrorCase::Denied, ErrorCase::LimitExceeded]))
        }),
    ]
}
