//! A bounded walk through a granted directory, for protected names and nothing else.
//!
//! It goes by open directories and never follows a link, so a tree that changes under it can
//! make it see less or more but never lead it out. It does not go into what it finds: all of that
//! is covered by its root.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, fstat, openat, statat};
use rustix::io::Errno;

use crate::policy::is_protected_name;

/// Directories visited. A walk of this many takes a second or two; a workspace with more is
/// refused rather than protected in part.
pub(super) const MAX_DIRECTORIES: usize = 200_000;

/// Entries read, for directories that hold a great many files.
pub(super) const MAX_ENTRIES: usize = 4_000_000;

/// Levels; each holds a descriptor open.
pub(super) const MAX_DEPTH: usize = 200;

/// Protected entries. Each becomes a mount and holds a descriptor open.
pub(super) const MAX_FOUND: usize = 1_000;

/// Room for a few hundred entries at a time.
const LISTING_BYTES: usize = 32 * 1024;

/// Why a tree was not seen whole.
#[derive(Debug)]
pub(super) enum Incomplete {
    TooLarge(String),
    /// A directory that the process could open by changing its mode, and we cannot.
    Unreadable(PathBuf),
    Io(PathBuf, io::Error),
}

impl std::fmt::Display for Incomplete {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Incomplete::TooLarge(bound) => {
                write!(f, "the directory has {bound}, too many to look for .git entries in")
            }
            Incomplete::Unreadable(path) => write!(
                f,
                "{} cannot be read, so nobody can tell whether a .git is inside",
                path.display()
            ),
            Incomplete::Io(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

/// Calls `found` for every entry with a protected name: the directory that it is in, that
/// directory's path below the root, and the name.
pub(super) fn walk(
    root: BorrowedFd<'_>,
    mut found: impl FnMut(BorrowedFd<'_>, &Path, &CStr) -> Result<(), Incomplete>,
) -> Result<(), Incomplete> {
    struct Level {
        directory: OwnedFd,
        path: PathBuf,
        /// Subdirectories that are still to be visited.
        pending: Vec<CString>,
    }

    let mut seen = Seen { directories: 0, entries: 0 };
    let mut buffer = vec![MaybeUninit::uninit(); LISTING_BYTES];
    let mut levels: Vec<Level> = Vec::new();
    let mut next =
        open_directory(root, c".", Path::new(""))?.map(|directory| (directory, PathBuf::new()));
    loop {
        if let Some((directory, path)) = next.take() {
            if levels.len() >= MAX_DEPTH {
                return Err(Incomplete::TooLarge(format!("more than {MAX_DEPTH} levels")));
            }
            let pending = list(&directory, &path, &mut buffer, &mut seen, &mut found)?;
            levels.push(Level { directory, path, pending });
        }
        let Some(level) = levels.last_mut() else { return Ok(()) };
        let Some(name) = level.pending.pop() else {
            levels.pop();
            continue;
        };
        let path = level.path.join(OsStr::from_bytes(name.to_bytes()));
        next = open_directory(level.directory.as_fd(), &name, &path)?
            .map(|directory| (directory, path));
    }
}

struct Seen {
    directories: usize,
    entries: usize,
}

/// Reads one directory; answers its subdirectories.
fn list(
    directory: &OwnedFd,
    path: &Path,
    buffer: &mut [MaybeUninit<u8>],
    seen: &mut Seen,
    found: &mut impl FnMut(BorrowedFd<'_>, &Path, &CStr) -> Result<(), Incomplete>,
) -> Result<Vec<CString>, Incomplete> {
    seen.directories += 1;
    if seen.directories > MAX_DIRECTORIES {
        return Err(Incomplete::TooLarge(format!("more than {MAX_DIRECTORIES} directories")));
    }
    let failed = |error: Errno| Incomplete::Io(path.to_owned(), error.into());
    let mut pending = Vec::new();
    let mut protected = Vec::new();
    let mut entries = RawDir::new(directory, buffer);
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        seen.entries += 1;
        if seen.entries > MAX_ENTRIES {
            return Err(Incomplete::TooLarge(format!("more than {MAX_ENTRIES} entries")));
        }
        if is_protected(name) {
            protected.push(name.to_owned());
        } else if is_directory(directory, name, entry.file_type()) {
            pending.push(name.to_owned());
        }
    }
    // Only now: what `found` does must not disturb the listing.
    for name in protected {
        found(directory.as_fd(), path, &name)?;
    }
    Ok(pending)
}

fn is_protected(name: &CStr) -> bool {
    // Every spelling of it is short of what a name may have; most names end here.
    name.to_bytes().iter().any(|byte| matches!(byte, b'g' | b'G'))
        && is_protected_name(&name.to_string_lossy())
}

fn is_directory(parent: &OwnedFd, name: &CStr, kind: FileType) -> bool {
    match kind {
        FileType::Unknown => statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory),
        kind => kind == FileType::Directory,
    }
}

/// Opens a directory for listing; none when it is gone, or closed to the process as well.
fn open_directory(
    parent: BorrowedFd<'_>,
    name: &CStr,
    path: &Path,
) -> Result<Option<OwnedFd>, Incomplete> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(parent, name, flags, Mode::empty()) {
        Ok(directory) => Ok(Some(directory)),
        // Gone or replaced since it was listed.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(Errno::ACCESS) if !owned_by_us(parent, name) => Ok(None),
        Err(Errno::ACCESS) => Err(Incomplete::Unreadable(path.to_owned())),
        Err(error) => Err(Incomplete::Io(path.to_owned(), error.into())),
    }
}

/// Whether the process, which has our user id, could change the mode of the directory.
fn owned_by_us(parent: BorrowedFd<'_>, name: &CStr) -> bool {
    let ours = rustix::process::geteuid().as_raw();
    statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).map_or(true, |stat| stat.st_uid == ours)
}

