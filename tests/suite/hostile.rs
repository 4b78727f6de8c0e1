//! Hostile components: what they try, and that nothing comes of it.
//!
//! Each group is a table. A row has the id of the threat that it shows
//! (`docs/explanation/threat_model.md` explains them), what is tried, with which grant, and what
//! must come of it. After every row the host must be alive without having panicked, the canary
//! right, memory, descriptors, threads and child processes back where they were, the files outside
//! unread and unchanged, and `.git` and the host's own files untouched; under a grant that only
//! reads, so must the whole workspace.

mod components;
mod isolate;
mod scene;
mod servers;
mod table;
mod tree;
mod vital;

mod answers;
mod files;
mod git;
mod grants;
mod host_memory;
mod malformed;
mod memory;
mod network;
mod processes;
mod read_only;
mod time;
mod together;
