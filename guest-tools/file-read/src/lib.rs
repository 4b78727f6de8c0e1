//! Reading, listing, finding and comparing files, shared by the tools `file_ops` and
//! `file_ops_readonly`.
//!
//! Nothing here writes, and nothing here can: files and directories are reached through [`dir`],
//! which opens for reading only, so that the component of `file_ops_readonly` does not even import
//! the functions that change something.
//!
//! Every answer is bounded: an answer travels into a conversation, and a file or a tree can be of
//! any size. What did not fit is counted, and the answer says how to get at the rest.

mod check;
mod diff;
pub mod dir;
mod find;
mod lines;
mod list;
mod page;
mod place;
mod read;
mod request;
mod sniff;
pub mod walk;

pub use check::{Parameters, required};
pub use diff::{Against, diff};
pub use find::find;
pub use list::list;
pub use page::Page;
pub use place::Place;
pub use read::{ReadOptions, read, read_text};
pub use request::{Operation, Request, run};

/// Most bytes of text in one answer; the host's own cap is 1 MiB, and notices need room too.
pub const MAX_ANSWER: usize = 900 * 1024;