/// What tells one file from every other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    #[allow(clippy::unnecessary_cast, reason = "the types differ between architectures")]
    pub fn of(stat: &rustix::fs::Stat) -> Identity {
        Identity { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }

    pub fn of_file(fd: impl AsFd) -> io::Result<Identity> {
        Ok(Identity::of(&fstat(fd)?))
    }
}

/// What a protected entry was before the process ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Directory,
    File,
    /// With its text.
    Link(CString),
    /// A socket, a FIFO: nothing that git would use, and nothing that a mount can cover.
    Other,
}

/// A protected entry.
#[derive(Debug)]
pub(super) struct Found {
    /// The directory that it is in, below the root of the walk.
    pub parent: PathBuf,
    pub name: CString,
    pub identity: Identity,
    pub kind: Kind,
    /// Some filesystems give a file another number when nobody has used it for a while. While
    /// this is open, it keeps the one that it has.
    _pin: OwnedFd,
}

impl Found {
    pub fn path(&self) -> PathBuf {
        self.parent.join(OsStr::from_bytes(self.name.to_bytes()))
    }
}

/// Looks at one entry; none when it is gone.
pub(super) fn inspect(
    parent: BorrowedFd<'_>,
    path: &Path,
    name: &CStr,
) -> Result<Option<Found>, Incomplete> {
    let failed = |error: Errno| Incomplete::Io(path.to_owned(), error.into());
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let pin = match openat(parent, name, flags, Mode::empty()) {
        Ok(pin) => pin,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let stat = fstat(&pin).map_err(failed)?;
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Kind::Directory,
        FileType::RegularFile => Kind::File,
        FileType::Symlink => {
            Kind::Link(rustix::fs::readlinkat(&pin, c"", Vec::new()).map_err(failed)?)
        }
        _ => Kind::Other,
    };
    Ok(Some(Found {
        parent: path.to_owned(),
        name: name.to_owned(),
        identity: Identity::of(&stat),
        kind,
        _pin: pin,
    }))
}

/// All protected entries below `root`.
pub(super) fn protected_entries(root: BorrowedFd<'_>) -> Result<Vec<Found>, Incomplete> {
    let mut all = Vec::new();
    walk(root, |parent, path, name| {
        if let Some(one) = inspect(parent, path, name)? {
            all.push(one);
        }
        if all.len() > MAX_FOUND {
            return Err(Incomplete::TooLarge(format!("more than {MAX_FOUND} .git entries")));
        }
        Ok(())
    })?;
    Ok(all)
}
