//! Files: out of the granted directory, around its rules, and more of them than is good.

use std::fs;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use serde_json::{Value, json};
use xzatoma::policy::Access;
use xzatoma::tool::ErrorCase;

use super::scene::{NO_PROGRAM, Scene, below, reading, writing};
use super::table::{Case, Expected, Verdict, attack, case, check, run};
use crate::harness::grant::{self, Add};

/// Nothing came of it, for a reason of the system's rather than of the grant's.
const NOTHING: &[ErrorCase] =
    &[ErrorCase::Failed, ErrorCase::Denied, ErrorCase::NotFound, ErrorCase::InvalidInput];

/// The ways to open a path that a hostile tool has.
const WAYS: [(&str, &[&str]); 4] = [
    ("read", &["read"]),
    ("write", &["write"]),
    ("create", &["write", "create"]),
    ("create anew", &["write", "create", "exclusive"]),
];

fn open(path: &str, how: &[&str]) -> Value {
    json!({"case": "open", "path": path, "how": how})
}

/// One path, opened in every way under a grant to write.
fn refused_path(cases: &mut Vec<Case>, id: &'static str, path: &str) {
    for (name, how) in WAYS {
        cases.push(attack(id, name, open(path, how), writing(), Expected::Denied));
    }
    let stat = json!({"case": "stat", "path": path});
    cases.push(attack(id, "stat", stat, writing(), Expected::Denied));
}

#[test]
fn paths_that_lead_out() {
    run("hostile::files::paths_that_lead_out", || {
        let mut cases = vec![
            attack(
                "T-FS-01",
                "the same calls work inside",
                open("notes.txt", &["read", "write"]),
                writing(),
                Expected::Says("read \"alpha\\nbeta\\n\", wrote"),
            ),
            attack(
                "T-FS-01",
                "and through a link inside",
                open("dangling", &["write", "create"]),
                writing(),
                Expected::Says("wrote"),
            ),
        ];
        for path in [
            "../outside/secret.txt",
            "src/../../outside/secret.txt",
            "../workspace/../outside/secret.txt",
            "src/../..",
        ] {
            refused_path(&mut cases, "T-FS-01", path);
        }
        for path in ["/etc/passwd", "//etc/passwd", "/workspace/notes.txt", "/proc/self/environ"] {
            refused_path(&mut cases, "T-FS-02", path);
        }
        for (name, path) in [
            ("a NUL", "notes.txt\0"),
            ("a NUL before a way out", "notes.txt\0/../../outside/secret.txt"),
        ] {
            cases.push(attack(
                "T-FS-03",
                name,
                open(path, &["read"]),
                writing(),
                Expected::Fails(NOTHING),
            ));
            cases.push(attack(
                "T-FS-03",
                name,
                open(path, &["write", "create"]),
                writing(),
                Expected::Fails(NOTHING),
            ));
        }
        for count in [256, 4096, 1 << 20] {
            let arguments = json!({"case": "open", "path": "{long}", "count": count, "how": ["write", "create"]});
            cases.push(attack(
                "T-FS-03",
                "a long name",
                arguments,
                writing(),
                Expected::Fails(NOTHING),
            ));
        }
        cases.push(attack(
            "T-FS-03",
            "no name",
            open("", &["read"]),
            writing(),
            Expected::Fails(NOTHING),
        ));
        for path in [
            "absolute-link",
            "absolute-directory/secret.txt",
            "absolute-directory/new.txt",
            "dangling-absolute",
        ] {
            refused_path(&mut cases, "T-FS-04", path);
        }
        for path in ["up-link", "up-directory/secret.txt", "up-directory/new.txt", "dangling-up"] {
            refused_path(&mut cases, "T-FS-05", path);
        }
        for path in
            ["proc-link/environ", "proc-link/root/etc/passwd", "proc-descriptor", "proc-root"]
        {
            refused_path(&mut cases, "T-FS-06", path);
        }
        cases.push(attack(
            "T-FS-07",
            "links in a circle",
            open("loop-one", &["read"]),
            writing(),
            Expected::Fails(NOTHING),
        ));
        cases.push(attack(
            "T-FS-07",
            "a circle, to write",
            open("loop-one/x", &["write", "create"]),
            writing(),
            Expected::Fails(NOTHING),
        ));
        cases.push(attack(
            "T-FS-04",
            "the target of an absolute link",
            json!({"case": "readlink", "path": "absolute-link"}),
            writing(),
            Expected::Denied,
        ));
        cases.extend(own_links());
        cases
    });
}

