//! By paths, for tests off WebAssembly.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Entry, Kind, Listing, READ_SIZE, Stat};

/// A directory.
#[derive(Debug)]
pub struct Dir {
    path: PathBuf,
}

impl Dir {
    pub fn open(path: &Path) -> io::Result<Self> {
        if !fs::metadata(path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Dir { path: path.to_owned() })
    }

    pub fn open_dir(&self, name: &str) -> io::Result<Self> {
        if self.stat(name)?.kind != Kind::Directory {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Dir { path: self.path.join(name) })
    }

    pub fn open_file(&self, name: &str) -> io::Result<Source> {
        if self.stat(name)?.kind != Kind::File {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Source::open(&self.path.join(name))
    }

    pub fn entries(&self, max: usize) -> io::Result<Listing> {
        let mut listing = Listing::default();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if listing.entries.len() + listing.unreadable as usize >= max {
                listing.more = true;
                break;
            }
            match entry.file_name().into_string() {
                Ok(name) => {
                    listing.entries.push(Entry { name, kind: kind(entry.file_type()?) });
                }
                Err(_) => listing.unreadable += 1,
            }
        }
        Ok(listing.sorted())
    }

    pub fn stat(&self, name: &str) -> io::Result<Stat> {
        stat_link(&self.path.join(name))
    }

    pub fn read_link(&self, name: &str) -> io::Result<String> {
        let target = fs::read_link(self.path.join(name))?;
        target.into_os_string().into_string().map_err(|_| io::ErrorKind::InvalidFilename.into())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

pub fn stat(path: &Path) -> io::Result<Stat> {
    fs::metadata(path).map(summary)
}

pub fn stat_link(path: &Path) -> io::Result<Stat> {
    fs::symlink_metadata(path).map(summary)
}

/// A file that is read from its start to its end.
#[derive(Debug)]
pub struct Source {
    file: fs::File,
    size: u64,
}

impl Source {
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = fs::File::open(path)?;
        let size = file.metadata()?.len();
        Ok(Source { file, size })
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        (&mut self.file).take(READ_SIZE).read_to_end(&mut bytes)?;
        Ok((!bytes.is_empty()).then_some(bytes))
    }
}

fn kind(kind: fs::FileType) -> Kind {
    if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Directory
    } else if kind.is_symlink() {
        Kind::Link
    } else {
        Kind::Other
    }
}

fn summary(metadata: fs::Metadata) -> Stat {
    Stat { kind: kind(metadata.file_type()), size: metadata.len(), links: metadata.nlink() }
}
