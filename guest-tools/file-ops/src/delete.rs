//! `delete`: a file, a link, an empty directory, or with `recursive` a whole tree.

use std::io;
use std::path::Path;
use std::vec;

use xzatoma_file_read::Place;
use xzatoma_file_read::dir::{Dir, Entry, Kind, stat_link};
use xzatoma_file_read::walk::{MAX_DEPTH, MAX_VISITED, Walk};
use xzatoma_tool::{Context, Error, Output, Result};

use crate::{stage, system};

pub fn delete(place: &Place, recursive: bool) -> Result {
    let deleting = || format!("deleting {place}");
    if system::is_granted_root(&place.path) {
        return Err(Error::denied(format!(
            "{place} is a granted directory itself and stays; delete what is in it"
        )));
    }
    let stat = stat_link(&place.path).context(deleting)?;
    let deleted = match stat.kind {
        Kind::Directory if recursive => tree(place)?,
        Kind::Directory => match system::remove_empty_dir(&place.path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                return Err(Error::failed(format!(
                    "{place} is a directory that is not empty; set recursive to true to delete it \
                     with everything in it"
                )));
            }
            result => result.map(|()| 1).context(deleting)?,
        },
        Kind::File | Kind::Link | Kind::Other => {
            system::remove_file(&place.path).map(|()| 1).context(deleting)?
        }
    };
    let what = match stat.kind {
        Kind::Directory if deleted > 1 => format!("the directory {place}, {deleted} entries"),
        Kind::Directory => format!("the empty directory {place}"),
        Kind::Link => format!("the link {place}; what it points to is still there"),
        Kind::File | Kind::Other => place.to_string(),
    };
    Ok(Output::text(format!("deleted {what}")).with("deleted", deleted))
}

/// Looks the tree over before anything is deleted: half a tree is worse than either.
fn tree(place: &Place) -> Result<u64> {
    let deleting = || format!("deleting {place}");
    let root = Dir::open(&place.path).context(deleting)?;
    let mut walk = Walk::new(root, true).context(deleting)?;
    while let Some(found) = walk.step() {
        if found.name.eq_ignore_ascii_case(".git") {
            return Err(Error::denied(format!(
                "{place} holds {}, and .git is never written by a tool; nothing was deleted. \
                 Delete what is beside it",
                found.path
            )));
        }
    }
    if !walk.complete() {
        return Err(Error::limit_exceeded(format!(
            "{place} cannot be deleted in one call, and nothing was: {}. Delete its parts first; \
             one call takes {MAX_VISITED} entries and {MAX_DEPTH} levels",
            walk.notes().join("; ")
        )));
    }
    // The host refuses to move what holds something closed to tools, which a walk does not see.
    let aside = match stage::beside(&place.path, |aside| system::rename(&place.path, aside)) {
        Ok((aside, ())) => Some(aside),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(error).context(deleting);
        }
        // Something in it cannot be moved; whether it can be deleted is seen next.
        Err(_) => None,
    };
    let mut deleted = 0;
    remove_tree(aside.as_ref().unwrap_or(&place.path), &mut deleted).map_err(|error| {
        // First, so that the reason is that of this failure.
        let error = Error::from(error);
        let rest = match aside.as_ref().map(|aside| (aside, system::rename(aside, &place.path))) {
            None | Some((_, Ok(()))) => "the rest is there".to_owned(),
            Some((aside, Err(_))) => format!("the rest is in {}", Place::at(aside)),
        };
        error.map_message(|message| {
            format!("{}: stopped after {deleted} entries, {rest}: {message}", deleting())
        })
    })?;
    Ok(deleted)
}

struct Level {
    dir: Dir,
    name: String,
    entries: vec::IntoIter<Entry>,
}

/// Deletes a directory with everything in it, counting in `deleted`.
///
/// Without recursion, since depth is whatever somebody made it. Every directory is opened in the
/// one above by its name and without following links: one that is swapped for a link meanwhile
/// is an error, not a way into another tree.
pub fn remove_tree(path: &Path, deleted: &mut u64) -> io::Result<()> {
    let (Some(above), Some(name)) =
        (path.parent(), path.file_name().and_then(|name| name.to_str()))
    else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let above = system::open_for_changes(above)?;
    let mut levels = vec![enter(&above, name)?];
    while let Some(level) = levels.last_mut() {
        let Some(entry) = level.entries.next() else {
            let Some(done) = levels.pop() else { break };
            let parent = levels.last().map_or(&above, |level| &level.dir);
            drop(done.dir);
            gone(system::remove_dir_in(parent, &done.name), deleted)?;
            continue;
        };
        if entry.kind != Kind::Directory {
            gone(system::unlink_in(&level.dir, &entry.name), deleted)?;
            continue;
        }
        if levels.len() > MAX_DEPTH {
            return Err(io::Error::other("the tree grew deeper meanwhile"));
        }
        if let Some(level) = levels.last() {
            let below = enter(&level.dir, &entry.name)?;
            levels.push(below);
        }
    }
    Ok(())
}

fn enter(parent: &Dir, name: &str) -> io::Result<Level> {
    let dir = parent.open_dir(name)?;
    let entries = dir.entries(MAX_VISITED)?.entries.into_iter();
    Ok(Level { dir, name: name.to_owned(), entries })
}

/// Counts a deletion; what is gone already is no failure.
fn gone(result: io::Result<()>, deleted: &mut u64) -> io::Result<()> {
    match result {
        Ok(()) => *deleted += 1,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use xzatoma_file_read::dir::scratch::Scratch;

    #[test]
    fn files_links_and_empty_directories() {
        let scratch = Scratch::new();
        let file = scratch.file("f", "x");
        std::os::unix::fs::symlink("f", scratch.path().join("l")).unwrap();
        delete(&scratch.place("l"), false).unwrap();
        assert!(file.path.exists());
        delete(&file, false).unwrap();
        assert_eq!(delete(&file, false).unwrap_err().case(), "not-found");
        fs::create_dir(scratch.path().join("d")).unwrap();
        delete(&scratch.place("d"), false).unwrap();
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn trees_only_when_told_and_links_not_followed() {
        let scratch = Scratch::new();
        for name in ["keep/k", "d/a/b/c", "d/x", "d/a/y"] {
            scratch.file(name, "");
        }
        std::os::unix::fs::symlink("../keep", scratch.path().join("d/l")).unwrap();
        let place = scratch.place("d");
        let error = delete(&place, false).unwrap_err();
        assert_eq!(error.case(), "failed");
        assert!(error.message().contains("recursive"), "{error}");
        assert_eq!(delete(&place, true).unwrap().fact("deleted"), Some("7"));
        assert!(!place.path.exists());
        assert!(scratch.path().join("keep/k").exists());
    }

    #[test]
    fn too_deep_is_refused_before_anything_is_deleted() {
        let scratch = Scratch::new();
        let deep = scratch.file(&format!("d/{}f", "s/".repeat(MAX_DEPTH + 2)), "");
        let error = delete(&scratch.place("d"), true).unwrap_err();
        assert_eq!(error.case(), "limit-exceeded");
        assert!(deep.path.exists());
        delete(&scratch.place("d/s/s/s"), true).unwrap();
        delete(&scratch.place("d"), true).unwrap();
    }

    #[test]
    fn a_granted_directory_stays() {
        let scratch = Scratch::new();
        let root = Place { given: ".".into(), path: scratch.path().to_owned() };
        assert_eq!(delete(&root, true).unwrap_err().case(), "denied");
        assert!(scratch.path().is_dir());
    }
}
