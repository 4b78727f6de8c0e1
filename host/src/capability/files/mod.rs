//! Files: `wasi:filesystem` over the granted directories.
//!
//! A guest starts with one descriptor per granted directory and can reach only what lies below.
//! Three checks of ours sit where a path has become one name in one open directory
//! ([`resolve`]), so no spelling, link or rename gets around them:
//!
//! - writing needs a directory granted for writing;
//! - nothing named `.git`, and nothing below such a name, is ever written, created or moved;
//! - xzatoma's own configuration, tokens and store are neither read nor written.
//!
//! Only regular files and directories are opened, without blocking: a FIFO or a device could
//! hold the thread for ever. All calls run on the guest's own thread.

mod change;
mod descriptor;
mod metadata;
mod open;
mod protected;
pub(super) mod resolve;
mod roots;
mod stream;
mod wasi;

use std::sync::Arc;

use rustix::io::Errno;
use wasmtime::component::{HasData, ResourceTable};

pub use descriptor::{Descriptor, DirectoryEntries, DirectoryHandle};
pub use roots::{CannotOpen, Root, Roots};

use super::bindings::fs::ErrorCode;
use super::witness::Witness;
use crate::policy::{Access, Dirs, is_protected_name};
use crate::tool::ToolError;
use resolve::{Blocked, Located};

/// An error code for the guest, or the end of the guest.
#[derive(Debug)]
pub enum FsError {
    Code(ErrorCode),
    Trap(wasmtime::Error),
}

pub type FsResult<T> = Result<T, FsError>;

impl From<ErrorCode> for FsError {
    fn from(code: ErrorCode) -> Self {
        FsError::Code(code)
    }
}

impl From<Errno> for FsError {
    fn from(errno: Errno) -> Self {
        FsError::Code(metadata::error_code(errno))
    }
}

impl From<wasmtime::component::ResourceTableError> for FsError {
    fn from(error: wasmtime::component::ResourceTableError) -> Self {
        FsError::Trap(error.into())
    }
}

/// What one call has of the file system.
pub struct FilesCtx {
    preopens: Vec<DirectoryHandle>,
    roots: Arc<Roots>,
    witness: Witness,
    /// Files, directories and listings that the guest holds open.
    open: u32,
    max_open: u32,
    /// A clone for every walk under way.
    walks: Arc<()>,
}

impl FilesCtx {
    /// Opens the granted directories for one call.
    pub fn new(
        dirs: &Dirs,
        max_open: u32,
        roots: &Arc<Roots>,
        witness: Witness,
    ) -> Result<FilesCtx, ToolError> {
        let mut preopens = Vec::new();
        for grant in dirs.iter() {
            let place = grant.path.as_str().to_owned();
            match roots.open_granted(&grant.path) {
                Ok(fd) => preopens.push(DirectoryHandle { fd, place, access: grant.access }),
                Err(Errno::NOENT) => {
                    return Err(ToolError::not_found(format!(
                        "the granted directory {place} does not exist: create it, or leave it out of the grant"
                    )));
                }
                Err(errno) => {
                    return Err(ToolError::denied(format!(
                        "the granted directory {place} cannot be opened ({errno}); it must be a directory, and no part of it may be a link"
                    )));
                }
            }
        }
        Ok(FilesCtx {
            preopens,
            roots: Arc::clone(roots),
            witness,
            open: 0,
            max_open,
            walks: Arc::default(),
        })
    }

    pub fn preopens(&self) -> &[DirectoryHandle] {
        &self.preopens
    }

    pub fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Held by every walk under way, which counts them.
    pub fn walks(&self) -> &Arc<()> {
        &self.walks
    }

    pub fn roots(&self) -> &Arc<Roots> {
        &self.roots
    }

