//! Takes time, or memory, without end.

use std::hint::black_box;

use crate::bindings::wasi::clocks::monotonic_clock;
use crate::bindings::wasi::io::poll;
use crate::bindings::xzatoma::tool::log;
use crate::{Answer, Arguments, achieved, answer};

const MIB: usize = 1 << 20;
const PAGE: usize = 64 << 10;

pub fn act(arguments: &Arguments) -> Option<Answer> {
    let count = arguments.count;
    Some(match arguments.case.as_str() {
        "loop" => spin(),
        "clock-loop" => loop {
            black_box(monotonic_clock::now());
        },
        "log-loop" => loop {
            log::log(log::Level::Error, &"flood ".repeat(1000));
        },
        "copy-loop" => copy(count as usize * MIB),
        "fill-loop" => fill(count as usize * MIB),
        "poll-now-loop" => loop {
            let now = monotonic_clock::subscribe_duration(0);
            black_box(poll::poll(&[&now]));
        },
        "poll-never" => {
            monotonic_clock::subscribe_duration(u64::MAX).block();
            achieved("a wait of 584 years")
        }
        "poll-instant-never" => {
            monotonic_clock::subscribe_instant(u64::MAX).block();
            achieved("a wait of 584 years")
        }
        "sleep" => {
            monotonic_clock::subscribe_duration(count.saturating_mul(1_000_000)).block();
            answer("slept")
        }
        "recursion" => answer(recurse(count).to_string()),
        "allocate" => allocate(),
        "grow" => grow(),
        _ => return None,
    })
}

fn spin() -> Answer {
    let mut turn = 0_u64;
    loop {
        turn = black_box(turn.wrapping_add(1));
    }
}

/// One instruction that moves as much as there is, again and again.
fn copy(bytes: usize) -> Answer {
    let mut memory = vec![1_u8; bytes];
    let half = bytes / 2;
    loop {
        memory.copy_within(..half, half);
        black_box(&mut memory);
    }
}

fn fill(bytes: usize) -> Answer {
    let mut memory = vec![1_u8; bytes];
    loop {
        memory.fill(black_box(2));
        black_box(&mut memory);
    }
}

#[allow(unconditional_recursion)]
fn recurse(depth: u64) -> u64 {
    let frame = black_box([depth; 32]);
    black_box(recurse(black_box(depth + 1))).wrapping_add(frame[7])
}

fn allocate() -> Answer {
    loop {
        let mut block = vec![0_u8; MIB];
        block.fill(1);
        std::mem::forget(black_box(block));
    }
}

/// Asks for memory until it is refused, in every step size, and then answers as if nothing had
/// happened.
fn grow() -> Answer {
    #[cfg(target_arch = "wasm32")]
    {
        use core::arch::wasm32::{memory_grow, memory_size};
        const REFUSED: usize = usize::MAX;
        for step in [65_535, 16_384, 1024, 64, 1] {
            while memory_grow(0, step) != REFUSED {}
        }
        answer((memory_size(0) * PAGE).to_string())
    }
    #[cfg(not(target_arch = "wasm32"))]
    answer(PAGE.to_string())
}
