//! Files put together until they are worth one crossing of the boundary.

use std::os::fd::OwnedFd;

use rustix::fs::{FileType, Mode, OFlags, fstat, openat};
use rustix::io::Errno;

use crate::capability::bindings::scan;

/// A batch is handed over once it holds this much.
pub const TARGET_BYTES: usize = 1 << 20;
/// Or this many files: many empty files are work for the guest too.
const TARGET_FILES: usize = 4096;

#[derive(Default)]
pub struct Batch {
    files: Vec<scan::File>,
    pub data: Vec<u8>,
}

/// How an attempt to add a file ended.
pub enum Added {
    Yes(u64),
    TooLarge,
    NotAFile,
}

impl Batch {
    pub fn new() -> Batch {
        Batch { files: Vec::new(), data: Vec::with_capacity(TARGET_BYTES + TARGET_BYTES / 4) }
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.data.len() >= TARGET_BYTES || self.files.len() >= TARGET_FILES
    }

    /// Reads one name of one directory to the end, or leaves the batch as it was.
    pub fn add(
        &mut self,
        parent: &OwnedFd,
        name: &str,
        path: &str,
        max_size: u64,
    ) -> Result<Added, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = openat(parent, name, flags, Mode::empty())?;
        let stat = fstat(&fd)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(Added::NotAFile);
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        if size > max_size {
            return Ok(Added::TooLarge);
        }
        let start = self.data.len();
        match self.read(&fd, size, max_size) {
            Ok(Some(bytes)) => {
                // The sum of a batch is at most the target and one file: it fits.
                let end = u32::try_from(self.data.len()).unwrap_or(u32::MAX);
                self.files.push(scan::File { path: path.to_owned(), end });
                Ok(Added::Yes(bytes))
            }
            Ok(None) => {
                self.data.truncate(start);
                Ok(Added::TooLarge)
            }
            Err(errno) => {
                self.data.truncate(start);
                Err(errno)
            }
        }
    }

    /// Appends the file's bytes; none if it grew past the limit meanwhile. Files of `/proc` and
    /// the like say that they are empty, so the end is where reading ends.
    fn read(&mut self, fd: &OwnedFd, size: u64, max_size: u64) -> Result<Option<u64>, Errno> {
        let start = self.data.len();
        self.data.reserve(usize::try_from(size).map_err(|_| Errno::FBIG)?.max(256) + 1);
        loop {
            let wanted = self.data.spare_capacity_mut().len();
            match rustix::io::read(fd, rustix::buffer::spare_capacity(&mut self.data)) {
                Ok(0) => break,
                // A short read of a regular file is its end.
                Ok(read) if read < wanted && self.data.len() - start == size as usize => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
            if (self.data.len() - start) as u64 > max_size {
                return Ok(None);
            }
            if self.data.spare_capacity_mut().is_empty() {
                self.data.reserve(64 << 10);
            }
        }
        let bytes = (self.data.len() - start) as u64;
        Ok((bytes <= max_size).then_some(bytes))
    }

    pub fn into_wit(self) -> scan::Batch {
        scan::Batch { files: self.files, data: self.data }
    }
}
