//! `file_ops`, operation by operation.

mod arguments;
mod change;
#[cfg(target_os = "linux")]
mod disk;
mod look;
mod read;
mod refuse;
mod tree;

use super::Caller;
use crate::harness::{World, grant};

/// The tool with a workspace that it may change.
fn writer(world: &World) -> Caller<'_> {
    Caller::new(world, "file_ops", grant::writing())
}