/// Links that the guest makes itself.
fn own_links() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, target, rest) in [
        ("absolute", "/etc", "/passwd"),
        ("up", "../outside", "/new.txt"),
        ("up by way of a directory", "src/../../outside", "/new.txt"),
        ("to the processes", "/proc/self/cwd", "/new.txt"),
        ("to the protected directory", ".git/hooks", "/post-commit"),
        ("to the protected directory by way of a link", "git-link/hooks", "/post-commit"),
        ("to the host's own files", "own/xzatoma", "/token.txt"),
    ] {
        let arguments = json!({"case": "symlink-then-write", "to": target, "path": rest});
        cases.push(attack("T-FS-08", name, arguments, writing(), Expected::Denied));
    }
    let hard =
        |from: &str, how: &[&str]| json!({"case": "link", "path": from, "to": "copy", "how": how});
    for from in ["../outside/secret.txt", "up-link/../secret.txt", "absolute-directory/secret.txt"]
    {
        cases.push(attack(
            "T-FS-08",
            "a hard link to a file outside",
            hard(from, &[]),
            writing(),
            Expected::Denied,
        ));
    }
    cases.push(attack(
        "T-FS-08",
        "a hard link through a link",
        hard("absolute-link", &["follow"]),
        writing(),
        Expected::Fails(NOTHING),
    ));
    cases
}

#[test]
fn files_that_are_not_what_they_seem() {
    run("hostile::files::files_that_are_not_what_they_seem", || {
        let mut cases = Vec::new();
        // The workspace has a second name for a file outside; reading it is reading the workspace.
        for (name, how) in [
            ("write", &["write"][..]),
            ("truncate", &["truncate"]),
            ("append", &["write", "append"]),
            ("size", &["write", "size"]),
            ("times", &["times"]),
        ] {
            cases.push(attack(
                "T-FS-09",
                name,
                open("hard-link.txt", how),
                writing(),
                Expected::Denied,
            ));
            cases.push(attack(
                "T-FS-09",
                name,
                open("hard-config", how),
                writing(),
                Expected::Denied,
            ));
        }
        for path in ["hard-link.txt", "hard-config"] {
            let times = json!({"case": "set-times", "path": path});
            cases.push(attack("T-FS-09", "times by name", times, writing(), Expected::Denied));
        }
        cases.push(case("T-FS-09", "its mode, by a rename over a program", |scene| {
            // The host carries the mode of what is replaced over to what replaces it.
            let arguments = json!({"case": "rename", "path": "hard-moved.txt", "to": "script.sh"});
            scene.attack(arguments, &writing());
            Ok(())
        }));
        cases.extend([
            case("T-FS-11", "a terabyte that is not there", sparse),
            attack("T-FS-11", "a write far out", json!({"case": "open", "path": "far.bin", "how": ["create", "beyond"], "count": 1_u64 << 50}), writing(), Expected::Fails(NOTHING)),
            attack("T-FS-11", "a write beyond all numbers", json!({"case": "open", "path": "far.bin", "how": ["create", "beyond"], "count": u64::MAX}), writing(), Expected::Fails(NOTHING)),
            case("T-FS-12", "a hundred thousand entries", crowd),
            case("T-FS-13", "two thousand levels", deep),
            case("T-FS-14", "times before the epoch", before_the_epoch),
            attack("T-FS-14", "times after the end", json!({"case": "set-times", "path": "notes.txt", "count": u64::MAX}), writing(), Expected::Fails(NOTHING)),
            case("T-FS-15", "the workspace swapped for a link", swapped_workspace),
            case("T-FS-15", "a granted directory swapped for a link", swapped_directory),
            case("T-FS-16", "out of a granted directory into the workspace", out_of_a_part),
        ]);
        cases.extend(own_files());
        cases
    });
}

fn sparse(scene: &mut Scene) -> Verdict {
    let arguments = json!({"case": "open", "path": "sparse.bin", "how": ["create", "size"], "count": 1_u64 << 40});
    let report = scene.attack(arguments, &writing());
    check(&report, &Expected::Fails(NOTHING))?;
    match fs::metadata(below(scene, "sparse.bin")) {
        Ok(metadata) if metadata.len() > 8 << 30 => Err(format!("it has {} bytes", metadata.len())),
        _ => Ok(()),
    }
}

fn crowd(scene: &mut Scene) -> Verdict {
    const ENTRIES: usize = 100_000;
    let directory = below(scene, "crowd");
    fs::create_dir(&directory).unwrap();
    for number in 0..ENTRIES {
        fs::File::create(directory.join(number.to_string())).unwrap();
    }
    let listed = scene.attack(json!({"case": "list", "path": "crowd"}), &reading());
    let walked = scene.attack(json!({"case": "scan", "path": "/workspace/crowd"}), &reading());
    fs::remove_dir_all(&directory).unwrap();
    check(&listed, &Expected::Says("achieved: 100000 entries"))?;
    check(&walked, &Expected::Says("achieved: 100000 files"))
}

fn deep(scene: &mut Scene) -> Verdict {
    let dug = scene.attack(json!({"case": "dig", "count": 2000}), &writing());
    let walked = scene.attack(json!({"case": "scan", "path": "/workspace/deep"}), &reading());
    // Level by level: a path to the bottom is longer than the system takes.
    let (top, rest) = (below(scene, "deep"), below(scene, "rest"));
    while fs::rename(top.join("deep"), &rest).is_ok() {
        fs::remove_dir(&top).unwrap();
        fs::rename(&rest, &top).unwrap();
    }
    check(&dug, &Expected::Says("2000 levels, no path"))?;
    check(&walked, &Expected::Says("achieved: 0 files"))
}

