//! Files that are only written when their content changes, and directories that go away.
//!
//! Cargo looks at the time of a file that it embeds: writing the same bytes again would build the
//! program again.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process;

use crate::failure::Failure;
use crate::step::note;

pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::io("read", path, &error))
}

/// The content of a file, or nothing if there is none.
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::io("read", path, &error)),
    }
}

pub fn create_directory(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| Failure::io("create", path, &error))
}

/// Answers whether the file had to be written. Whoever reads it meanwhile sees the old or the new
/// content, never a part.
pub fn write_if_changed(path: &Path, content: &[u8]) -> Result<bool, Failure> {
    if read_if_there(path)?.is_some_and(|old| old == content) {
        return Ok(false);
    }
    // A name beside it that no other process uses.
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}.partial", process::id()));
    let partial = PathBuf::from(partial);
    write(&partial, content)?;
    fs::rename(&partial, path).map_err(|error| Failure::io("replace", path, &error))?;
    Ok(true)
}

pub fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    fs::write(path, content).map_err(|error| Failure::io("write", path, &error))
}

pub fn remove(path: &Path) -> Result<(), Failure> {
    fs::remove_file(path).map_err(|error| Failure::io("remove", path, &error))
}

/// The files in a directory, not in those below it.
pub fn files_in(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let wrong = |error| Failure::io("list", directory, &error);
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A new directory of its own, removed with everything in it when this value goes.
pub struct TemporaryDirectory {
    path: PathBuf,
}

impl TemporaryDirectory {
    /// In the system's place for such directories.
    pub fn new(purpose: &str) -> Result<TemporaryDirectory, Failure> {
        TemporaryDirectory::new_in(&std::env::temp_dir(), purpose)
    }

    pub fn new_in(parent: &Path, purpose: &str) -> Result<TemporaryDirectory, Failure> {
        for number in 0.. {
            let path = parent.join(format!("xzatoma-{purpose}-{}-{number}", process::id()));
            // Never one that is there already: it may be somebody else's, or a trap.
            match fs::create_dir(&path) {
                Ok(()) => {
                    let directory = TemporaryDirectory { path };
                    return directory.without_links();
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Failure::io("create", &path, &error)),
            }
        }
        Err(Failure::failed("there is no free name for a temporary directory"))
    }

    /// Links in its path (as /tmp is on macOS) would show up in what a program prints.
    fn without_links(mut self) -> Result<TemporaryDirectory, Failure> {
        let real = fs::canonicalize(&self.path);
        self.path = real.map_err(|error| Failure::io("find", &self.path, &error))?;
        Ok(self)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            note(&format!("{} could not be removed: {error}", self.path.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_the_same_again_does_not_touch_the_file() {
        let directory = TemporaryDirectory::new("files-same").unwrap();
        let file = directory.path().join("a");
        assert!(write_if_changed(&file, b"one").unwrap());
        let before = fs::metadata(&file).unwrap().modified().unwrap();
        assert!(!write_if_changed(&file, b"one").unwrap());
        assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before);
        assert!(write_if_changed(&file, b"two").unwrap());
        assert_eq!(read(&file).unwrap(), b"two");
        assert_eq!(files_in(directory.path()).unwrap(), [file]);
    }

    #[test]
    fn a_temporary_directory_goes_with_its_value() {
        let directory = TemporaryDirectory::new("files-goes").unwrap();
        let path = directory.path().to_owned();
        let another = TemporaryDirectory::new("files-goes").unwrap();
        assert_ne!(another.path(), path);
        fs::write(path.join("x"), "x").unwrap();
        assert!(path.is_dir());
        drop(directory);
        assert!(!path.exists());
    }

    #[test]
    fn what_is_not_there_is_nothing_and_what_cannot_be_read_is_an_error() {
        let directory = TemporaryDirectory::new("files-read").unwrap();
        assert_eq!(read_if_there(&directory.path().join("none")).unwrap(), None);
        assert!(read_if_there(directory.path()).is_err());
    }
}
