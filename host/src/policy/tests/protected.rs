//! Spellings of `.git`.

use proptest::prelude::*;
use proptest::sample::select;

use super::super::*;
use super::config;

#[test]
fn other_spellings_of_git() {
    for name in [
        ".git",
        ".GIT",
        ".Git",
        ".git.",
        ".git...",
        ".git ",
        ".git . .",
        ".g\u{200c}it",
        "\u{feff}.git",
        ".git\u{200d}",
        ".gi\u{ad}t",
        ".git\u{206f}",
        ".git::$INDEX_ALLOCATION",
        ".GIT::$index_allocation",
        ".git:stream",
        ".git ::$DATA",
        "git~1",
        "GIT~1",
        "Git~2",
        "git~10",
        "git~1.",
        "git~1::$INDEX_ALLOCATION",
        "g\u{200b}it~1",
    ] {
        assert!(is_protected_name(name), "{name:?}");
    }
}

#[test]
fn names_that_only_look_like_it() {
    for name in [
        "",
        ".",
        "..",
        "...",
        " ",
        ":",
        "git",
        "GIT",
        ".gi",
        ".gitt",
        ".gitignore",
        ".gitmodules",
        ".github",
        "a.git",
        "..git",
        " .git",
        "_git",
        "git~",
        "git~a",
        "git~1a",
        "git~1~1",
        ".git~1",
        "xgit~1",
        ".git2",
        "g.it",
        ".g it",
        ".hg",
        ".gït",
        "repo.git",
        "\u{200c}",
        ".gi\u{2029}t",
    ] {
        assert!(!is_protected_name(name), "{name:?}");
    }
}

proptest! {
    #![proptest_config(config())]

    /// All tricks at once.
    #[test]
    fn any_mixture(
        upper in any::<[bool; 4]>(),
        hidden in proptest::collection::vec((0_usize..=4, select(vec!['\u{200c}', '\u{202e}', '\u{206a}', '\u{feff}'])), 0..4),
        tail in "[. ]{0,3}",
        stream in select(vec!["", ":", "::$INDEX_ALLOCATION", ":x:$DATA"]),
    ) {
        let mut name: Vec<char> = PROTECTED_NAME
            .chars()
            .zip(upper)
            .map(|(c, upper)| if upper { c.to_ascii_uppercase() } else { c })
            .collect();
        hidden.into_iter().for_each(|(at, c)| name.insert(at, c));
        let name: String = name.into_iter().chain(tail.chars()).chain(stream.chars()).collect();
        prop_assert!(is_protected_name(&name), "{:?}", name);
    }

    #[test]
    fn visible_letters_more_are_another_name(before in "[a-z]{0,3}", after in "[a-z]{0,3}") {
        let name = format!("{before}.git{after}");
        prop_assert_eq!(is_protected_name(&name), before.is_empty() && after.is_empty());
    }
}
