//! What a live instance holds: many calls at once, each waiting in its guest.

use std::sync::Arc;
use std::time::Duration;

use super::measure::{Figures, Promise};
use super::world::{Scratch, World, runtime};

pub fn run(figures: &mut Figures) {
    let scratch = Scratch::new("memory");
    let runtime = runtime();
    let world = Arc::new(runtime.block_on(World::new(scratch.path(), Vec::new())));
    runtime.block_on(async { world.call("canary", r#"{"a":1,"b":1}"#).await });
    for count in [1_000, 10_000] {
        let before = resident();
        let calls: Vec<_> = (0..count)
            .map(|_| {
                let world = Arc::clone(&world);
                runtime.spawn(async move {
                    world.call("canary", r#"{"a":1,"b":1,"sleep_ms":20000}"#).await;
                })
            })
            .collect();
        // All of them are in their sleep once memory no longer grows.
        let mut last = resident();
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = resident();
            if now <= last + (64 << 10) {
                break;
            }
            last = now;
        }
        let each = resident().saturating_sub(before) as f64 / f64::from(count) / 1024.0;
        figures.add(
            &format!("memory of each of {count} live instances, KB"),
            format!("{each:.1} KB"),
            "",
            Some(each),
            (count == 10_000).then_some(Promise::AtMost(100.0)),
        );
        for call in &calls {
            call.abort();
        }
        runtime.block_on(async {
            for call in calls {
                // Cancelled: that is what was asked.
                let _ = call.await;
            }
        });
    }
}

/// Resident memory of this process.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * 4096
}
