//! HTTP: the sending end of `wasi:http`, and the proxy that native processes use.
//!
//! Every request is authorised by name, every address that the name has is checked, and a checked
//! address is dialled: one step, repeated for each redirect because the guest has to ask again.

pub mod client;
pub mod dial;
pub mod proxy;
pub mod rate;
mod wasi;

use std::sync::Arc;

use client::Client;
use dial::{Resolve, SystemResolver};
use rate::RateLimiter;

pub use wasi::HttpHooks;

/// What the calls of a session share.
pub struct HttpShared {
    pub client: Client,
    pub rate: Arc<RateLimiter>,
    pub resolver: Arc<dyn Resolve>,
}

impl Default for HttpShared {
    fn default() -> Self {
        HttpShared {
            client: Client::default(),
            rate: Arc::default(),
            resolver: Arc::new(SystemResolver),
        }
    }
}
