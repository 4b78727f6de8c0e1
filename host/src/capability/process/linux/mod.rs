//! Processes on Linux: the host's side here, the helper's below.

mod availability;
mod child;
mod diagnosis;
mod helper;
mod lookup;
mod output;
mod run;
mod running;
mod wire;

use std::ffi::OsStr;

pub use availability::availability;
pub use lookup::{resolve_program, search_path};
pub use run::run;

/// Serves as the helper and does not come back, if that is what this process was started for.
pub fn become_helper_if_asked() {
    if std::env::args_os().nth(1).as_deref() == Some(OsStr::new(helper::HELPER_ARGUMENT)) {
        helper::serve();
    }
}