    /// The granted directory that covers a guest path (the longest), and the path below it.
    pub fn find_preopen<'p>(&self, place: &'p str) -> Option<(&DirectoryHandle, &'p str)> {
        self.preopens
            .iter()
            .filter(|handle| roots::is_at_or_below(place, &handle.place))
            .max_by_key(|handle| handle.place.len())
            .map(|handle| {
                let below =
                    place[handle.place.trim_end_matches('/').len()..].trim_start_matches('/');
                (handle, if below.is_empty() { "." } else { below })
            })
    }

    /// Finds a path below a directory for reading.
    pub fn locate(
        &self,
        dir: &DirectoryHandle,
        path: &str,
        follow_last: bool,
    ) -> FsResult<Located> {
        match resolve::locate(&dir.fd, &dir.place, path, follow_last) {
            Ok(located) if self.roots.is_hidden(&located.place) => {
                Err(self.refuse(&located.place, "xzatoma's own files are closed to tools"))
            }
            Ok(located) => Ok(located),
            Err(Blocked::Escapes) => Err(self.refuse(
                &format!("{}/{}", dir.place, shorten(path)),
                "the path leads outside the granted directory; paths are under /workspace",
            )),
            Err(Blocked::AbsoluteLink) => Err(self.refuse(
                &format!("{}/{}", dir.place, shorten(path)),
                "a link on the way points to an absolute path; only relative links inside the granted directory are followed",
            )),
            Err(Blocked::Os(errno)) => Err(errno.into()),
        }
    }

    /// Finds a path below a directory for changing it: the grant must be for writing and the
    /// place must not be protected.
    pub fn locate_for_change(
        &self,
        dir: &DirectoryHandle,
        path: &str,
        follow_last: bool,
    ) -> FsResult<Located> {
        let located = self.locate(dir, path, follow_last)?;
        self.permit_change(dir.access, &located.place)?;
        Ok(located)
    }

    /// Whether the object at a true place may be changed.
    pub fn permit_change(&self, access: Access, place: &str) -> FsResult<()> {
        if place.split('/').any(is_protected_name) {
            return Err(self.refuse(place, ".git is never written by a tool"));
        }
        if access != Access::Write {
            return Err(self.refuse(
                place,
                "the grant is read-only here; --allow-write DIR allows writing below DIR",
            ));
        }
        Ok(())
    }

    /// Whether a whole object may be moved or deleted.
    pub fn permit_removal(&self, place: &str) -> FsResult<()> {
        match self.roots.holds_hidden(place) {
            true => {
                Err(self.refuse(place, "it holds xzatoma's own files, which are closed to tools"))
            }
            false => Ok(()),
        }
    }

    /// Whether a directory may be moved: a `.git` in it would move along, and whatever names it
    /// from outside would then lead to something else.
    fn permit_move(&self, located: &Located) -> FsResult<()> {
        self.permit_removal(&located.place)?;
        match protected::holds_protected(&located.parent, &located.name) {
            Ok(false) => Ok(()),
            Ok(true) => Err(self.refuse(
                &located.place,
                "there is a .git in it, which would move along; move the other files one by one",
            )),
            Err(protected::TooLarge) => Err(self.refuse(
                &located.place,
                "it is too large or too deep to be searched for a .git; move it in parts",
            )),
        }
    }

    /// Counts one more thing held open. Each costs the host a descriptor.
    fn count_open(&mut self, place: &str) -> FsResult<()> {
        if self.open >= self.max_open {
            let error = ToolError::limit_exceeded(format!(
                "the call holds {} files and directories open, which is its limit; close some first",
                self.open
            ));
            self.witness.refuse(shorten(place), &error);
            return Err(ErrorCode::InsufficientMemory.into());
        }
        self.open += 1;
        Ok(())
    }

    fn count_closed(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    pub fn refuse(&self, place: &str, rule: &str) -> FsError {
        self.witness.refuse(place, &ToolError::denied(format!("{}: {rule}", shorten(place))));
        ErrorCode::NotPermitted.into()
    }
}

/// A hostile path in a message need not be shown whole.
fn shorten(path: &str) -> &str {
    const SHOWN: usize = 256;
    match path.char_indices().nth(SHOWN) {
        Some((end, _)) => &path[..end],
        None => path,
    }
}

/// Borrowed by the generated glue for the time of one host call.
pub struct FilesView<'a> {
    pub ctx: &'a mut FilesCtx,
    pub table: &'a mut ResourceTable,
}

/// Names [`FilesView`] for the linker.
pub struct HasFiles;

impl HasData for HasFiles {
    type Data<'a> = FilesView<'a>;
}
