//! Lines for the host's log. The model never sees them.

#[cfg(target_arch = "wasm32")]
use crate::bindings::xzatoma::tool::log::{Level, log};

pub fn debug(message: &str) {
    #[cfg(target_arch = "wasm32")]
    log(Level::Debug, message);
    #[cfg(not(target_arch = "wasm32"))]
    let _ = message;
}

pub fn info(message: &str) {
    #[cfg(target_arch = "wasm32")]
    log(Level::Info, message);
    #[cfg(not(target_arch = "wasm32"))]
    let _ = message;
}

pub fn warn(message: &str) {
    #[cfg(target_arch = "wasm32")]
    log(Level::Warn, message);
    #[cfg(not(target_arch = "wasm32"))]
    let _ = message;
}

pub fn error(message: &str) {
    #[cfg(target_arch = "wasm32")]
    log(Level::Error, message);
    #[cfg(not(target_arch = "wasm32"))]
    let _ = message;
}
