//! Native processes in the operating system's sandbox, from the outside and from within.
//!
//! Most programs here are `sh` and coreutils. Where a system call has to be made, the test
//! executable itself is the program: it starts in the sandbox as the ignored test `probe`, which
//! does what the variable `PROBE` names and prints what came of it.

mod basics;
mod confinement;
mod endings;
mod escape;
mod git;
mod network;
mod probe;
mod support;
