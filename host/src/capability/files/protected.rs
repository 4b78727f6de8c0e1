//! Looks for a `.git` below a directory that is about to be moved.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use crate::policy::is_protected_name;

/// Looking must not take longer than a move is worth.
const MAX_ENTRIES: usize = 200_000;
/// Each level keeps a directory open.
const MAX_DEPTH: usize = 64;

/// There is more than can be looked at.
#[derive(Debug)]
pub struct TooLarge;

/// Whether the object is a directory that holds something protected, at any depth. What cannot
/// be read counts as too large: it cannot be vouched for.
pub fn holds_protected(parent: &OwnedFd, name: &str) -> Result<bool, TooLarge> {
    let kind = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => FileType::from_raw_mode(stat.st_mode),
        // Then there is nothing to move either; the move itself will say so.
        Err(Errno::NOENT) => return Ok(false),
        Err(_) => return Err(TooLarge),
    };
    if kind != FileType::Directory {
        return Ok(false);
    }
    let mut seen = 0;
    let mut stack = vec![open(parent, name)?];
    while let Some((fd, entries)) = stack.last_mut() {
        let Some(entry) = entries.next() else {
            stack.pop();
            continue;
        };
        let entry = entry.map_err(|_| TooLarge)?;
        seen += 1;
        if seen > MAX_ENTRIES {
            return Err(TooLarge);
        }
        let name = entry.file_name();
        if name.to_str().is_ok_and(is_protected_name) {
            return Ok(true);
        }
        let bytes = name.to_bytes();
        if bytes == b"." || bytes == b".." || !may_be_directory(entry.file_type()) {
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&*fd, name, flags, Mode::empty()) {
            Ok(below) if stack.len() < MAX_DEPTH => {
                let entries = Dir::read_from(&below).map_err(|_| TooLarge)?;
                stack.push((below, entries));
            }
            // Not a directory after all.
            Err(Errno::NOTDIR | Errno::LOOP) => {}
            _ => return Err(TooLarge),
        }
    }
    Ok(false)
}

fn open(parent: &OwnedFd, name: &str) -> Result<(OwnedFd, Dir), TooLarge> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = openat(parent, name, flags, Mode::empty()).map_err(|_| TooLarge)?;
    let entries = Dir::read_from(&fd).map_err(|_| TooLarge)?;
    Ok((fd, entries))
}

fn may_be_directory(kind: FileType) -> bool {
    matches!(kind, FileType::Directory | FileType::Unknown)
}
