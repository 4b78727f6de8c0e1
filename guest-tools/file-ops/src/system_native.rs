//! The same by the standard library, for tests off WebAssembly.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use xzatoma_file_read::dir::Dir;

#[derive(Debug)]
pub struct Sink(File);

impl Sink {
    pub fn create_new(path: &Path) -> io::Result<Self> {
        OpenOptions::new().write(true).create_new(true).open(path).map(Sink)
    }

    pub fn open_end(path: &Path) -> io::Result<Self> {
        OpenOptions::new().write(true).create(true).truncate(false).open(path).map(Sink)
    }

    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    pub fn append_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.seek(io::SeekFrom::End(0))?;
        self.0.write_all(bytes)
    }

    pub fn size(&self) -> io::Result<u64> {
        self.0.metadata().map(|metadata| metadata.len())
    }

    pub fn set_size(&self, size: u64) -> io::Result<()> {
        self.0.set_len(size)
    }

    pub fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }
}

pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

pub fn create_dir(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

pub fn remove_empty_dir(path: &Path) -> io::Result<()> {
    fs::remove_dir(path)
}

pub fn remove_file(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

pub fn read_link(path: &Path) -> io::Result<PathBuf> {
    fs::read_link(path)
}

pub fn make_link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

pub fn open_for_changes(path: &Path) -> io::Result<Dir> {
    Dir::open(path)
}

pub fn unlink_in(directory: &Dir, name: &str) -> io::Result<()> {
    fs::remove_file(directory.path().join(name))
}

pub fn remove_dir_in(directory: &Dir, name: &str) -> io::Result<()> {
    fs::remove_dir(directory.path().join(name))
}

/// The tests' scratch directories stand for granted ones.
pub fn is_granted_root(path: &Path) -> bool {
    path.parent() == Some(&std::env::temp_dir())
}

pub fn in_different_grants(_a: &Path, _b: &Path) -> bool {
    false
}
