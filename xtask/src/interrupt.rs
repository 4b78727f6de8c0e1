//! Ctrl-C, noticed instead of fatal.
//!
//! The terminal sends the interrupt to the program that is being run as well, which ends; this
//! program then has to live just long enough to remove what it put into temporary directories.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C was pressed since [`listen`].
pub fn happened() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

#[cfg(unix)]
pub fn listen() {
    use std::ffi::c_int;

    const SIGINT: c_int = 2;

    // The standard library has no way to ask for this, but links the C library that has.
    unsafe extern "C" {
        fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
    }

    extern "C" fn note(_: c_int) {
        INTERRUPTED.store(true, Ordering::SeqCst);
    }

    // SAFETY: `signal` has this signature in every C library for Unix, SIGINT is 2 on all of
    // them, and the handler only stores to an atomic, which is allowed in a signal handler. A
    // handler, unlike "ignore", is not inherited by the programs that are started.
    unsafe {
        signal(SIGINT, note);
    }
}

/// Elsewhere Ctrl-C ends this program at once, and temporary directories stay.
#[cfg(not(unix))]
pub fn listen() {}
