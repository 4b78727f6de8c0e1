//! Read-only mounts over what must not be written.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};

use super::mount::{Rights, attach, clone_tree, open_below};
use super::walk::{Found, Identity, Kind};
use crate::capability::process::linux::wire::Refusal;

/// A `.git` file holds one line, `gitdir: PATH`.
const MAX_POINTER: usize = 4096;

/// Covers every protected entry below `root`, and where one only points to another place below
/// `root`, that place too. `host` is where `root` is for the user, whose git follows absolute
/// paths.
pub(super) fn protect(root: BorrowedFd<'_>, host: &Path, found: &[Found]) -> Result<(), Refusal> {
    for entry in found {
        match &entry.kind {
            Kind::Directory => cover_entry(root, entry).map(drop)?,
            Kind::File => {
                let file = cover_entry(root, entry)?;
                if let Some(target) = pointer(root, entry, &file) {
                    cover_target(root, entry, target.strip_prefix(host).unwrap_or(&target))?;
                }
            }
            Kind::Link(text) => {
                let text = Path::new(OsStr::from_bytes(text.to_bytes()));
                let path = text.strip_prefix(host).map_or(entry.path(), Path::to_owned);
                cover_target(root, entry, &path)?;
            }
            Kind::Other => {
                return Err(Refusal::Denied(format!(
                    "{} is neither a directory nor a file and cannot be protected; remove it",
                    entry.path().display()
                )));
            }
        }
    }
    Ok(())
}

fn cover_entry(root: BorrowedFd<'_>, entry: &Found) -> Result<OwnedFd, Refusal> {
    let failed = || Refusal::step(format!("protecting {}", entry.path().display()));
    let parent = open_below(root, &entry.parent).map_err(io::Error::from).map_err(failed())?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = openat(&parent, &entry.name, flags, Mode::empty())
        .map_err(io::Error::from)
        .map_err(failed())?;
    if Identity::of_file(&place).map_err(failed())? != entry.identity {
        return Err(Refusal::Failed(format!(
            "{} changed while the sandbox was made; try again",
            entry.path().display()
        )));
    }
    cover(place.as_fd()).map_err(failed())?;
    Ok(place)
}

fn cover(place: BorrowedFd<'_>) -> io::Result<()> {
    attach(clone_tree(place, Rights::ReadOnly)?.as_fd(), place)
}

/// Covers what a path leads to, links and all, if that is below `root`. What is elsewhere is not
/// in the sandbox, or is there read-only.
fn cover_target(root: BorrowedFd<'_>, entry: &Found, path: &Path) -> Result<(), Refusal> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let Ok(target) = openat2(root, path, flags, Mode::empty(), ResolveFlags::BENEATH) else {
        return Ok(());
    };
    let failed = || Refusal::step(format!("protecting what {} leads to", entry.path().display()));
    let stat = fstat(&target).map_err(io::Error::from).map_err(failed())?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if !matches!(kind, FileType::Directory | FileType::RegularFile) {
        return Ok(());
    }
    // A link that leads to a directory around itself would turn all of that read-only.
    for above in entry.parent.ancestors() {
        let above = open_below(root, above).map_err(io::Error::from).map_err(failed())?;
        if Identity::of_file(&above).map_err(failed())? == Identity::of(&stat) {
            return Ok(());
        }
    }
    cover(target.as_fd()).map_err(failed())
}

/// Where a `.git` file says that the repository is, below the root.
fn pointer(root: BorrowedFd<'_>, entry: &Found, file: &OwnedFd) -> Option<PathBuf> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let again = openat2(root, entry.path(), flags, Mode::empty(), resolve).ok()?;
    if Identity::of_file(&again).ok()? != Identity::of_file(file).ok()? {
        return None;
    }
    let mut bytes = [0; MAX_POINTER];
    let length = rustix::io::read(&again, &mut bytes).ok()?;
    let path =
        bytes.get(..length)?.strip_prefix(b"gitdir: ")?.split(|byte| *byte == b'\n').next()?;
    Some(entry.parent.join(OsStr::from_bytes(path)))
}
