//! The walk itself, in the order of the paths, on a thread of the host.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use ignore::Match;
use ignore::overrides::Override;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

use super::batch::{Added, Batch};
use super::ignores::Ignores;
use super::{Counts, MAX_FILE};
use crate::capability::bindings::scan::Options;
use crate::capability::files::resolve::Located;
use crate::capability::files::{DirectoryHandle, Roots};
use crate::policy::is_protected_name;
use crate::tool::ToolError;

/// Each level keeps a directory open; deeper ones are counted as unreadable.
const MAX_DEPTH: usize = 128;

pub struct Tree {
    start: Start,
    /// The true guest path of the start, for what is hidden.
    place: String,
    /// From the granted directory to the start: ignore files speak of paths from there.
    prefix: String,
    ignores: Ignores,
    overrides: Override,
    options: Rules,
    roots: Arc<Roots>,
}

struct Rules {
    ignore_files: bool,
    hidden: bool,
    max_size: u64,
}

enum Start {
    Directory(OwnedFd),
    File { parent: Arc<OwnedFd>, name: String },
}

/// A directory on the way: what is left of its sorted entries.
struct Frame {
    fd: OwnedFd,
    /// Relative to the start; empty there.
    path: String,
    entries: std::vec::IntoIter<(String, FileType)>,
    ignores: Ignores,
}

impl Tree {
    pub fn open(
        preopen: &DirectoryHandle,
        located: &Located,
        roots: &Arc<Roots>,
        options: &Options,
        overrides: Override,
    ) -> Result<Tree, ToolError> {
        let place = located.place.clone();
        let cannot = |errno: Errno| match errno {
            Errno::NOENT => ToolError::not_found(format!("{place} does not exist")),
            Errno::NOTDIR => ToolError::invalid_input(format!(
                "{place} cannot be: a part of it is a file, not a directory"
            )),
            errno => ToolError::failed(format!("{place} cannot be opened: {errno}")),
        };
        let stat =
            statat(&located.parent, &located.name, AtFlags::SYMLINK_NOFOLLOW).map_err(cannot)?;
        let rules = Rules {
            ignore_files: options.ignore_files,
            hidden: options.hidden,
            max_size: options.max_file_size.min(MAX_FILE),
        };
        let prefix = place[preopen.place.trim_end_matches('/').len()..].trim_start_matches('/');
        let mut ignores = Ignores::default();
        let start = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                if rules.ignore_files {
                    ignores = ignores_above(preopen, prefix).map_err(cannot)?;
                }
                Start::Directory(open_directory(&located.parent, &located.name).map_err(cannot)?)
            }
            FileType::RegularFile => {
                Start::File { parent: Arc::clone(&located.parent), name: located.name.clone() }
            }
            _ => {
                return Err(ToolError::invalid_input(format!(
                    "{place} is neither a regular file nor a directory; name one"
                )));
            }
        };
        let (roots, prefix) = (Arc::clone(roots), prefix.to_owned());
        Ok(Tree { start, place, prefix, ignores, overrides, options: rules, roots })
    }

    pub fn is_directory(&self) -> bool {
        matches!(self.start, Start::Directory(_))
    }

    /// Begins the walk.
    pub fn reader(self) -> Reader {
        Reader { tree: self, stack: None, batch: Batch::new() }
    }

    fn walk(&self, stack: &mut Option<Vec<Frame>>, output: &mut Output<'_>) -> Result<(), Stopped> {
        let stack = match stack {
            Some(stack) => stack,
            None => {
                let stack = stack.insert(Vec::new());
                match &self.start {
                    Start::Directory(fd) => {
                        stack.extend(self.below(fd, ".", String::new(), &self.ignores, output))
                    }
                    Start::File { parent, name } => {
                        output.add(parent, name, name, self.options.max_size)?;
                    }
                }
                stack
            }
        };
        while let Some(frame) = stack.last_mut() {
            // Where nothing is found nothing is sent, and a guest that left would not be noticed.
            if output.batches.is_closed() {
                return Err(Stopped::Ended);
            }
            let Some((name, kind)) = frame.entries.next() else {
                stack.pop();
                continue;
            };
            let path = join(&frame.path, &name);
            let is_directory = kind == FileType::Directory;
            if self.leaves_out(frame, &name, &path, is_directory) {
                continue;
            }
            if !is_directory {
                output.add(&frame.fd, &name, &path, self.options.max_size)?;
                continue;
            }
            match self.below(&frame.fd, &name, path, &frame.ignores, output) {
                Some(below) if stack.len() < MAX_DEPTH => stack.push(below),
                Some(_) => Counts::add(&output.counts.unreadable, 1),
                None => {}
            }
        }
        Ok(())
    }

    /// A directory, opened and listed; one that cannot be is counted.
    fn below(
        &self,
        parent: &OwnedFd,
        name: &str,
        path: String,
        above: &Ignores,
        output: &Output<'_>,
    ) -> Option<Frame> {
        let opened = open_directory(parent, name);
        let listed = opened.and_then(|fd| self.frame(fd, path, above, output.counts));
        listed.inspect_err(|_| Counts::add(&output.counts.unreadable, 1)).ok()
    }

    fn leaves_out(&self, frame: &Frame, name: &str, path: &str, is_directory: bool) -> bool {
        if is_protected_name(name) {
            return true;
        }
        if !self.roots.hidden().is_empty()
            && self.roots.is_hidden(&format!("{}/{path}", self.place.trim_end_matches('/')))
        {
            return true;
        }
        match self.overrides.matched(path, is_directory) {
            Match::Ignore(_) => return true,
            Match::Whitelist(_) if !is_directory => return false,
            _ => {}
        }
        (!self.options.hidden && name.starts_with('.'))
            || (frame.ignores.any()
                && frame.ignores.leaves_out(&join(&self.prefix, path), is_directory))
    }

    fn frame(
        &self,
        fd: OwnedFd,
        path: String,
        above: &Ignores,
        counts: &Counts,
    ) -> Result<Frame, Errno> {
        let ignores = match self.options.ignore_files {
            true => above.enter(&fd, &join(&self.prefix, &path)),
            false => above.clone(),
        };
        let mut entries = Vec::new();
        for entry in Dir::read_from(&fd)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                Counts::add(&counts.unreadable, 1);
                continue;
            };
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let stat = statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
                    FileType::from_raw_mode(stat.st_mode)
                }
                known => known,
            };
            if name != "."
                && name != ".."
                && matches!(kind, FileType::Directory | FileType::RegularFile)
            {
                entries.push((name.to_owned(), kind));
            }
        }
        entries.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Ok(Frame { fd, path, entries: entries.into_iter(), ignores })
    }
}

