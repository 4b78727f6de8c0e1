//! Where a path that must stay hidden turns up inside a tree that is given to the process.

use std::path::{Path, PathBuf};

use crate::capability::process::linux::wire::Refusal;

/// The path with every link resolved, as far as it exists.
pub(super) fn real_path(path: &Path) -> PathBuf {
    for known in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (known.canonicalize(), path.strip_prefix(known)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_owned()
}

/// The hidden paths below `tree`, relative to it. A tree that is itself hidden is refused.
pub(super) fn hidden_below(tree: &Path, hidden: &[PathBuf]) -> Result<Vec<PathBuf>, Refusal> {
    let mut below = Vec::new();
    for path in hidden.iter().map(|path| real_path(path)) {
        if tree.starts_with(&path) {
            return Err(Refusal::Denied(format!(
                "{} belongs to xzatoma itself and cannot be given to a process; \
                 choose another directory",
                tree.display()
            )));
        }
        if let Ok(rest) = path.strip_prefix(tree) {
            below.push(rest.to_owned());
        }
    }
    Ok(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(tree: &str, hidden: &[&str]) -> Result<Vec<PathBuf>, Refusal> {
        let hidden: Vec<PathBuf> = hidden.iter().map(PathBuf::from).collect();
        hidden_below(Path::new(tree), &hidden)
    }

    #[test]
    fn what_is_below_is_found_and_neighbours_are_not() {
        let found = below("/no/home", &["/no/home/.x/db", "/no/home2/.x", "/elsewhere"]).unwrap();
        assert_eq!(found, [Path::new(".x/db")]);
    }

    #[test]
    fn a_tree_inside_what_is_hidden_is_refused() {
        for tree in ["/no/home", "/no/home/sub"] {
            assert!(matches!(below(tree, &["/no/home"]), Err(Refusal::Denied(_))), "{tree}");
        }
    }

    #[test]
    fn links_are_resolved_as_far_as_a_path_exists() {
        let place = std::env::temp_dir().join(format!("hidden-{}", std::process::id()));
        std::fs::create_dir_all(place.join("real")).unwrap();
        let place = place.canonicalize().unwrap();
        std::os::unix::fs::symlink("real", place.join("link")).unwrap();
        let resolved = real_path(&place.join("link/not/yet"));
        std::fs::remove_dir_all(&place).unwrap();
        assert_eq!(resolved, place.join("real/not/yet"));
    }
}
