//! What a guest holds: an open file or directory, and the directory listing in progress.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{Dir, Mode, OFlags, fstat, openat};
use rustix::io::Errno;

use super::metadata;
use crate::capability::bindings::fs::{DescriptorType, DirectoryEntry};
use crate::policy::Access;

/// An open directory with its true guest path and what may be done below it.
#[derive(Debug, Clone)]
pub struct DirectoryHandle {
    pub fd: Arc<OwnedFd>,
    pub place: String,
    pub access: Access,
}

/// An open regular file.
#[derive(Debug, Clone)]
pub struct FileHandle {
    pub file: Arc<File>,
    pub place: String,
    pub readable: bool,
    pub writable: bool,
    /// Whether its times and size may be changed: where the grant is for writing.
    pub access: Access,
}

#[derive(Debug, Clone)]
pub enum Descriptor {
    File(FileHandle),
    Directory(DirectoryHandle),
}

impl Descriptor {
    pub fn place(&self) -> &str {
        match self {
            Descriptor::File(file) => &file.place,
            Descriptor::Directory(directory) => &directory.place,
        }
    }
}

/// A directory listing, read as the guest asks: a million entries cost nothing up front.
pub struct DirectoryEntries {
    /// A directory stream is not `Sync`; the resource table wants it to be.
    dir: std::sync::Mutex<Dir>,
    handle: DirectoryHandle,
}

impl DirectoryEntries {
    pub fn new(handle: &DirectoryHandle) -> Result<DirectoryEntries, Errno> {
        // A description of its own, so that two listings do not share a position.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = openat(&handle.fd, ".", flags, Mode::empty())?;
        Ok(DirectoryEntries { dir: std::sync::Mutex::new(Dir::new(fd)?), handle: handle.clone() })
    }

    pub fn place_of(&self, name: &str) -> String {
        format!("{}/{name}", self.handle.place.trim_end_matches('/'))
    }

    /// The next entry; `.` and `..` are not entries. A name that is not Unicode, which no guest
    /// can say, is an error, so that nobody takes the listing for the whole; it goes on after it.
    pub fn next_entry(&mut self) -> Result<Option<DirectoryEntry>, Errno> {
        let dir = self.dir.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        for entry in dir.by_ref() {
            let entry = entry?;
            let name = entry.file_name().to_str().map_err(|_| Errno::ILSEQ)?;
            if name == "." || name == ".." {
                continue;
            }
            let type_ = match metadata::descriptor_type(entry.file_type()) {
                DescriptorType::Unknown => {
                    metadata::type_of_name(&self.handle.fd, name).unwrap_or(DescriptorType::Unknown)
                }
                known => known,
            };
            return Ok(Some(DirectoryEntry { type_, name: name.to_owned() }));
        }
        Ok(None)
    }
}

/// What is behind a freshly opened descriptor.
pub enum Opened {
    File(File),
    Directory(OwnedFd),
}

/// Opens one name in one directory, without following and without blocking. Only regular files
/// and directories come out.
pub fn open_name(parent: &OwnedFd, name: &str, flags: OFlags) -> Result<Opened, Errno> {
    let safe = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let fd = openat(parent, name, flags | safe, Mode::from_raw_mode(0o666))?;
    let stat = fstat(&fd)?;
    match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
        rustix::fs::FileType::Directory => Ok(Opened::Directory(fd)),
        rustix::fs::FileType::RegularFile => Ok(Opened::File(File::from(fd))),
        _ => Err(Errno::ACCESS),
    }
}
