//! The host of xzatoma: it runs tools as WebAssembly components, each call in a fresh instance
//! with exactly the authority that the calling agent holds.
//!
//! `docs/explanation/architecture.md` has the map and what may know what.

pub mod capability;
pub mod cli;
pub mod policy;
pub mod receipt;
pub mod sandbox;
pub mod tool;