/// A walk under way. It stops when enough waits for the guest, and can go on later: no thread is
/// held by a guest that does not take what was read for it.
pub struct Reader {
    tree: Tree,
    /// None before the first directory is opened.
    stack: Option<Vec<Frame>>,
    batch: Batch,
}

/// Why a reader stopped.
pub enum Stopped {
    /// Enough waits. This batch comes next.
    Full(Batch),
    /// Everything was read, or the guest has gone: the ordinary end of a search that found enough.
    Ended,
}

impl Reader {
    /// Reads on.
    pub(super) fn read(&mut self, batches: &Sender<Batch>, counts: &Counts) -> Stopped {
        let Reader { tree, stack, batch } = self;
        let mut output = Output { batch, batches, counts };
        let read = tree.walk(stack, &mut output).and_then(|()| output.send());
        read.err().unwrap_or(Stopped::Ended)
    }
}

struct Output<'a> {
    batch: &'a mut Batch,
    batches: &'a Sender<Batch>,
    counts: &'a Counts,
}

impl Output<'_> {
    fn add(&mut self, parent: &OwnedFd, name: &str, path: &str, max: u64) -> Result<(), Stopped> {
        match self.batch.add(parent, name, path, max) {
            Ok(Added::Yes(bytes)) => {
                Counts::add(&self.counts.files, 1);
                Counts::add(&self.counts.bytes, bytes);
            }
            Ok(Added::TooLarge) => Counts::add(&self.counts.too_large, 1),
            Ok(Added::NotAFile) | Err(_) => Counts::add(&self.counts.unreadable, 1),
        }
        match self.batch.is_full() {
            true => self.send(),
            false => Ok(()),
        }
    }

    fn send(&mut self) -> Result<(), Stopped> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let full = std::mem::replace(self.batch, Batch::new());
        self.batches.try_send(full).map_err(|error| match error {
            TrySendError::Full(batch) => Stopped::Full(batch),
            TrySendError::Closed(_) => Stopped::Ended,
        })
    }
}

fn open_directory(parent: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

/// The rules of the directories from the granted one down to where the walk starts.
fn ignores_above(preopen: &DirectoryHandle, start: &str) -> Result<Ignores, Errno> {
    let mut ignores = Ignores::default();
    let mut here = open_directory(&preopen.fd, ".")?;
    let mut path = String::new();
    for name in start.split('/').filter(|name| !name.is_empty()) {
        ignores = ignores.enter(&here, &path);
        here = open_directory(&here, name)?;
        path = join(&path, name);
    }
    Ok(ignores)
}

fn join(path: &str, name: &str) -> String {
    match (path.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (_, true) => path.to_owned(),
        _ => format!("{path}/{name}"),
    }
}
