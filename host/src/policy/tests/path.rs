//! Paths: everything is normal or refused.

use proptest::prelude::*;
use proptest::sample::select;

use super::super::*;
use super::{config, guest};

#[test]
fn paths_become_normal() {
    for (text, path) in [
        (".", "/workspace"),
        ("./", "/workspace"),
        ("a", "/workspace/a"),
        ("a//b/./c/", "/workspace/a/b/c"),
        ("a/../b", "/workspace/b"),
        ("a/..", "/workspace"),
        ("/", "/"),
        ("//", "/"),
        ("/etc//passwd", "/etc/passwd"),
        ("/workspace/../etc", "/etc"),
        ("/a/..", "/"),
        ("a\\..\\b", "/workspace/a\\..\\b"),
        ("...", "/workspace/..."),
        (" ", "/workspace/ "),
        ("~", "/workspace/~"),
    ] {
        assert_eq!(guest(text).as_str(), path, "{text:?}");
    }
}

#[test]
fn what_leads_out_is_refused() {
    for text in [
        "..",
        "../",
        "../workspace",
        "a/../..",
        "../../etc/passwd",
        "a/../../workspace/a",
        "/..",
        "/a/../..",
        "/../workspace",
    ] {
        assert_eq!(GuestPath::parse(text), Err(PathError::Escapes), "{text}");
    }
    assert_eq!(GuestPath::parse(""), Err(PathError::Empty));
    assert_eq!(GuestPath::parse("a\0b"), Err(PathError::Nul));
}

#[test]
fn the_lengths_that_are_allowed() {
    let name = "n".repeat(255);
    assert!(GuestPath::parse(&name).is_ok());
    assert_eq!(GuestPath::parse(&format!("{name}n")), Err(PathError::ComponentTooLong));
    let longest = format!("/{name}").repeat(16);
    assert_eq!(longest.len(), 4096);
    assert_eq!(guest(&longest).as_str(), longest);
    assert_eq!(GuestPath::parse(&format!("{longest}/")), Err(PathError::TooLong));
    assert_eq!(guest(&longest).join("n"), Err(PathError::TooLong));
    let relative = longest.trim_start_matches('/');
    assert_eq!(GuestPath::parse(relative), Err(PathError::TooLong), "with the workspace before it");
}

#[test]
fn joining_takes_one_name() {
    assert_eq!(guest("/").join("a"), Ok(guest("/a")));
    assert_eq!(guest("/a").join(".git"), Ok(guest("/a/.git")));
    for name in ["", ".", "..", "a/b", "/", "/a"] {
        assert_eq!(guest("/a").join(name), Err(PathError::NotAName), "{name:?}");
    }
    assert_eq!(guest("/a").join("\0"), Err(PathError::Nul));
    assert_eq!(guest("/a").join(&"n".repeat(256)), Err(PathError::ComponentTooLong));
}

#[test]
fn containing_goes_by_components() {
    for (root, path, rest) in [
        ("/", "/", Some("")),
        ("/", "/a/b", Some("a/b")),
        ("/a", "/a", Some("")),
        ("/a", "/a/b/c", Some("b/c")),
        ("/a", "/ab", None),
        ("/a", "/a-b/c", None),
        ("/a/b", "/a", None),
        ("/a", "/", None),
    ] {
        assert_eq!(guest(path).strip_prefix(&guest(root)), rest, "{root} {path}");
        assert_eq!(guest(root).contains(&guest(path)), rest.is_some());
    }
}

#[test]
fn a_path_shows_its_protected_name() {
    assert_eq!(guest("a/.GIT/hooks/x").protected_component(), Some(".GIT"));
    assert_eq!(guest("a/.gitignore").protected_component(), None);
    assert_eq!(guest("/").protected_component(), None);
}

/// The plain way to resolve a path; none where it steps out.
fn resolved(text: &str) -> Option<Vec<&str>> {
    let outside = if text.starts_with('/') { 0 } else { 1 };
    let mut names = if outside == 0 { vec![] } else { vec!["workspace"] };
    for name in text.split('/').filter(|name| !name.is_empty() && *name != ".") {
        if name != ".." {
            names.push(name);
        } else if names.len() > outside {
            names.pop();
        } else {
            return None;
        }
    }
    Some(names)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn parsing_is_resolving(pieces in proptest::collection::vec(select(vec!["a", "b", ".", "..", "/", "/", "\\", "é"]), 1..12)) {
        let text = pieces.concat();
        match (GuestPath::parse(&text), resolved(&text)) {
            (Ok(path), Some(names)) => {
                prop_assert_eq!(path.components().collect::<Vec<_>>(), names);
                prop_assert_eq!(GuestPath::parse(path.as_str()), Ok(path.clone()));
                if !text.starts_with('/') {
                    prop_assert!(GuestPath::workspace().contains(&path));
                }
                let above: Vec<GuestPath> = path.ancestors().collect();
                prop_assert_eq!(above.len(), path.components().count());
                prop_assert!(above.iter().all(|dir| dir.contains(&path) && !path.contains(dir)));
            }
            (Err(error), None) => prop_assert_eq!(error, PathError::Escapes),
            (ours, plain) => prop_assert!(false, "{:?}: {:?} and {:?}", text, ours, plain),
        }
    }

    #[test]
    fn containing_is_a_prefix_of_names(a in super::generate::path(), b in super::generate::path()) {
        let names = |path: &GuestPath| path.components().map(str::to_owned).collect::<Vec<_>>();
        prop_assert_eq!(a.contains(&b), names(&b).starts_with(&names(&a)));
    }
}
