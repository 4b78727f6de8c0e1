//! `move`: a rename where that is possible, else a copy and a deletion.

use std::io;

use xzatoma_file_read::Place;
use xzatoma_file_read::dir::{Kind, stat_link};
use xzatoma_tool::{Context, Error, Output, Result};

use crate::copy::{check_target, duplicate};
use crate::delete::remove_tree;
use crate::{parents, system};

/// Moves a file, a link or a directory to a path where nothing is.
pub fn relocate(from: &Place, to: &Place) -> Result {
    if system::is_granted_root(&from.path) {
        return Err(Error::denied(format!(
            "{from} is a granted directory itself and stays; move what is in it"
        )));
    }
    let found = stat_link(&from.path).context(|| format!("moving {from}"))?;
    check_target(from, found, to)?;
    let made = parents::above(&to.path)?;
    let how = match system::rename(&from.path, &to.path) {
        Ok(()) => "",
        Err(error) if must_copy(&error, from, to) => {
            copy_and_delete(from, found.kind, to)?;
            ", by copying, since they are on different disks or grants"
        }
        Err(error) => return Err(error).context(|| format!("moving {from} to {to}")),
    };
    Ok(Output::text(format!("moved {from} to {to}{how}{}", made.keep()))
        .with("copied", !how.is_empty()))
}

/// Whether a rename failed only because it cannot reach that far. Where the host refuses the
/// target or the source themselves, copying and deleting is refused as well.
fn must_copy(error: &io::Error, from: &Place, to: &Place) -> bool {
    match error.kind() {
        // Some hosts know no better name for the first than the second.
        io::ErrorKind::CrossesDevices | io::ErrorKind::Other => true,
        io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => {
            system::in_different_grants(&from.path, &to.path)
        }
        _ => false,
    }
}

fn copy_and_delete(from: &Place, kind: Kind, to: &Place) -> Result<()> {
    let copied = duplicate(from, kind, to)?;
    let mut deleted = 0;
    if copied.left_out > 0 {
        remove(&to.path, kind, &mut deleted).context(|| format!("taking back the copy {to}"))?;
        return Err(Error::failed(format!(
            "{from} holds {} links out of the grant or special files, which cannot be moved to \
             {to}; nothing was moved. Copy it, and delete the original by hand",
            copied.left_out
        )));
    }
    let Err(error) = remove(&from.path, kind, &mut deleted) else { return Ok(()) };
    let error = Error::from(error);
    if deleted > 0 {
        return Err(error.map_message(|message| {
            format!("moved to {to}, but a part of {from} could not be deleted: {message}")
        }));
    }
    // The original is whole: take the copy back, so that nothing happened.
    let left = match remove(&to.path, kind, &mut deleted) {
        Ok(()) => "nothing was moved".to_owned(),
        Err(_) => format!("the copy {to} is left, delete it"),
    };
    Err(error.map_message(|message| {
        format!("moving {from} to {to}: the original cannot be deleted: {message}; {left}")
    }))
}

fn remove(path: &std::path::Path, kind: Kind, deleted: &mut u64) -> io::Result<()> {
    match kind {
        Kind::Directory => remove_tree(path, deleted),
        _ => system::remove_file(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;
    use xzatoma_file_read::dir::scratch::Scratch;

    #[test]
    fn renames() {
        let scratch = Scratch::new();
        let from = scratch.file("a", "x");
        let to = scratch.place("new/b");
        relocate(&from, &to).unwrap();
        assert!(!from.path.exists());
        assert_eq!(fs::read(&to.path).unwrap(), b"x");
        assert_eq!(relocate(&from, &to).unwrap_err().case(), "not-found");
        let other = scratch.file("c", "y");
        assert_eq!(relocate(&other, &to).unwrap_err().case(), "invalid-input");
        assert_eq!(fs::read(&to.path).unwrap(), b"x");
        let new = scratch.place("new");
        assert_eq!(relocate(&new, &scratch.place("new/in")).unwrap_err().case(), "invalid-input");
    }

    #[test]
    fn a_link_moves_as_a_link() {
        let scratch = Scratch::new();
        scratch.file("a", "x");
        std::os::unix::fs::symlink("a", scratch.path().join("l")).unwrap();
        relocate(&scratch.place("l"), &scratch.place("m")).unwrap();
        assert_eq!(fs::read_link(scratch.path().join("m")).unwrap(), Path::new("a"));
        assert!(scratch.path().join("a").exists());
    }

    #[test]
    fn the_fallback_moves_trees_and_links() {
        let scratch = Scratch::new();
        scratch.file("d/a/f", "1");
        std::os::unix::fs::symlink("a/f", scratch.path().join("d/l")).unwrap();
        let (from, to) = (scratch.place("d"), scratch.place("e"));
        copy_and_delete(&from, Kind::Directory, &to).unwrap();
        assert!(!from.path.exists());
        assert_eq!(fs::read(to.path.join("l")).unwrap(), b"1");
        copy_and_delete(&scratch.place("e/l"), Kind::Link, &scratch.place("e/m")).unwrap();
        assert_eq!(fs::read_link(to.path.join("m")).unwrap(), Path::new("a/f"));
    }

    #[test]
    fn what_cannot_be_copied_whole_is_not_moved() {
        let scratch = Scratch::new();
        scratch.file("d/f", "1");
        std::os::unix::fs::symlink("/etc", scratch.path().join("d/out")).unwrap();
        let error =
            copy_and_delete(&scratch.place("d"), Kind::Directory, &scratch.place("e")).unwrap_err();
        assert_eq!(error.case(), "failed");
        assert!(scratch.path().join("d/f").exists());
        assert!(!scratch.path().join("e").exists());
    }
}
