//! Native processes, each in a sandbox of the operating system's.
//!
//! WebAssembly does not contain a program that `terminal` starts. What does, on Linux, is made
//! anew for every process and has several layers, so that a mistake in one is not an escape:
//!
//! - Namespaces of its own for users, mounts, processes, network, IPC and host name. Its root is
//!   an empty file system in memory onto which only this is mounted: the system's own directories
//!   read-only, a few files of `/etc`, the granted directories at their guest paths, a new
//!   `/proc`, five devices, a private `/tmp`. There is no network, or one with nothing in it but
//!   the host's checking proxy.
//! - Landlock, with the same rules as the mounts; system calls filtered; no capabilities, no new
//!   privileges, no way to make a file that runs as its owner.
//! - Limits on memory, processes, files and time, over the tree where the kernel has them only
//!   for one process.
//! - No descriptor but the three streams, no controlling terminal, an environment that is given
//!   and not inherited. What it starts ends with it, and it ends with the host.
//!
//! The host has many threads, which forbids most of this in its own children. So it starts its
//! own executable again as a helper with one thread ([`become_helper_if_asked`] must be the first
//! call in `main`); `linux/helper` has the rest of that story.
//!
//! # What is promised about `.git`
//!
//! In a directory that is granted for writing, for as long as the process runs:
//!
//! - What is called `.git` when it starts, directory or file, at any depth, is mounted read-only.
//!   The same for what a `.git` file or link names, when that is in the same directory. It cannot
//!   be removed or replaced, nor moved by itself; a directory above it can be renamed, and it goes
//!   along unchanged.
//! - At the root of the directory none can be made where there was none: an empty placeholder
//!   holds the name and goes afterwards. A host that is killed may leave it; the next process
//!   that ends there takes it along.
//!
//! When the process has ended, by itself or by force, also when the host was killed:
//!
//! - A `.git` that appeared elsewhere is renamed to `git-not-allowed.N` and told. Renamed, not
//!   removed: nobody can tell whether the process made it or the user did meanwhile, and the
//!   user's must not be lost. A link of that name that changed is made again.
//!
//! Not promised: that a new nested `.git` does not exist while the process still runs; what is
//! under another name (a bare repository, a hard link to a file in `.git` that was there before);
//! anything when the helper itself is killed. A directory too large to be searched is refused for
//! writing.
//!
//! # What else is not promised
//!
//! The kernel is shared, and a hole in it is a hole in this. A process can fill the disk through
//! directories that it may write. It can see the names and sizes of the system's files and, in
//! `/proc`, how busy the machine is. A tree can be over its memory limit for the twentieth of a
//! second between two looks. Without confinement ([`Confinement::None`]) there are limits, a
//! clean start and a sure end, and nothing else of this.
//!
//! Sockets by path do not work inside, not even between processes of the sandbox: the kernel
//! cannot tell them from the socket of a key agent or a container daemon in a granted directory.
//!
//! [`Confinement::None`]: crate::policy::Confinement::None

mod host;
mod spec;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
use elsewhere as system;

pub use host::{HasProcess, ProcessCtx, ProcessShared};
pub use spec::{
    Finished, GrantedDir, HelperExe, Kept, LimitedChild, MAX_GRANTED_DIRS, MAX_KEPT_OUTPUT,
    ProcessError, ProcessLimits, ProcessSpec, Program,
};
pub use system::{availability, become_helper_if_asked, resolve_program, run, search_path};
