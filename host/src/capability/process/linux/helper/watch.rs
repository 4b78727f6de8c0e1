//! Ceilings over a whole process tree, kept by looking.
//!
//! The kernel limits memory and, for user 0, processes only one process at a time; control
//! groups would do more, but few users may make one. So the process that waits for the tree
//! counts it, many times a second. A tree can be over its limit for the time between two looks,
//! and no longer.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use crate::capability::process::linux::wire::Order;

/// Between two looks.
pub(super) const INTERVAL: Duration = Duration::from_millis(50);

/// Looking takes at most one part in this many of the time.
const COST_RATIO: u32 = 10;

/// Which processes are in the tree.
pub(super) enum Tree {
    /// All that this `/proc` shows but the first: the caller is the first of its namespace.
    Namespace,
    /// All below the caller, to whom orphans come.
    Descendants,
}

impl Tree {
    pub fn members(&self) -> Vec<Pid> {
        match self {
            Tree::Namespace => all_processes()
                .into_iter()
                .filter(|pid| *pid != rustix::process::getpid())
                .collect(),
            Tree::Descendants => descendants(rustix::process::getpid()),
        }
    }
}

pub(super) struct Watch {
    tree: Tree,
    memory_bytes: u64,
    processes: u64,
    next: Instant,
}

impl Watch {
    pub fn new(tree: Tree, order: &Order) -> Watch {
        Watch {
            tree,
            memory_bytes: order.memory_bytes,
            processes: order.processes.into(),
            next: Instant::now() + INTERVAL,
        }
    }

    /// What is over its limit, if it is time to look.
    pub fn exceeded(&mut self) -> Option<String> {
        let start = Instant::now();
        if start < self.next {
            return None;
        }
        let exceeded = self.look();
        self.next = start + INTERVAL.max(start.elapsed() * COST_RATIO);
        exceeded
    }

    fn look(&self) -> Option<String> {
        let members = self.tree.members();
        let (mut threads, mut memory) = (0, 0);
        for pid in &members {
            let Some(usage) = Usage::of(*pid) else { continue };
            threads += usage.threads;
            memory += usage.memory;
        }
        if threads > self.processes {
            return Some(format!(
                "it had {threads} processes and threads at once, the limit is {}; \
                 start fewer at a time",
                self.processes
            ));
        }
        // Pages that processes share since a fork were counted once for each. Counting them
        // right is slow, so it is done only when it matters.
        if memory > self.memory_bytes {
            let shared_once: u64 = members.iter().filter_map(|pid| proportional_memory(*pid)).sum();
            if shared_once > self.memory_bytes {
                const MIB: u64 = 1024 * 1024;
                return Some(format!(
                    "its processes held {} MiB of memory together, the limit is {} MiB; \
                     work on less at a time",
                    shared_once / MIB,
                    self.memory_bytes / MIB
                ));
            }
        }
        None
    }
}

struct Usage {
    threads: u64,
    memory: u64,
}

impl Usage {
    /// None when it has ended.
    fn of(pid: Pid) -> Option<Usage> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let field = |name: &str| -> u64 {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .and_then(|rest| rest.split_ascii_whitespace().next())
                .and_then(|number| number.parse().ok())
                .unwrap_or(0)
        };
        let kilobytes = field("RssAnon:") + field("RssShmem:") + field("VmSwap:");
        Some(Usage { threads: field("Threads:").max(1), memory: kilobytes * 1024 })
    }
}

/// Memory of a process, with its part of what it shares.
fn proportional_memory(pid: Pid) -> Option<u64> {
    let summary = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"));
    let Ok(summary) = summary else {
        // Closed to us: then the higher figure counts.
        return Usage::of(pid).map(|usage| usage.memory);
    };
    let kilobytes: u64 = summary
        .lines()
        .filter(|line| {
            ["Pss_Anon:", "Pss_Shmem:", "SwapPss:"].iter().any(|name| line.starts_with(name))
        })
        .filter_map(|line| line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok())
        .sum();
    Some(kilobytes * 1024)
}

/// Processes and threads of this user, wherever they run.
pub(super) fn threads_of_user() -> u64 {
    let user = rustix::process::getuid().as_raw();
    all_processes()
        .into_iter()
        .filter_map(|pid| fs::metadata(format!("/proc/{pid}/task")).ok())
        .filter(|tasks| tasks.uid() == user)
        // A directory for each thread, and the two that every directory has.
        .map(|tasks| tasks.nlink().saturating_sub(2).max(1))
        .sum()
}

fn all_processes() -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(Pid::from_raw)
        .collect()
}

/// All processes below `root`, without itself.
fn descendants(root: Pid) -> Vec<Pid> {
    let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
    for pid in all_processes() {
        if let Some(parent) = parent_of(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut below = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while let Some(parent) = below.get(next) {
        below.extend(children.remove(parent).unwrap_or_default());
        next += 1;
    }
    below
}

fn parent_of(pid: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, also parentheses.
    let (_, rest) = stat.rsplit_once(')')?;
    Pid::from_raw(rest.split_ascii_whitespace().nth(1)?.parse().ok()?)
}
