//! Makes the directories above a new file, and takes them away again when the rest fails.

use std::io;
use std::path::{Path, PathBuf};

use xzatoma_file_read::Place;
use xzatoma_file_read::dir::{Kind, stat};
use xzatoma_tool::{Context, Error, Result, log, paths};

use crate::system;

/// Directories that were made; removed again when dropped, unless kept.
#[derive(Debug, Default)]
pub struct Made(Vec<PathBuf>);

impl Made {
    /// Keeps them, and says which ones they are: a sentence for the answer, or nothing.
    pub fn keep(mut self) -> String {
        let made = std::mem::take(&mut self.0);
        match made.last() {
            None => String::new(),
            Some(last) => format!("; made the directory {}", paths::shown(last)),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for path in self.0.iter().rev() {
            if let Err(error) = system::remove_empty_dir(path) {
                log::warn(&format!("left the new directory {}: {error}", path.display()));
            }
        }
    }
}

/// Makes what is missing of the directory that holds `path`.
pub fn above(path: &Path) -> Result<Made> {
    path.parent().map_or_else(|| Ok(Made::default()), make)
}

/// Makes a directory and what is missing above it.
pub fn make(directory: &Path) -> Result<Made> {
    let mut missing = Vec::new();
    let mut current = Some(directory);
    while let Some(path) = current {
        match stat(path) {
            Ok(found) if found.kind == Kind::Directory => break,
            Ok(_) => {
                return Err(Error::invalid_input(format!(
                    "{} is a file where a directory is needed; name another path",
                    Place::at(path)
                )));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(path),
            Err(error) => return Err(error).context(|| format!("looking at {}", Place::at(path))),
        }
        current = path.parent();
    }
    let mut made = Made::default();
    for path in missing.into_iter().rev() {
        match system::create_dir(path) {
            Ok(()) => made.0.push(path.to_owned()),
            // Somebody else made it just now.
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    && stat(path).is_ok_and(|found| found.kind == Kind::Directory) => {}
            Err(error) => {
                return Err(error).context(|| format!("making the directory {}", Place::at(path)));
            }
        }
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xzatoma_file_read::dir::scratch::Scratch;

    #[test]
    fn kept_or_taken_away() {
        let scratch = Scratch::new();
        let file = scratch.path().join("a/b/c.txt");
        drop(above(&file).unwrap());
        assert!(!scratch.path().join("a").exists());
        let made = above(&file).unwrap();
        assert!(made.keep().contains("a/b"));
        assert!(scratch.path().join("a/b").is_dir());
        assert!(above(&file).unwrap().is_empty());
    }

    #[test]
    fn a_file_in_the_way() {
        let scratch = Scratch::new();
        let file = scratch.file("f", "");
        let error = above(&file.path.join("x/y")).unwrap_err();
        assert_eq!(error.case(), "invalid-input");
    }
}
