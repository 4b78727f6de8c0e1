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
