//! What the outside world offers a guest, one module per thing.
//!
//! A capability holds the part of the grant that it needs, checks every use against it, and tells
//! the [`witness::Witness`]. None of them knows how a call is run.

pub mod bindings;
pub mod files;
pub mod http;
pub mod log;
pub mod process;
pub mod scan;
pub mod sockets;
pub mod witness;