fn before_the_epoch(scene: &mut Scene) -> Verdict {
    let long_ago = Timespec { tv_sec: -1_000_000, tv_nsec: 0 };
    let times = Timestamps { last_access: long_ago, last_modification: long_ago };
    utimensat(CWD, below(scene, "notes.txt"), &times, AtFlags::empty()).unwrap();
    let report = scene.attack(json!({"case": "stat", "path": "notes.txt"}), &reading());
    check(&report, &Expected::Says("11 bytes"))
}

/// The sandbox holds the directory that was granted, not its name.
fn swapped_workspace(scene: &mut Scene) -> Verdict {
    let (workspace, aside) =
        (scene.world.workspace(), scene.world.workspace().with_file_name("aside"));
    fs::rename(&workspace, &aside).unwrap();
    std::os::unix::fs::symlink(scene.world.outside(), &workspace).unwrap();
    let stolen = scene.attack(open("secret.txt", &["read"]), &writing());
    let planted = scene.attack(open("planted.txt", &["write", "create"]), &writing());
    let walked = scene.attack(
        json!({"case": "scan", "path": "/workspace", "to": "OUTSIDE-SECRET in secret"}),
        &reading(),
    );
    fs::remove_file(&workspace).unwrap();
    fs::rename(&aside, &workspace).unwrap();
    check(&stolen, &Expected::Fails(NOTHING))?;
    check(&planted, &Expected::Says("wrote"))?;
    check(&walked, &Expected::Says("word found: false"))?;
    match below(scene, "planted.txt").exists() {
        true => Ok(()),
        false => Err("the file went elsewhere".to_owned()),
    }
}

fn swapped_directory(scene: &mut Scene) -> Verdict {
    let source = below(scene, "src");
    fs::rename(&source, below(scene, "aside")).unwrap();
    std::os::unix::fs::symlink("../outside", &source).unwrap();
    let part = grant::nothing().program(NO_PROGRAM).dir("/workspace/src", Access::Write);
    let report = scene.attack(json!({"case": "directories"}), &part);
    check(&report, &Expected::Fails(&[ErrorCase::Denied]))
}

/// A grant of one directory below the workspace is none of the rest.
fn out_of_a_part(scene: &mut Scene) -> Verdict {
    let part = grant::nothing().program(NO_PROGRAM).dir("/workspace/src", Access::Write);
    let report = scene.attack(json!({"case": "scan", "path": "/workspace"}), &part);
    check(&report, &Expected::Denied)?;
    let report = scene.attack(json!({"case": "scan", "path": "/workspace/notes.txt"}), &part);
    check(&report, &Expected::Denied)?;
    let report =
        scene.attack(json!({"case": "scan", "path": "/workspace/src/../notes.txt"}), &part);
    check(&report, &Expected::Denied)?;
    // A raw descriptor of the part, and a way up from it.
    let up =
        json!({"case": "open", "path": "../notes.txt", "how": ["read"], "base": "/workspace/src"});
    check(&scene.attack(up, &part), &Expected::Denied)
}

/// The host's own configuration and tokens, in a directory that is granted for writing.
fn own_files() -> Vec<Case> {
    let id = "T-FS-17";
    let token = "own/xzatoma/token.txt";
    let acts = [
        ("read", open(token, &["read"])),
        ("read through a link", open("own-link/token.txt", &["read"])),
        (
            "read from a descriptor above",
            json!({"case": "open", "below": "own", "path": "xzatoma/token.txt", "how": ["read"]}),
        ),
        ("write", open(token, &["write"])),
        ("create", open("own/xzatoma/new.txt", &["write", "create"])),
        ("stat", json!({"case": "stat", "path": token})),
        ("list", json!({"case": "list", "path": "own/xzatoma"})),
        ("walk", json!({"case": "scan", "path": "/workspace/own/xzatoma"})),
        ("move it away", json!({"case": "rename", "path": "own/xzatoma", "to": "mine"})),
        ("move what is above it", json!({"case": "rename", "path": "own", "to": "mine"})),
        (
            "put something in its place",
            json!({"case": "rename", "path": "src", "to": "own/xzatoma"}),
        ),
        ("a second name", json!({"case": "link", "path": token, "to": "mine.txt"})),
        ("unlink", json!({"case": "unlink", "path": token})),
        ("times", json!({"case": "set-times", "path": token})),
    ];
    let mut cases: Vec<Case> = acts
        .into_iter()
        .map(|(name, arguments)| attack(id, name, arguments, writing(), Expected::Denied))
        .collect();
    cases.push(attack(
        id,
        "by the listing above",
        json!({"case": "list", "path": "own"}),
        reading(),
        Expected::Says("achieved: 1 entries: else.txt"),
    ));
    cases.push(attack(
        id,
        "by a walk over everything",
        json!({"case": "scan", "path": "/workspace", "to": "OWN-SECRET"}),
        reading(),
        Expected::Says("word found: false"),
    ));
    cases
}
