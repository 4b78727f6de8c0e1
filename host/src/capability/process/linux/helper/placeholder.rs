//! Holding a name that is not there yet.
//!
//! A mount needs something to be mounted on. Where the root of a writable grant has no `.git`, an
//! empty directory takes the place while the process runs, and goes when it ends. Several
//! processes may need the same one: each holds a shared lock on it, and only who can make the
//! lock exclusive removes it. A host that dies leaves at worst an empty directory; it is known by
//! its unusual mode, and the next process that ends here removes it.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, ResolveFlags, flock, fstat, mkdirat, openat,
    openat2, statat, unlinkat,
};
use rustix::io::Errno;

use super::walk::{Found, Identity, Incomplete, inspect};

/// Nobody may write, and the sticky bit: no tool makes a directory like this by itself.
const MODE: u32 = 0o1555;

/// Others may remove it between two steps of ours; each such race is lost to one who is done.
const MAX_TRIES: usize = 100;

/// A name that is held, until [`Placeholder::release`].
pub(super) struct Placeholder {
    parent: OwnedFd,
    /// Of the parent, below the root.
    path: PathBuf,
    name: String,
    /// Holds the lock.
    directory: OwnedFd,
}

impl Placeholder {
    /// Makes sure that there is something called `path` below `root`. None when there is a real
    /// entry, or where the process could not make one either.
    pub fn hold(root: BorrowedFd<'_>, path: &Path) -> Result<Option<Placeholder>, Errno> {
        let mut parent =
            openat(root, c".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let mut parent_path = PathBuf::new();
        let mut names = path.iter().peekable();
        while let Some(name) = names.next() {
            if names.peek().is_none() {
                return hold_name(parent, parent_path, name);
            }
            match open_child(parent.as_fd(), name) {
                Ok(child) => parent = child,
                // With the first missing part held, nothing below can be made.
                Err(Errno::NOENT) => return hold_name(parent, parent_path, name),
                Err(Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => return Ok(None),
                Err(error) => return Err(error),
            }
            parent_path.push(name);
        }
        Ok(None)
    }

    /// As an entry to be covered: its owner could change its mode.
    pub fn as_found(&self) -> Result<Option<Found>, Incomplete> {
        let name = CString::new(self.name.as_str())
            .map_err(|error| Incomplete::Io(self.path.clone(), error.into()))?;
        inspect(self.parent.as_fd(), &self.path, &name)
    }

    /// Removes it, unless another process needs it or somebody has put it to use.
    pub fn release(self) {
        if flock(&self.directory, FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        if is_at(self.parent.as_fd(), &self.name, &self.directory) {
            // Not empty, or gone: in both cases it is no longer ours.
            let _ = unlinkat(&self.parent, self.name.as_str(), AtFlags::REMOVEDIR);
        }
    }
}

fn open_child(parent: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    openat2(
        parent,
        name,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
    )
}

fn hold_name(parent: OwnedFd, path: PathBuf, name: &OsStr) -> Result<Option<Placeholder>, Errno> {
    let Some(name) = name.to_str() else { return Err(Errno::ILSEQ) };
    for _ in 0..MAX_TRIES {
        match mkdirat(&parent, name, Mode::from_raw_mode(MODE)) {
            Ok(()) | Err(Errno::EXIST) => {}
            // The process has our user id: what we cannot make, it cannot.
            Err(Errno::ACCESS | Errno::ROFS | Errno::PERM) => return Ok(None),
            Err(error) => return Err(error),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = match openat(&parent, name, flags, Mode::empty()) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => continue,
            // A file, a link, or closed to us: a real entry.
            Err(Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => return Ok(None),
            Err(error) => return Err(error),
        };
        if !is_placeholder(&directory)? {
            return Ok(None);
        }
        flock(&directory, FlockOperation::LockShared)?;
        if is_at(parent.as_fd(), name, &directory) {
            return Ok(Some(Placeholder { parent, path, name: name.to_owned(), directory }));
        }
    }
    Err(Errno::AGAIN)
}

fn is_placeholder(directory: &OwnedFd) -> Result<bool, Errno> {
    // One that is not empty is not removed either: the kernel sees to that.
    Ok(fstat(directory)?.st_mode & 0o7777 == MODE)
}

fn is_at(parent: BorrowedFd<'_>, name: &str, directory: &OwnedFd) -> bool {
    let Ok(there) = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) else { return false };
    let Ok(ours) = fstat(directory) else { return false };
    FileType::from_raw_mode(there.st_mode) == FileType::Directory
        && Identity::of(&there) == Identity::of(&ours)
}
