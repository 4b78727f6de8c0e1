//! A hundred searches at once must not hold up the agent's own runtime.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::measure::{Figures, Promise, millis};
use super::tree;
use super::world::{Scratch, World};

const PERIOD: Duration = Duration::from_millis(10);

pub fn run(figures: &mut Figures, tree_mb: usize) {
    let scratch = Scratch::new("timer");
    tree::make(scratch.path(), (tree_mb / 4).max(1) << 20);
    // The agent's loop is one thread here: the hardest case.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime starts");
    let worst = runtime.block_on(async {
        let world = Arc::new(World::new(scratch.path(), Vec::new()).await);
        let searches: Vec<_> = (0..100)
            .map(|_| {
                let world = Arc::clone(&world);
                tokio::spawn(async move {
                    world.call("grep", r#"{"pattern":"zymurgy","output":"count"}"#).await;
                })
            })
            .collect();
        let mut worst = Duration::ZERO;
        while !searches.iter().all(tokio::task::JoinHandle::is_finished) {
            let start = Instant::now();
            tokio::time::sleep(PERIOD).await;
            worst = worst.max(start.elapsed().saturating_sub(PERIOD));
        }
        worst
    });
    figures.add(
        "the longest delay of a 10 ms timer during 100 greps, ms",
        millis(worst),
        "",
        Some(worst.as_secs_f64() * 1e3),
        Some(Promise::AtMost(50.0)),
    );
}
