//! A fresh instance, one call, gone again: against starting a process that does nothing.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::measure::{Figures, Promise, medians, micros, ratio};
use super::world::{Scratch, World, runtime};

const CALL: &str = r#"{"a":20,"b":22}"#;
/// How long calls are counted for the throughput.
const WINDOW: Duration = Duration::from_secs(3);

pub fn run(figures: &mut Figures) {
    let scratch = Scratch::new("small");
    let runtime = runtime();
    let world = Arc::new(runtime.block_on(World::new(scratch.path(), Vec::new())));
    runtime.block_on(async {
        for _ in 0..2_000 {
            world.call("canary", CALL).await;
        }
    });
    let call = || {
        // Several at a time: one alone is near what the clock can tell.
        runtime.block_on(async {
            for _ in 0..10 {
                world.call("canary", CALL).await;
            }
        });
    };
    let spawn = || {
        Command::new("/bin/true").status().expect("/bin/true runs");
    };
    let (ten, process) = medians(500, call, spawn);
    let one = ten / 10;
    figures.add(
        "fresh instance + call + drop, against posix_spawn of /bin/true",
        micros(one),
        micros(process),
        Some(ratio(process, one)),
        Some(Promise::AtLeast(40.0)),
    );

    let (mut alone, mut both) = (0.0, 0.0);
    for _ in 0..2 {
        alone = f64::max(alone, runtime.block_on(throughput(&world, 1)));
        both = f64::max(both, runtime.block_on(throughput(&world, 2)));
    }
    figures.add(
        "calls a second: two tasks against one",
        format!("{both:.0}"),
        format!("{alone:.0}"),
        Some(both / alone),
        Some(Promise::AtLeast(1.7)),
    );
}

async fn throughput(world: &Arc<World>, tasks: usize) -> f64 {
    let start = Instant::now();
    let running: Vec<_> = (0..tasks)
        .map(|_| {
            let world = Arc::clone(world);
            tokio::spawn(async move {
                let mut calls = 0_u64;
                while start.elapsed() < WINDOW {
                    world.call("canary", CALL).await;
                    calls += 1;
                }
                calls
            })
        })
        .collect();
    let mut calls = 0;
    for task in running {
        calls += task.await.expect("the task ends");
    }
    calls as f64 / start.elapsed().as_secs_f64()
}
