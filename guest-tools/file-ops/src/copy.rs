//! `copy`: a file, or with `recursive` a directory. The target appears whole or not at all.

use std::io;
use std::path::Path;

use xzatoma_file_read::Place;
use xzatoma_file_read::dir::{Dir, Kind, Source, Stat, stat, stat_link};
use xzatoma_file_read::walk::{Found, Walk};
use xzatoma_tool::{Context, Error, Output, Result, log};

use crate::delete::remove_tree;
use crate::parents;
use crate::stage::{self, Staged};
use crate::system::{self, Sink};

/// What was copied.
#[derive(Debug, Default)]
pub struct Copied {
    pub files: u64,
    pub bytes: u64,
    /// Links that lead out of the grant, pipes, sockets and devices.
    pub left_out: u64,
}

pub fn copy(from: &Place, to: &Place, recursive: bool) -> Result {
    let found = stat(&from.path).context(|| format!("copying {from}"))?;
    if found.kind == Kind::Directory && !recursive {
        return Err(Error::invalid_input(format!(
            "{from} is a directory; set recursive to true to copy it with everything in it"
        )));
    }
    check_target(from, found, to)?;
    let made = parents::above(&to.path)?;
    let copied = duplicate(from, found.kind, to)?;
    let also = made.keep();
    let what = match found.kind {
        Kind::Directory => format!("{} files, {} bytes", copied.files, copied.bytes),
        _ => format!("{} bytes", copied.bytes),
    };
    let left_out = match copied.left_out {
        0 => String::new(),
        number => format!("; left out {number} links out of the grant or special files"),
    };
    Ok(Output::text(format!("copied {from} to {to}: {what}{left_out}{also}"))
        .with("files", copied.files)
        .with("bytes", copied.bytes)
        .with("left_out", copied.left_out))
}

/// Fails where the target exists, or is inside the directory that is to be there.
pub fn check_target(from: &Place, found: Stat, to: &Place) -> Result<()> {
    if from.path == to.path {
        return Err(Error::invalid_input(format!("{from} and {to} are the same")));
    }
    if found.kind == Kind::Directory && to.path.starts_with(&from.path) {
        return Err(Error::invalid_input(format!(
            "{to} is inside {from}; a directory cannot go into itself"
        )));
    }
    match stat_link(&to.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).context(|| format!("looking at {to}")),
        Ok(there) if there.kind == Kind::Directory => Err(Error::invalid_input(format!(
            "{to} exists and is a directory; give the whole new path, such as {}/{}",
            to.given.trim_end_matches('/'),
            from.path.file_name().unwrap_or_default().to_string_lossy()
        ))),
        Ok(_) => Err(Error::invalid_input(format!(
            "{to} exists; delete it first, or choose another path2"
        ))),
    }
}

/// Copies to a target that does not exist, in a directory that does.
pub fn duplicate(from: &Place, kind: Kind, to: &Place) -> Result<Copied> {
    match kind {
        Kind::File => {
            let bytes =
                copy_file(&from.path, &to.path).context(|| format!("copying {from} to {to}"))?;
            Ok(Copied { files: 1, bytes, left_out: 0 })
        }
        Kind::Directory => copy_tree(from, to),
        Kind::Link => {
            let target =
                system::read_link(&from.path).context(|| format!("copying the link {from}"))?;
            system::make_link(&target, &to.path).context(|| format!("making the link {to}"))?;
            Ok(Copied::default())
        }
        Kind::Other => Err(Error::invalid_input(format!(
            "{from} is not a regular file (a pipe, socket or device); it cannot be copied"
        ))),
    }
}

fn copy_file(from: &Path, to: &Path) -> io::Result<u64> {
    let mut source = Source::open(from)?;
    let mut staged = Staged::beside(to)?;
    let mut bytes = 0;
    while let Some(chunk) = source.chunk()? {
        staged.write(&chunk)?;
        bytes += chunk.len() as u64;
    }
    staged.replace(to)?;
    Ok(bytes)
}

fn copy_tree(from: &Place, to: &Place) -> Result<Copied> {
    let copying = || format!("copying {from} to {to}");
    // Everything is listed before anything is made: what is made may be inside, behind a link.
    let entries = survey(from)?;
    let (staging, ()) = stage::beside(&to.path, system::create_dir).context(copying)?;
    let copied = fill(&from.path, &staging, &entries)
        .and_then(|copied| system::rename(&staging, &to.path).map(|()| copied));
    match copied {
        Ok(copied) => Ok(copied),
        Err(error) => {
            // First, so that the reason is that of this failure.
            let error = Error::from(error);
            let left = match remove_tree(&staging, &mut 0) {
                Ok(()) => "nothing was copied".to_owned(),
                Err(leftover) => {
                    log::warn(&format!("left {}: {leftover}", staging.display()));
                    format!("a part is left in {}, delete it", Place::at(&staging))
                }
            };
            Err(error.map_message(|message| format!("{}: {message}; {left}", copying())))
        }
    }
}

