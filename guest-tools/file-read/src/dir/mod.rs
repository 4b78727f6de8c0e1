//! Directories and files by handle, for reading.
//!
//! A walk by paths looks every name up from the top again, and follows whatever link somebody put
//! in the middle meanwhile. A [`Dir`] is the directory itself: what is opened below it is opened
//! by its own name, and links are never followed on the way. The standard library has no such
//! handles for WASI, so this uses `wasi:filesystem` directly; reading files that way also saves
//! copying every byte once more.
//!
//! Off WebAssembly the same functions work on paths, which is good enough for tests.

#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(not(target_arch = "wasm32"))]
use native as system;
#[cfg(not(target_arch = "wasm32"))]
#[doc(hidden)]
pub mod scratch;
#[cfg(target_arch = "wasm32")]
mod wasi;
#[cfg(target_arch = "wasm32")]
use wasi as system;

pub use system::{Dir, Source, stat, stat_link};
#[cfg(target_arch = "wasm32")]
pub use system::{error, locate};

/// Most bytes asked for in one read; the host may give fewer.
const READ_SIZE: u64 = 1024 * 1024;

/// Least bytes asked for: a file may have grown, or not know its size.
#[cfg(target_arch = "wasm32")]
const MIN_READ_SIZE: u64 = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Directory,
    Link,
    /// Pipes, sockets, devices.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    pub kind: Kind,
    pub size: u64,
    /// Names that the object has.
    pub links: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub kind: Kind,
}

/// The entries of a directory, sorted by name.
#[derive(Debug, Default)]
pub struct Listing {
    pub entries: Vec<Entry>,
    /// Entries that could not be read, such as names that are not Unicode.
    pub unreadable: u64,
    /// There are more than were asked for.
    pub more: bool,
}

impl Listing {
    fn sorted(mut self) -> Self {
        self.entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        self
    }
}
