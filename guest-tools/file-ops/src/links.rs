//! Where a path leads in the end.
//!
//! A file is replaced by renaming another over it. Done to a symbolic link that would replace the
//! link; so links are followed first, and the file that they lead to is replaced.

use std::io;
use std::path::PathBuf;

use xzatoma_file_read::Place;
use xzatoma_file_read::dir::{Kind, Stat, stat_link};
use xzatoma_tool::paths::MAX_PATH;
use xzatoma_tool::{Context, Error, Result};

use crate::system;

/// Links followed, as in Linux; more are taken for a circle.
const MAX_LINKS: usize = 40;

/// A path that is not a link, and what is there, if anything.
#[derive(Debug)]
pub struct Target {
    pub path: PathBuf,
    pub stat: Option<Stat>,
}

/// Follows the links at the end of a path. Whether they stay inside the grant the host decides,
/// with every step.
pub fn follow(place: &Place) -> Result<Target> {
    let mut path = place.path.clone();
    for _ in 0..MAX_LINKS {
        let stat = match stat_link(&path) {
            Ok(stat) => stat,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Target { path, stat: None });
            }
            Err(error) => return Err(error).context(|| format!("looking at {place}")),
        };
        if stat.kind != Kind::Link {
            return Ok(Target { path, stat: Some(stat) });
        }
        let target = system::read_link(&path).context(|| format!("following the link {place}"))?;
        if target.is_absolute() {
            return Err(Error::denied(format!(
                "{place} is a link to an absolute path, which leads out of the granted \
                 directories; write to the file that is meant by its own path"
            )));
        }
        // Joined as it is: `..` behind a linked directory is not what it looks like, and the host
        // resolves it rightly.
        path.pop();
        path.push(target);
        if path.as_os_str().len() > MAX_PATH {
            return Err(Error::invalid_input(format!("the link {place} makes too long a path")));
        }
    }
    Err(Error::failed(format!(
        "{place} is a link that leads through more than {MAX_LINKS} others, or in a circle; \
         delete it or name another file"
    )))
}

/// Follows links to a regular file, or to where one can be made.
pub fn follow_to_file(place: &Place) -> Result<Target> {
    let target = follow(place)?;
    match target.stat.map(|stat| stat.kind) {
        None | Some(Kind::File) => Ok(target),
        Some(Kind::Directory) => {
            Err(Error::invalid_input(format!("{place} is a directory; name a file in it")))
        }
        Some(Kind::Link | Kind::Other) => Err(Error::invalid_input(format!(
            "{place} is not a regular file (a pipe, socket or device); name another file"
        ))),
    }
}

/// Like [`follow_to_file`], and the file can be replaced without cutting it off from other names.
pub fn follow_to_replaceable(place: &Place) -> Result<Target> {
    let target = follow_to_file(place)?;
    match target.stat {
        Some(stat) if stat.links > 1 => Err(Error::failed(format!(
            "{place} has {} names (hard links), and replacing it would leave the others with the \
             old content; copy it to a new path, delete this name, and move the copy here",
            stat.links
        ))),
        _ => Ok(target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use xzatoma_file_read::dir::scratch::Scratch;

    #[test]
    fn chains_circles_and_dangling_ones() {
        let scratch = Scratch::new();
        scratch.file("real/file", "x");
        symlink("real", scratch.path().join("dir")).unwrap();
        symlink("../file2", scratch.path().join("real/up")).unwrap();
        symlink("two", scratch.path().join("one")).unwrap();
        symlink("real/file", scratch.path().join("two")).unwrap();
        symlink("circle", scratch.path().join("circle")).unwrap();
        symlink("/etc/passwd", scratch.path().join("out")).unwrap();

        let target = follow_to_replaceable(&scratch.place("one")).unwrap();
        assert_eq!(target.path, scratch.path().join("real/file"));
        let dangling = follow(&scratch.place("dir/up")).unwrap();
        assert!(dangling.stat.is_none());
        fs::write(&dangling.path, "y").unwrap();
        assert!(scratch.path().join("file2").exists(), "resolved behind the linked directory");
        assert_eq!(follow(&scratch.place("circle")).unwrap_err().case(), "failed");
        assert_eq!(follow(&scratch.place("out")).unwrap_err().case(), "denied");
    }

    #[test]
    fn hard_links_are_kept() {
        let scratch = Scratch::new();
        let file = scratch.file("a", "x");
        fs::hard_link(&file.path, scratch.path().join("b")).unwrap();
        let error = follow_to_replaceable(&file).unwrap_err();
        assert_eq!(error.case(), "failed");
        assert!(error.message().contains("2 names"), "{error}");
        assert!(follow_to_file(&file).is_ok());
    }
}
