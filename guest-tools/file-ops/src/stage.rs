//! New content beside its place, moved there in one step when it is whole.
//!
//! A rename either happened or did not: whoever reads the file sees the old content or the new
//! one, and a full disk or a passed deadline leaves the old. WASI knows no permission bits, so a
//! new file has the default ones; the host gives it those of the file that it replaces when it is
//! renamed over it, so that a script stays executable.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use xzatoma_tool::log;

use crate::system::{self, Sink};

/// Attempts to find a name that is free; with 64 random bits the first is.
const ATTEMPTS: usize = 8;

/// A file under a temporary name; removed when dropped, unless moved to its place.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    file: Option<Sink>,
}

impl Staged {
    /// Makes an empty file in the same directory as `target`.
    pub fn beside(target: &Path) -> io::Result<Self> {
        let (path, file) = beside(target, Sink::create_new)?;
        Ok(Staged { path, file: Some(file) })
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
    }

    /// Puts it in the place of `target`, on disk before the name is.
    pub fn replace(mut self, target: &Path) -> io::Result<()> {
        if let Some(file) = self.file.take() {
            file.sync()?;
        }
        system::rename(&self.path, target)?;
        self.path = PathBuf::new();
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.path.as_os_str().is_empty() {
            return;
        }
        self.file = None;
        if let Err(error) = system::remove_file(&self.path) {
            log::warn(&format!("left the temporary file {}: {error}", self.path.display()));
        }
    }
}

/// Makes something under a fresh name in the directory of `target`.
pub fn beside<T>(target: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    let directory = target.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut attempt = 1;
    loop {
        // Each RandomState has other keys; the name only has to be free, not secret.
        let random = RandomState::new().build_hasher().finish();
        let path = directory.join(format!(".xzatoma-{random:016x}.tmp"));
        match make(&path) {
            Ok(made) => return Ok((path, made)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use xzatoma_file_read::dir::scratch::Scratch;

    #[test]
    fn all_or_nothing() {
        let scratch = Scratch::new();
        let file = scratch.file("f", "old");
        let mut staged = Staged::beside(&file.path).unwrap();
        staged.write(b"half of the n").unwrap();
        drop(staged);
        assert_eq!(fs::read(&file.path).unwrap(), b"old");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);

        let mut staged = Staged::beside(&file.path).unwrap();
        staged.write(b"new").unwrap();
        staged.replace(&file.path).unwrap();
        assert_eq!(fs::read(&file.path).unwrap(), b"new");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_rename_that_fails_leaves_nothing() {
        let scratch = Scratch::new();
        scratch.file("d/inner", "");
        let directory = scratch.path().join("d");
        let staged = Staged::beside(&directory).unwrap();
        assert!(staged.replace(&directory).is_err());
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }
}
