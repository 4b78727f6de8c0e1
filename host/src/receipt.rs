//! What a call really used of its grant, written by the host as it happens.
//!
//! Plain data. Capabilities write into a [`Ledger`] that belongs to one call; when the call ends
//! the ledger becomes a [`Receipt`]. Lists are bounded: a call that touches more files than
//! [`MAX_ENTRIES`] still has true totals.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

/// Entries kept per list. A receipt is stored and shown; a hostile call must not make it large.
pub const MAX_ENTRIES: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct FileUse {
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Created, deleted, renamed or given other times or size.
    pub changed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HttpUse {
    pub method: String,
    pub url: String,
    /// The address that was dialled; none when it never came to that.
    pub address: Option<String>,
    pub status: Option<u16>,
    pub received_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProcessUse {
    pub argv: Vec<String>,
    pub exit_code: Option<i32>,
    pub duration_ms: u64,
}

/// A refusal, and the rule that caused it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Denial {
    pub what: String,
    pub rule: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Receipt {
    /// By guest path. Files of a scan are summed under its root, as `PATH/**`.
    pub files: BTreeMap<String, FileUse>,
    pub http: Vec<HttpUse>,
    pub processes: Vec<ProcessUse>,
    pub denials: Vec<Denial>,
    /// How many entries did not fit above.
    pub omitted: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub duration_us: u64,
    /// The most linear memory that the call held.
    pub peak_memory_bytes: u64,
}

/// The receipt of a running call, shared by its capabilities.
#[derive(Debug, Clone, Default)]
pub struct Ledger(Arc<Mutex<Receipt>>);

impl Ledger {
    fn with<R>(&self, change: impl FnOnce(&mut Receipt) -> R) -> R {
        // A panic while holding it leaves plain counters, which are still worth reading.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn file(&self, path: &str, change: impl FnOnce(&mut FileUse)) {
        self.with(|receipt| {
            let mut one = FileUse::default();
            change(&mut one);
            receipt.read_bytes += one.read_bytes;
            receipt.written_bytes += one.written_bytes;
            if let Some(entry) = receipt.files.get_mut(path) {
                entry.read_bytes += one.read_bytes;
                entry.written_bytes += one.written_bytes;
                entry.changed |= one.changed;
            } else if receipt.files.len() < MAX_ENTRIES {
                receipt.files.insert(path.to_owned(), one);
            } else {
                receipt.omitted += 1;
            }
        });
    }

    pub fn http(&self, entry: HttpUse) {
        self.with(|receipt| push(&mut receipt.http, &mut receipt.omitted, entry));
    }

    pub fn process(&self, entry: ProcessUse) {
        self.with(|receipt| push(&mut receipt.processes, &mut receipt.omitted, entry));
    }

    pub fn denial(&self, what: impl Into<String>, rule: impl Into<String>) {
        let entry = Denial { what: what.into(), rule: rule.into() };
        self.with(|receipt| push(&mut receipt.denials, &mut receipt.omitted, entry));
    }

    pub fn peak_memory(&self, bytes: u64) {
        self.with(|receipt| receipt.peak_memory_bytes = receipt.peak_memory_bytes.max(bytes));
    }

    /// What there is so far; the call may still be running.
    pub fn snapshot(&self) -> Receipt {
        self.with(|receipt| receipt.clone())
    }
}

fn push<T>(list: &mut Vec<T>, omitted: &mut u64, entry: T) {
    if list.len() < MAX_ENTRIES {
        list.push(entry);
    } else {
        *omitted += 1;
    }
}
