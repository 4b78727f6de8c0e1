//! Afterwards: a `.git` that the process made is put out of the way.
//!
//! A mount covers what is there when the process starts, and the place at the root of each
//! granted directory. No mount can cover a name that might appear anywhere below. So when the
//! process tree is gone, a second walk looks for protected entries that are neither the ones from
//! before nor came with a directory that was moved, and renames them. Nothing is deleted: the
//! user may have made one meanwhile, in a terminal of their own, and it must not be lost.

use std::collections::HashSet;
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags, RenameFlags, ResolveFlags, openat2, renameat_with, symlinkat};
use rustix::io::Errno;

use super::walk::{Found, Identity, Incomplete, Kind, inspect, walk};

/// Lines in the report. It is stored and shown; the walk renames every one all the same.
const MAX_DENIALS: usize = 32;

/// Of a path in the report.
const MAX_PATH: usize = 240;

/// Names tried for one entry. They are taken only where an earlier run left one.
const MAX_NAMES: u32 = 1_000;

/// Collects what was undone.
#[derive(Default)]
pub(super) struct Denials {
    lines: Vec<String>,
    more: usize,
}

impl Denials {
    fn add(&mut self, guest: &str, path: &Path, what: &str) {
        if self.lines.len() >= MAX_DENIALS {
            self.more += 1;
            return;
        }
        let path: String = path.to_string_lossy().chars().take(MAX_PATH).collect();
        self.lines.push(format!("{guest}/{path}: {what}"));
    }

    pub fn into_lines(mut self) -> Vec<String> {
        if self.more > 0 {
            self.lines.push(format!("and {} more", self.more));
        }
        self.lines
    }
}

/// Walks one granted directory again. `guest` is its name for the report.
pub(super) fn sweep(root: BorrowedFd<'_>, guest: &str, before: &[Found], denials: &mut Denials) {
    // What a mount covered cannot have been removed, so its inode cannot be another file by now.
    // That does not hold for links: they are known by path and text.
    let covered: HashSet<Identity> = before
        .iter()
        .filter(|found| matches!(found.kind, Kind::Directory | Kind::File))
        .map(|found| found.identity)
        .collect();
    let mut renamed = Denials::default();
    let walked = walk(root, |parent, path, name| {
        let Some(entry) = inspect(parent, path, name)? else { return Ok(()) };
        let known = match &entry.kind {
            Kind::Directory | Kind::File => covered.contains(&entry.identity),
            kind => before.iter().any(|old| {
                old.name == entry.name && old.parent == entry.parent && old.kind == *kind
            }),
        };
        if known {
            return Ok(());
        }
        let away =
            put_away(parent, name).map_err(|error| Incomplete::Io(entry.path(), error.into()))?;
        renamed.add(
            guest,
            &entry.path(),
            &format!("made by the process and not allowed; renamed to {}", away.to_string_lossy()),
        );
        Ok(())
    });
    denials.lines.append(&mut renamed.lines);
    denials.more += renamed.more;
    if let Err(incomplete) = walked {
        denials.add(guest, Path::new(""), &format!("not checked to the end: {incomplete}"));
    }
    for old in before {
        if let Kind::Link(text) = &old.kind {
            restore_link(root, guest, old, text, denials);
        }
    }
}

/// Renames a protected entry to a name that means nothing to git.
fn put_away(parent: BorrowedFd<'_>, name: &CStr) -> Result<CString, Errno> {
    for number in 1..=MAX_NAMES {
        // Not made from the entry's own name, which may be a strange spelling.
        let away = CString::new(format!("git-not-allowed.{number}")).map_err(|_| Errno::INVAL)?;
        match renameat_with(parent, name, parent, &away, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(away),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Errno::EXIST)
}

/// A link cannot be covered by a mount. Where it is gone it is made again.
fn restore_link(
    root: BorrowedFd<'_>,
    guest: &str,
    old: &Found,
    text: &CStr,
    denials: &mut Denials,
) {
    // The empty path is no path.
    let place =
        if old.parent.as_os_str().is_empty() { OsStr::new(".") } else { old.parent.as_os_str() };
    let parent = openat2(
        root,
        Path::new(OsStr::from_bytes(place.as_bytes())),
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
    );
    // The directory was moved or removed, and its link with it.
    let Ok(parent) = parent else { return };
    match symlinkat(text, &parent, &old.name) {
        Err(Errno::EXIST) => {}
        Ok(()) => denials.add(guest, &old.path(), "changed by the process; restored"),
        Err(error) => denials.add(
            guest,
            &old.path(),
            &format!("changed by the process and could not be restored: {error}"),
        ),
    }
}
