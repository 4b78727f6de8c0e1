//! What a directory looks like, in enough detail to tell whether anybody touched it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use sha2::{Digest, Sha256};

/// One entry: everything about it that only a change would change.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    kind: &'static str,
    mode: u32,
    size: u64,
    modified: (i64, i64),
    /// Of a file's bytes, or of where a link points.
    digest: Option<[u8; 32]>,
}

/// Entries by path, of a directory and all that is below.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree(BTreeMap<PathBuf, Entry>);

impl Tree {
    /// A path that does not exist is an empty tree.
    pub fn of(path: &Path) -> Tree {
        let mut tree = Tree::default();
        tree.add(path);
        tree
    }

    pub fn of_all(paths: &[PathBuf]) -> Tree {
        let mut tree = Tree::default();
        paths.iter().for_each(|path| tree.add(path));
        tree
    }

    fn add(&mut self, path: &Path) {
        let Ok(metadata) = fs::symlink_metadata(path) else { return };
        let kind = metadata.file_type();
        let (name, digest) = if kind.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                self.add(&entry.unwrap().path());
            }
            ("directory", None)
        } else if kind.is_symlink() {
            let target = fs::read_link(path).unwrap();
            ("link", Some(Sha256::digest(target.as_os_str().as_bytes()).into()))
        } else if kind.is_file() {
            ("file", Some(Sha256::digest(fs::read(path).unwrap()).into()))
        } else {
            ("special", None)
        };
        let entry = Entry {
            kind: name,
            mode: metadata.permissions().mode(),
            size: if kind.is_dir() { 0 } else { metadata.len() },
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            digest,
        };
        self.0.insert(path.to_owned(), entry);
    }

    /// The first thing that differs, in words.
    pub fn difference(&self, now: &Tree) -> Option<String> {
        for (path, before) in &self.0 {
            match now.0.get(path) {
                None => return Some(format!("{} is gone", path.display())),
                Some(after) if after != before => {
                    return Some(format!("{}: {before:?} became {after:?}", path.display()));
                }
                Some(_) => {}
            }
        }
        let new = now.0.keys().find(|path| !self.0.contains_key(*path));
        new.map(|path| format!("{} is new", path.display()))
    }
}

/// Files outside the grant, which must be neither changed nor read.
pub struct Outside {
    directory: PathBuf,
    tree: Tree,
    /// Whether this file system tells when a file was read.
    tells_reading: bool,
}

/// A time of last access so long ago that every reading is noted, also where the system saves
/// itself most such notes.
const LONG_AGO: i64 = 1_000_000_000;

impl Outside {
    /// Fills an empty directory with things worth stealing.
    pub fn fill(directory: &Path) -> Outside {
        fs::create_dir(directory.join("below")).unwrap();
        for (name, mode) in [
            ("secret.txt", 0o600),
            ("linked.txt", 0o640),
            ("moved.txt", 0o600),
            ("tool.sh", 0o755),
            ("below/deep.txt", 0o644),
        ] {
            let path = directory.join(name);
            fs::write(&path, format!("OUTSIDE-SECRET in {name}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let mut outside = Outside {
            directory: directory.to_owned(),
            tree: Tree::default(),
            tells_reading: false,
        };
        outside.age();
        fs::read(directory.join("secret.txt")).unwrap();
        outside.tells_reading = outside.read_file().is_some();
        outside.tree = Tree::of(directory);
        outside.age();
        outside
    }

    /// What somebody did here since the last look.
    pub fn difference(&self) -> Option<String> {
        // Before our own look, which is a reading too.
        let read = self.read_file().filter(|_| self.tells_reading);
        let changed = self.tree.difference(&Tree::of(&self.directory));
        self.age();
        changed.or_else(|| read.map(|path| format!("{} was read", path.display())))
    }

    /// Those that have no second name in the workspace, where reading them is allowed.
    fn secrets(&self) -> Vec<PathBuf> {
        ["secret.txt", "tool.sh", "below/deep.txt"].map(|name| self.directory.join(name)).to_vec()
    }

    /// From now on, whoever reads is seen.
    pub fn age(&self) {
        let times = Timestamps {
            last_access: Timespec { tv_sec: LONG_AGO, tv_nsec: 0 },
            last_modification: Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
        };
        for path in self.secrets() {
            // A file that is gone is told by the comparison.
            let _ = utimensat(CWD, &path, &times, AtFlags::SYMLINK_NOFOLLOW);
        }
    }

    fn read_file(&self) -> Option<PathBuf> {
        let was_read = |path: &PathBuf| {
            fs::symlink_metadata(path).is_ok_and(|metadata| metadata.atime() != LONG_AGO)
        };
        self.secrets().into_iter().find(was_read)
    }
}
