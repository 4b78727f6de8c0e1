//! How much one call may use. Every field is a ceiling, so narrowing takes the smaller one.

use std::time::Duration;

use serde::Serialize;

const MIB: u64 = 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Wall-clock time of the call, wherever it goes. 30 s.
    pub deadline_ms: u64,
    /// All linear memories of the instance together. 256 MiB.
    pub memory_bytes: u64,
    /// What the call may answer. 1 MiB.
    pub output_bytes: u64,
    /// One HTTP body, after decoding, in either direction. 10 MiB.
    pub http_body_bytes: u64,
    /// HTTP requests to one host. 10.
    pub requests_per_minute: u32,
    /// Memory of a process that the call starts, with its children. 2 GiB.
    pub process_memory_bytes: u64,
    /// Processes and threads alive at once below the call. 256.
    pub process_count: u32,
    /// Files open at once. 256.
    pub open_files: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            deadline_ms: 30_000,
            memory_bytes: 256 * MIB,
            output_bytes: MIB,
            http_body_bytes: 10 * MIB,
            requests_per_minute: 10,
            process_memory_bytes: 2048 * MIB,
            process_count: 256,
            open_files: 256,
        }
    }
}

impl Limits {
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms)
    }

    /// The smaller of each.
    pub fn intersect(&self, other: &Limits) -> Limits {
        Limits {
            deadline_ms: self.deadline_ms.min(other.deadline_ms),
            memory_bytes: self.memory_bytes.min(other.memory_bytes),
            output_bytes: self.output_bytes.min(other.output_bytes),
            http_body_bytes: self.http_body_bytes.min(other.http_body_bytes),
            requests_per_minute: self.requests_per_minute.min(other.requests_per_minute),
            process_memory_bytes: self.process_memory_bytes.min(other.process_memory_bytes),
            process_count: self.process_count.min(other.process_count),
            open_files: self.open_files.min(other.open_files),
        }
    }

    /// Whether no ceiling is above the other's.
    pub fn inside(&self, other: &Limits) -> bool {
        self.named().iter().zip(other.named()).all(|((_, mine), (_, theirs))| *mine <= theirs)
    }

    /// Every limit with its name for people.
    pub(super) fn named(&self) -> [(&'static str, u64); 8] {
        // Taken apart, so that a new field cannot be forgotten here.
        let Limits {
            deadline_ms,
            memory_bytes,
            output_bytes,
            http_body_bytes,
            requests_per_minute,
            process_memory_bytes,
            process_count,
            open_files,
        } = *self;
        [
            ("milliseconds of time", deadline_ms),
            ("bytes of memory", memory_bytes),
            ("bytes of output", output_bytes),
            ("bytes of an HTTP body", http_body_bytes),
            ("requests a minute to a host", requests_per_minute.into()),
            ("bytes of memory for processes", process_memory_bytes),
            ("processes", process_count.into()),
            ("open files", open_files.into()),
        ]
    }
}
