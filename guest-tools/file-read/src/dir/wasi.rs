//! By `wasi:filesystem`.

use std::io;
use std::path::Path;

use xzatoma_tool::bindings::wasi::filesystem::preopens;
use xzatoma_tool::bindings::wasi::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, ErrorCode, OpenFlags, PathFlags,
};

use super::{Entry, Kind, Listing, MIN_READ_SIZE, READ_SIZE, Stat};

/// An open directory.
#[derive(Debug)]
pub struct Dir {
    descriptor: Descriptor,
    flags: DescriptorFlags,
}

impl Dir {
    /// Opens a directory by its path; a link is followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        Dir::open_with(path, DescriptorFlags::READ)
    }

    /// Opens a directory with other rights; those opened below it get the same.
    pub fn open_with(path: &Path, flags: DescriptorFlags) -> io::Result<Self> {
        let (root, below) = locate(path)?;
        let descriptor = root
            .open_at(PathFlags::SYMLINK_FOLLOW, &below, OpenFlags::DIRECTORY, flags)
            .map_err(error)?;
        Ok(Dir { descriptor, flags })
    }

    /// Opens a directory in this one; a link is not followed.
    pub fn open_dir(&self, name: &str) -> io::Result<Self> {
        let descriptor = self
            .descriptor
            .open_at(PathFlags::empty(), name, OpenFlags::DIRECTORY, self.flags)
            .map_err(error)?;
        Ok(Dir { descriptor, flags: self.flags })
    }

    /// Opens a regular file in this directory; a link is not followed.
    pub fn open_file(&self, name: &str) -> io::Result<Source> {
        if self.stat(name)?.kind != Kind::File {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Source::open_at(&self.descriptor, PathFlags::empty(), name)
    }

    /// Up to `max` entries.
    pub fn entries(&self, max: usize) -> io::Result<Listing> {
        let stream = self.descriptor.read_directory().map_err(error)?;
        let mut listing = Listing::default();
        // Names that are not Unicode are errors too; the stream goes on after them.
        while listing.entries.len() + listing.unreadable as usize <= max {
            match stream.read_directory_entry() {
                Ok(None) => return Ok(listing.sorted()),
                Ok(Some(entry)) if listing.entries.len() < max => {
                    listing.entries.push(Entry { name: entry.name, kind: kind(entry.type_) });
                }
                Ok(Some(_)) => break,
                Err(ErrorCode::IllegalByteSequence) => listing.unreadable += 1,
                Err(code) => return Err(error(code)),
            }
        }
        listing.more = true;
        Ok(listing.sorted())
    }

    /// What a name in this directory is; a link is not followed.
    pub fn stat(&self, name: &str) -> io::Result<Stat> {
        self.descriptor.stat_at(PathFlags::empty(), name).map(summary).map_err(error)
    }

    pub fn read_link(&self, name: &str) -> io::Result<String> {
        self.descriptor.readlink_at(name).map_err(error)
    }

    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }
}

/// What a path is; a link is followed.
pub fn stat(path: &Path) -> io::Result<Stat> {
    let (root, below) = locate(path)?;
    root.stat_at(PathFlags::SYMLINK_FOLLOW, &below).map(summary).map_err(error)
}

/// What a path is; a link at its end is not followed.
pub fn stat_link(path: &Path) -> io::Result<Stat> {
    let (root, below) = locate(path)?;
    root.stat_at(PathFlags::empty(), &below).map(summary).map_err(error)
}

/// A file that is read from its start to its end.
#[derive(Debug)]
pub struct Source {
    descriptor: Descriptor,
    size: u64,
    position: u64,
    ended: bool,
}

impl Source {
    /// Opens a file by its path; a link is followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (root, below) = locate(path)?;
        Source::open_at(&root, PathFlags::SYMLINK_FOLLOW, &below)
    }

    fn open_at(directory: &Descriptor, follow: PathFlags, path: &str) -> io::Result<Self> {
        let descriptor = directory
            .open_at(follow, path, OpenFlags::empty(), DescriptorFlags::READ)
            .map_err(error)?;
        let size = descriptor.stat().map_err(error)?.size;
        Ok(Source { descriptor, size, position: 0, ended: false })
    }

    /// Its size when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The next bytes, never empty; none at the end.
    pub fn chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        while !self.ended {
            // The host sets aside what is asked for, so not more than there seems to be.
            let left = self.size.saturating_sub(self.position);
            let (bytes, ended) = self
                .descriptor
                .read(left.clamp(MIN_READ_SIZE, READ_SIZE), self.position)
                .map_err(error)?;
            self.position += bytes.len() as u64;
            self.ended = ended;
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }
}

/// The granted directory that covers a path most closely, and the path below it.
pub fn locate(path: &Path) -> io::Result<(Descriptor, String)> {
    let mut best: Option<(Descriptor, String, usize)> = None;
    for (descriptor, root) in preopens::get_directories() {
        let Ok(below) = path.strip_prefix(&root) else { continue };
        let Some(below) = below.to_str() else {
            return Err(io::Error::new(io::ErrorKind::InvalidFilename, "not Unicode"));
        };
        if best.as_ref().is_none_or(|(_, _, length)| root.len() > *length) {
            let below = if below.is_empty() { "." } else { below };
            best = Some((descriptor, below.to_owned(), root.len()));
        }
    }
    best.map(|(descriptor, below, _)| (descriptor, below)).ok_or_else(|| {
        io::Error::new(io::ErrorKind::PermissionDenied, "no granted directory covers it")
    })
}

fn kind(kind: DescriptorType) -> Kind {
    match kind {
        DescriptorType::RegularFile => Kind::File,
        DescriptorType::Directory => Kind::Directory,
        DescriptorType::SymbolicLink => Kind::Link,
        _ => Kind::Other,
    }
}

fn summary(stat: DescriptorStat) -> Stat {
    Stat { kind: kind(stat.type_), size: stat.size, links: stat.link_count }
}

/// The same as an error of the standard library, so that there is one way to explain errors.
pub fn error(code: ErrorCode) -> io::Error {
    use io::ErrorKind as To;
    let to = match code {
        ErrorCode::Access | ErrorCode::NotPermitted => To::PermissionDenied,
        ErrorCode::ReadOnly => To::ReadOnlyFilesystem,
        ErrorCode::NoEntry => To::NotFound,
        ErrorCode::Exist => To::AlreadyExists,
        ErrorCode::NotEmpty => To::DirectoryNotEmpty,
        ErrorCode::IsDirectory => To::IsADirectory,
        ErrorCode::NotDirectory => To::NotADirectory,
        ErrorCode::Invalid => To::InvalidInput,
        ErrorCode::NameTooLong | ErrorCode::IllegalByteSequence => To::InvalidFilename,
        ErrorCode::InsufficientSpace => To::StorageFull,
        ErrorCode::Quota => To::QuotaExceeded,
        ErrorCode::FileTooLarge => To::FileTooLarge,
        ErrorCode::InsufficientMemory => To::OutOfMemory,
        ErrorCode::CrossDevice => To::CrossesDevices,
        _ => To::Other,
    };
    let message = match code {
        ErrorCode::Loop => "links lead in a circle; name another path",
        other => other.message(),
    };
    io::Error::new(to, message)
}
