//! What a hostile call could leave behind in the process: memory, descriptors, threads, children,
//! and panics.

use std::collections::BTreeMap;
use std::fs;
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Resident memory may differ by this much: slots of the pool keep their pages, and allocators
/// keep theirs. What a hostile call can make the host allocate is meant to be less, so that even
/// one leak of it would show after a few cases.
const MEMORY_TOLERANCE: u64 = 32 << 20;
/// Threads, sockets and processes end a little after the call that used them.
const GRACE: Duration = Duration::from_secs(5);
/// Pools of threads for blocking work: they grow on demand and shrink after ten idle seconds.
const POOLS: [&str; 2] = ["guest", "suite"];
/// How far a pool may grow, as the sandbox bounds it.
const POOL_ROOM: usize = 40;
/// After this much idle time pools must be as they were.
const POOL_REST: Duration = Duration::from_secs(15);

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Counts panics in every thread from now on, also those that a runtime swallows.
pub fn count_panics() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        before(info);
    }));
}

pub fn panics() -> usize {
    PANICS.load(Ordering::Relaxed)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vital {
    pub memory: u64,
    pub descriptors: usize,
    /// How many there are of each name.
    pub threads: BTreeMap<String, usize>,
    pub children: Vec<String>,
}

impl Vital {
    pub fn now() -> Vital {
        Vital {
            memory: resident(),
            descriptors: fs::read_dir("/proc/self/fd").unwrap().count(),
            threads: threads(),
            children: children(),
        }
    }

    /// What is different from how it was, after a while for things to settle.
    pub fn settled_since(&self) -> Option<String> {
        wait(GRACE, || self.difference(&Vital::now(), false))
    }

    /// The same, with pools of threads back at their size too.
    pub fn rested_since(&self) -> Option<String> {
        wait(POOL_REST, || self.difference(&Vital::now(), true))
    }

    fn difference(&self, now: &Vital, pools: bool) -> Option<String> {
        if now.memory > self.memory + MEMORY_TOLERANCE {
            let more = (now.memory - self.memory) >> 20;
            return Some(format!("{more} MiB more memory is resident"));
        }
        if now.descriptors != self.descriptors {
            let open = open_files();
            return Some(format!(
                "{} descriptors instead of {}: {open:?}",
                now.descriptors, self.descriptors
            ));
        }
        for name in self.threads.keys().chain(now.threads.keys()) {
            let count = |vital: &Vital| vital.threads.get(name).copied().unwrap_or(0);
            let (before, after) = (count(self), count(now));
            let is_pool = POOLS.contains(&name.as_str());
            let room = if is_pool && !pools { POOL_ROOM } else { 0 };
            if after > before + room || (after < before && !is_pool) {
                return Some(format!("{after} threads {name:?} instead of {before}"));
            }
        }
        if now.children != self.children {
            return Some(format!("children: {:?}", now.children));
        }
        None
    }
}

/// What is still wrong after a while.
pub fn settles(problem: impl Fn() -> Option<String>) -> Option<String> {
    wait(GRACE, problem)
}

fn wait(patience: Duration, problem: impl Fn() -> Option<String>) -> Option<String> {
    let started = Instant::now();
    loop {
        let found = problem()?;
        if started.elapsed() > patience {
            return Some(found);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Resident memory in bytes, without what the allocator merely keeps for later.
fn resident() -> u64 {
    // SAFETY: gives memory that nobody uses back to the system; it has no other effect.
    unsafe { libc::malloc_trim(0) };
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kib << 10
}

fn threads() -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for task in fs::read_dir("/proc/self/task").unwrap() {
        // One that ends meanwhile is gone.
        if let Ok(name) = fs::read_to_string(task.unwrap().path().join("comm")) {
            *names.entry(name.trim_end().to_owned()).or_default() += 1;
        }
    }
    names
}

fn open_files() -> Vec<String> {
    let entries = fs::read_dir("/proc/self/fd").unwrap();
    let targets = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    targets.map(|target| target.display().to_string()).collect()
}

/// The processes whose parent is this one: its own, and those that lost theirs, since a group's
/// process adopts them.
fn children() -> Vec<String> {
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap() {
        let path = entry.unwrap().path();
        let Ok(stat) = fs::read_to_string(path.join("stat")) else { continue };
        // PID (NAME) STATE PARENT ...; the name may hold anything.
        let Some((head, tail)) = stat.rsplit_once(')') else { continue };
        if tail.split_whitespace().nth(1) == Some(own.as_str()) {
            found.push(format!("{head})"));
        }
    }
    found
}
