//! Walks a tree in a fixed order, without recursion and within bounds.
//!
//! The order is that of the names, a directory before what is in it: the same tree gives the same
//! order, so that pages fit together. Links are reported and never followed.

use std::io;
use std::vec;

use crate::dir::{Dir, Entry, Kind, Stat};

/// Entries visited in one walk. Sorting needs the names of a directory in memory, and a call has
/// a deadline.
pub const MAX_VISITED: usize = 200_000;

/// Directories inside each other; each level of the walk keeps one open.
pub const MAX_DEPTH: usize = 128;

/// One entry of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Relative to the root of the walk, with `/` between names.
    pub path: String,
    pub name: String,
    pub kind: Kind,
}

pub struct Walk {
    levels: Vec<Level>,
    recursive: bool,
    max_visited: usize,
    /// A directory that was reported and is entered next.
    pending: Option<Found>,
    visited: usize,
    unreadable: u64,
    too_deep: u64,
    stopped: bool,
}

struct Level {
    dir: Dir,
    entries: vec::IntoIter<Entry>,
    prefix: String,
}

impl Walk {
    pub fn new(root: Dir, recursive: bool) -> io::Result<Self> {
        Walk::bounded(root, recursive, MAX_VISITED)
    }

    fn bounded(root: Dir, recursive: bool, max_visited: usize) -> io::Result<Self> {
        let mut walk = Walk {
            levels: Vec::new(),
            recursive,
            max_visited,
            pending: None,
            visited: 0,
            unreadable: 0,
            too_deep: 0,
            stopped: false,
        };
        walk.enter(root, String::new())?;
        Ok(walk)
    }

    /// The next entry; none at the end, or when a bound was met.
    pub fn step(&mut self) -> Option<Found> {
        if let Some(directory) = self.pending.take() {
            self.descend(&directory);
        }
        loop {
            let level = self.levels.last_mut()?;
            let Some(entry) = level.entries.next() else {
                self.levels.pop();
                continue;
            };
            let path = format!("{}{}", level.prefix, entry.name);
            let found = Found { path, name: entry.name, kind: entry.kind };
            if self.recursive && found.kind == Kind::Directory {
                self.pending = Some(found.clone());
            }
            return Some(found);
        }
    }

    /// The directory that holds the entry that [`Walk::step`] gave last.
    pub fn parent(&self) -> Option<&Dir> {
        self.levels.last().map(|level| &level.dir)
    }

    /// More about the entry that [`Walk::step`] gave last.
    pub fn stat(&self, found: &Found) -> io::Result<Stat> {
        let parent = self.parent().ok_or(io::ErrorKind::NotFound)?;
        parent.stat(&found.name)
    }

    fn descend(&mut self, directory: &Found) {
        if self.levels.len() >= MAX_DEPTH {
            self.too_deep += 1;
            return;
        }
        let Some(level) = self.levels.last() else { return };
        let entered = level
            .dir
            .open_dir(&directory.name)
            .and_then(|dir| self.enter(dir, format!("{}/", directory.path)));
        // It may be forbidden, or gone by now; the others are still worth seeing.
        if entered.is_err() {
            self.unreadable += 1;
        }
    }

    fn enter(&mut self, dir: Dir, prefix: String) -> io::Result<()> {
        let listing = dir.entries(self.max_visited - self.visited)?;
        self.visited += listing.entries.len();
        self.unreadable += listing.unreadable;
        self.stopped |= listing.more;
        self.levels.push(Level { dir, entries: listing.entries.into_iter(), prefix });
        Ok(())
    }

    /// Whether everything was seen.
    pub fn complete(&self) -> bool {
        !self.stopped && self.unreadable == 0 && self.too_deep == 0
    }

    /// What was left out, in words.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.stopped {
            notes.push(format!(
                "stopped after {} entries, there are more; name a directory further down",
                self.max_visited
            ));
        }
        if self.too_deep > 0 {
            notes.push(format!(
                "not entered, because they are more than {MAX_DEPTH} levels down: {} directories",
                self.too_deep
            ));
        }
        if self.unreadable > 0 {
            notes.push(format!("{} entries could not be read", self.unreadable));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dir::scratch::Scratch;

    fn paths(scratch: &Scratch, recursive: bool, max: usize) -> (Vec<String>, Vec<String>) {
        let root = Dir::open(scratch.path()).unwrap();
        let mut walk = Walk::bounded(root, recursive, max).unwrap();
        let mut paths = Vec::new();
        while let Some(found) = walk.step() {
            assert_eq!(walk.stat(&found).unwrap().kind, found.kind);
            paths.push(found.path);
        }
        (paths, walk.notes())
    }

    #[test]
    fn sorted_and_directories_first_entered() {
        let scratch = Scratch::new();
        for name in ["b/2", "b/1/x", "a", "c"] {
            scratch.file(name, "");
        }
        std::os::unix::fs::symlink("b", scratch.path().join("l")).unwrap();
        let all = ["a", "b", "b/1", "b/1/x", "b/2", "c", "l"].map(String::from).to_vec();
        assert_eq!(paths(&scratch, true, 100), (all, vec![]));
        let top = ["a", "b", "c", "l"].map(String::from).to_vec();
        assert_eq!(paths(&scratch, false, 100), (top, vec![]));
    }

    #[test]
    fn bounded_in_entries_and_depth() {
        let scratch = Scratch::new();
        (0..10).for_each(|number| drop(scratch.file(&format!("f{number}"), "")));
        let (seen, notes) = paths(&scratch, true, 4);
        assert_eq!(seen.len(), 4);
        assert!(notes[0].contains("stopped after 4 entries"), "{notes:?}");

        let deep = Scratch::new();
        deep.file(&format!("{}f", "d/".repeat(MAX_DEPTH + 3)), "");
        let (seen, notes) = paths(&deep, true, 10_000);
        assert_eq!(seen.len(), MAX_DEPTH);
        assert!(notes[0].contains("1 directories"), "{notes:?}");
    }
}
