//! From a path to an object, one name at a time, never through a link that we did not read.
//!
//! The kernel could resolve a path for us, but would not tell us where it ended up, and the
//! protected paths are about where. So links are read and expanded here, every step is opened
//! without following, and what comes out is the directory that holds the object, the object's
//! name, and its true place: a guest path without links. Whatever is done then is done to one
//! name in one open directory, so nothing can be swapped in between.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;

/// As many as Linux follows.
const MAX_LINKS: usize = 40;
/// A path that a guest gives, and what it may grow to while links are expanded.
const MAX_PATH: usize = 4096;

/// How a directory on the way is opened: to pass through it only.
#[cfg(target_os = "linux")]
const STEP: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const STEP: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// One name in one open directory.
#[derive(Debug)]
pub struct Located {
    pub parent: Arc<OwnedFd>,
    /// `.` when the path is the starting directory itself or ends in `..`.
    pub name: String,
    /// The true guest path, without links.
    pub place: String,
    /// The path ended in a slash.
    pub must_be_directory: bool,
}

/// Why a path leads nowhere.
#[derive(Debug, PartialEq, Eq)]
pub enum Blocked {
    /// It leaves the directory that it starts from.
    Escapes,
    /// A link on the way points to an absolute path.
    AbsoluteLink,
    Os(Errno),
}

impl From<Errno> for Blocked {
    fn from(errno: Errno) -> Self {
        Blocked::Os(errno)
    }
}

/// Finds `path`, starting from the open directory `base` whose true guest path is `base_place`.
pub fn locate(
    base: &Arc<OwnedFd>,
    base_place: &str,
    path: &str,
    follow_last: bool,
) -> Result<Located, Blocked> {
    if path.starts_with('/') {
        return Err(Blocked::Escapes);
    }
    if path.is_empty() {
        return Err(Errno::NOENT.into());
    }
    if path.len() > MAX_PATH {
        return Err(Errno::NAMETOOLONG.into());
    }
    if path.contains('\0') {
        return Err(Errno::INVAL.into());
    }
    let mut walk = Walk { base, names: Vec::new(), here: Arc::clone(base), links: 0 };
    // The names still to go, last first.
    let mut pending: Vec<String> = path.rsplit('/').map(str::to_owned).collect();
    let must_be_directory = path.ends_with('/');
    let mut last = None;
    while let Some(name) = pending.pop() {
        match name.as_str() {
            "" | "." => {}
            ".." => walk.up()?,
            _ if pending.iter().all(|rest| rest.is_empty() || rest == ".") => {
                if (follow_last || must_be_directory)
                    && let Some(target) = walk.read_link(&name)?
                {
                    push_link(&mut pending, &target)?;
                    continue;
                }
                last = Some(name);
                break;
            }
            _ => {
                if let Some(target) = walk.down(&name)? {
                    push_link(&mut pending, &target)?;
                }
            }
        }
    }
    let mut place = base_place.trim_end_matches('/').to_owned();
    for name in walk.names.iter().chain(&last) {
        place.push('/');
        place.push_str(name);
    }
    if place.is_empty() {
        place.push('/');
    }
    let name = last.unwrap_or_else(|| ".".to_owned());
    Ok(Located { parent: walk.here, name, place, must_be_directory })
}

/// Opens a directory below `base` by names, none of which may be a link.
pub fn open_directory(base: BorrowedFd<'_>, names: &[&str]) -> Result<OwnedFd, Errno> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let beneath =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(base, names.join("/"), STEP, Mode::empty(), beneath) {
            // Old kernels and filters that do not know the call: step by step below.
            Err(Errno::NOSYS | Errno::PERM) => {}
            answer => return answer,
        }
    }
    let mut here = openat(base, ".", STEP, Mode::empty())?;
    for name in names {
        here = openat(&here, *name, STEP, Mode::empty())?;
    }
    Ok(here)
}

fn push_link(pending: &mut Vec<String>, target: &str) -> Result<(), Blocked> {
    if target.starts_with('/') {
        return Err(Blocked::AbsoluteLink);
    }
    pending.extend(target.rsplit('/').map(str::to_owned));
    if pending.iter().map(|name| name.len() + 1).sum::<usize>() > MAX_PATH {
        return Err(Errno::NAMETOOLONG.into());
    }
    Ok(())
}

struct Walk<'a> {
    base: &'a Arc<OwnedFd>,
    /// From the base to here, none of them a link.
    names: Vec<String>,
    here: Arc<OwnedFd>,
    links: usize,
}

impl Walk<'_> {
    /// Back to the parent: walked again from the base, because `..` of a directory that was
    /// moved meanwhile is somewhere else.
    fn up(&mut self) -> Result<(), Blocked> {
        if self.names.pop().is_none() {
            return Err(Blocked::Escapes);
        }
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        self.here = match names.is_empty() {
            true => Arc::clone(self.base),
            false => Arc::new(open_directory(self.base.as_fd(), &names)?),
        };
        Ok(())
    }

    /// Into a directory; or the target, if the name is a link.
    fn down(&mut self, name: &str) -> Result<Option<String>, Blocked> {
        match openat(&self.here, name, STEP, Mode::empty()) {
            Ok(directory) => {
                self.here = Arc::new(directory);
                self.names.push(name.to_owned());
                Ok(None)
            }
            Err(Errno::LOOP | Errno::NOTDIR) => match self.read_link(name)? {
                Some(target) => Ok(Some(target)),
                None => Err(Errno::NOTDIR.into()),
            },
            Err(errno) => Err(errno.into()),
        }
    }

    /// The target of a link; none if the name is something else or does not exist.
    fn read_link(&mut self, name: &str) -> Result<Option<String>, Blocked> {
        let target = match readlinkat(&self.here, name, Vec::new()) {
            Ok(target) => target,
            Err(Errno::INVAL | Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Errno::LOOP.into());
        }
        // A target that is not Unicode cannot be named by a guest either.
        target.into_string().map(Some).map_err(|_| Errno::ILSEQ.into())
    }
}