fn survey(from: &Place) -> Result<Vec<Found>> {
    let copying = || format!("copying {from}");
    let root = Dir::open(&from.path).context(copying)?;
    let mut walk = Walk::new(root, true).context(copying)?;
    let entries = std::iter::from_fn(|| walk.step()).collect();
    if walk.complete() {
        return Ok(entries);
    }
    Err(Error::limit_exceeded(format!(
        "{from} cannot be copied in one call, and nothing was: {}. Copy its parts one by one",
        walk.notes().join("; ")
    )))
}

/// Copies the entries of a tree into an empty directory.
fn fill(from: &Path, into: &Path, entries: &[Found]) -> io::Result<Copied> {
    let mut copied = Copied::default();
    for entry in entries {
        let (source, target) = (from.join(&entry.path), into.join(&entry.path));
        match entry.kind {
            Kind::Directory => system::create_dir(&target)?,
            Kind::File => {
                copied.bytes += fill_file(&source, &target)?;
                copied.files += 1;
            }
            Kind::Link => match system::read_link(&source) {
                Ok(link) if link.is_relative() => system::make_link(&link, &target)?,
                _ => copied.left_out += 1,
            },
            Kind::Other => copied.left_out += 1,
        }
    }
    Ok(copied)
}

/// A file of a tree: the tree as a whole is staged, so the file need not be.
fn fill_file(from: &Path, to: &Path) -> io::Result<u64> {
    if stat_link(from)?.kind != Kind::File {
        return Err(io::Error::other("a file was replaced by something else meanwhile"));
    }
    let mut source = Source::open(from)?;
    let mut file = Sink::create_new(to)?;
    let mut bytes = 0;
    while let Some(chunk) = source.chunk()? {
        file.write_all(&chunk)?;
        bytes += chunk.len() as u64;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use xzatoma_file_read::dir::scratch::Scratch;

    #[test]
    fn one_file() {
        let scratch = Scratch::new();
        let from = scratch.file("a", "text");
        let to = scratch.place("new/b");
        assert_eq!(copy(&from, &to, false).unwrap().fact("bytes"), Some("4"));
        assert_eq!(fs::read(&to.path).unwrap(), b"text");
        let error = copy(&from, &to, false).unwrap_err();
        assert_eq!(error.case(), "invalid-input");
        assert!(error.message().contains("delete it first"), "{error}");
        let error = copy(&from, &scratch.place("new"), false).unwrap_err();
        assert!(error.message().contains("new/a"), "{error}");
        assert_eq!(copy(&from, &from, false).unwrap_err().case(), "invalid-input");
        assert_eq!(copy(&scratch.place("x"), &to, false).unwrap_err().case(), "not-found");
    }

    #[test]
    fn a_tree_with_links() {
        let scratch = Scratch::new();
        scratch.file("d/a/f", "1");
        scratch.file("d/g", "22");
        std::os::unix::fs::symlink("a/f", scratch.path().join("d/l")).unwrap();
        std::os::unix::fs::symlink("/etc", scratch.path().join("d/out")).unwrap();
        let (from, to) = (scratch.place("d"), scratch.place("e"));
        assert_eq!(copy(&from, &to, false).unwrap_err().case(), "invalid-input");
        let output = copy(&from, &to, true).unwrap();
        assert_eq!(output.fact("files"), Some("2"));
        assert_eq!(output.fact("left_out"), Some("1"));
        assert_eq!(fs::read(to.path.join("l")).unwrap(), b"1");
        assert_eq!(fs::read_link(to.path.join("l")).unwrap(), Path::new("a/f"));
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 2);
    }

    #[test]
    fn not_into_itself() {
        let scratch = Scratch::new();
        scratch.file("d/f", "1");
        let (from, inside) = (scratch.place("d"), scratch.place("d/sub/e"));
        assert_eq!(copy(&from, &inside, true).unwrap_err().case(), "invalid-input");
        // Behind a link it is not seen beforehand, and still ends.
        std::os::unix::fs::symlink("d", scratch.path().join("alias")).unwrap();
        copy(&from, &scratch.place("alias/e"), true).unwrap();
        assert_eq!(fs::read_dir(scratch.path().join("d/e")).unwrap().count(), 1);
    }

    #[test]
    fn a_failure_leaves_nothing() {
        let scratch = Scratch::new();
        scratch.file("d/f", "1");
        let long = scratch.place(&format!("new/{}", "n".repeat(300)));
        assert!(copy(&scratch.place("d"), &long, true).is_err());
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }
}
