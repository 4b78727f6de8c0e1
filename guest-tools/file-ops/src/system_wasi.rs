//! Everything that changes something, by `wasi:filesystem`.
//!
//! Not by the standard library, which writes files through streams: a full disk comes back from
//! those as "I/O error". And directories have to be changed by their handles.

use std::io;
use std::path::{Path, PathBuf};

use xzatoma_file_read::dir::{Dir, error, locate};
use xzatoma_tool::bindings::wasi::filesystem::types::{
    Descriptor, DescriptorFlags, OpenFlags, PathFlags, filesystem_error_code,
};
use xzatoma_tool::bindings::wasi::io::streams::StreamError;
use xzatoma_tool::paths;

/// Bytes handed over in one write: large enough that crossing the boundary is cheap.
const WRITE_SIZE: usize = 1024 * 1024;

/// The most that one `blocking-write-and-flush` takes.
const STREAM_WRITE_SIZE: usize = 4096;

/// A file that is written.
#[derive(Debug)]
pub struct Sink {
    descriptor: Descriptor,
    position: u64,
}

impl Sink {
    /// Makes a file where nothing is.
    pub fn create_new(path: &Path) -> io::Result<Self> {
        Sink::open(path, OpenFlags::CREATE | OpenFlags::EXCLUSIVE)
    }

    /// Opens a file to add to it; makes it where it is missing. Links are not followed.
    pub fn open_end(path: &Path) -> io::Result<Self> {
        let mut sink = Sink::open(path, OpenFlags::CREATE)?;
        sink.position = sink.size()?;
        Ok(sink)
    }

    fn open(path: &Path, flags: OpenFlags) -> io::Result<Self> {
        let (root, below) = locate(path)?;
        let descriptor = root
            .open_at(
                PathFlags::empty(),
                &below,
                flags,
                DescriptorFlags::READ | DescriptorFlags::WRITE,
            )
            .map_err(error)?;
        Ok(Sink { descriptor, position: 0 })
    }

    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        for chunk in bytes.chunks(WRITE_SIZE) {
            let mut rest = chunk;
            while !rest.is_empty() {
                let written = self.descriptor.write(rest, self.position).map_err(error)?;
                self.position += written;
                rest = match usize::try_from(written).ok().and_then(|count| rest.get(count..)) {
                    Some(left) if written > 0 => left,
                    _ => return Err(io::ErrorKind::WriteZero.into()),
                };
            }
        }
        Ok(())
    }

    /// Writes at whatever is the end by then.
    pub fn append_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stream = self.descriptor.append_via_stream().map_err(error)?;
        for chunk in bytes.chunks(STREAM_WRITE_SIZE) {
            stream.blocking_write_and_flush(chunk).map_err(|failure| match failure {
                StreamError::Closed => io::ErrorKind::WriteZero.into(),
                StreamError::LastOperationFailed(reason) => filesystem_error_code(&reason)
                    .map_or_else(|| io::Error::other(reason.to_debug_string()), error),
            })?;
        }
        Ok(())
    }

    pub fn size(&self) -> io::Result<u64> {
        self.descriptor.stat().map(|stat| stat.size).map_err(error)
    }

    pub fn set_size(&self, size: u64) -> io::Result<()> {
        self.descriptor.set_size(size).map_err(error)
    }

    pub fn sync(&self) -> io::Result<()> {
        self.descriptor.sync().map_err(error)
    }
}

/// Renames within and across granted directories; an existing file is replaced.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let (old_root, old) = locate(from)?;
    let (new_root, new) = locate(to)?;
    old_root.rename_at(&old, &new_root, &new).map_err(error)
}

pub fn create_dir(path: &Path) -> io::Result<()> {
    let (root, below) = locate(path)?;
    root.create_directory_at(&below).map_err(error)
}

pub fn remove_empty_dir(path: &Path) -> io::Result<()> {
    let (root, below) = locate(path)?;
    root.remove_directory_at(&below).map_err(error)
}

/// Removes a file or a link, never what the link points to.
pub fn remove_file(path: &Path) -> io::Result<()> {
    let (root, below) = locate(path)?;
    root.unlink_file_at(&below).map_err(error)
}

pub fn read_link(path: &Path) -> io::Result<PathBuf> {
    let (root, below) = locate(path)?;
    root.readlink_at(&below).map(PathBuf::from).map_err(error)
}

pub fn make_link(target: &Path, path: &Path) -> io::Result<()> {
    let target = target.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
    let (root, below) = locate(path)?;
    root.symlink_at(target, &below).map_err(error)
}

/// Opens a directory in which names will be changed.
pub fn open_for_changes(path: &Path) -> io::Result<Dir> {
    Dir::open_with(path, DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY)
}

/// Removes a name that is not a directory's. A link is removed, not what it points to.
pub fn unlink_in(directory: &Dir, name: &str) -> io::Result<()> {
    directory.descriptor().unlink_file_at(name).map_err(error)
}

pub fn remove_dir_in(directory: &Dir, name: &str) -> io::Result<()> {
    directory.descriptor().remove_directory_at(name).map_err(error)
}

/// Whether a path is a granted directory itself, which cannot be moved or deleted from inside.
pub fn is_granted_root(path: &Path) -> bool {
    paths::granted().iter().any(|granted| path == Path::new(granted))
}

/// Whether two paths are below different granted directories.
pub fn in_different_grants(a: &Path, b: &Path) -> bool {
    let granted = paths::granted();
    let closest = |path: &Path| {
        granted.iter().filter(|root| path.starts_with(root)).max_by_key(|root| root.len())
    };
    closest(a) != closest(b)
}
