//! The one engine of the process: what compiled code may use, and how instances are allocated.
//!
//! Precompiled code fits only an engine with the same compile-time settings, so both kinds of
//! engine made here, the one that runs and the one that only compiles, share [`base`].

use std::time::Duration;

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
};

/// How often guests are interrupted to look at their deadline and to let others run.
pub const TICK: Duration = Duration::from_millis(5);
/// Calls that can be alive at once, unless a program asks for another number. Each place in the
/// pool costs a system call when the engine starts.
pub const LIVE_CALLS: u32 = 1_000;
/// The most that one linear memory can hold; the sum per call is a limit of the grant.
pub const MAX_MEMORY: usize = 1 << 30;
/// The largest table that one module may have. Interpreters for other languages need thousands.
pub const MAX_TABLE: usize = 20_000;
/// Core instances of one component: its own module, the adapters, and room for composed ones.
const MAX_CORE_INSTANCES: u32 = 20;
const MAX_MEMORIES: u32 = 4;
const MAX_TABLES: u32 = 8;
/// Pages of a slot that stay resident after a call, so that the next call need not fault them in.
const KEEP_MEMORY: usize = 1 << 20;
const KEEP_SMALL: usize = 64 << 10;
/// Stack of the fiber that a guest runs on, and what of it wasm code may use.
const FIBER_STACK: usize = 1 << 20;
const WASM_STACK: usize = 512 << 10;

/// What the compiler and the runtime must agree on.
fn base() -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true);
    config.cranelift_opt_level(OptLevel::Speed);
    // Traps are told to the model by their kind; addresses inside a guest would not help it, and
    // collecting them makes failing calls slow.
    config.wasm_backtrace_max_frames(None);
    config.generate_address_map(false);
    config.native_unwind_info(false);
    // What no tool needs is not there to be attacked.
    config.wasm_memory64(false);
    config.wasm_relaxed_simd(false);
    config.wasm_custom_page_sizes(false);
    config.wasm_wide_arithmetic(false);
    config.shared_memory(false);
    config.concurrency_support(false);
    config.max_wasm_stack(WASM_STACK);
    config.async_stack_size(FIBER_STACK);
    config.memory_init_cow(true);
    // The size of the address space of 32 bits: no bounds checks in compiled code.
    config.memory_reservation(4 << 30);
    config.memory_guard_size(32 << 20);
    config
}

/// An engine that runs guests: instances come from a pool, so that a fresh one costs little.
pub fn running(live_calls: u32) -> wasmtime::Result<Engine> {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(live_calls);
    pool.total_core_instances(live_calls * 5);
    pool.total_memories(live_calls + live_calls / 10 + MAX_MEMORIES);
    pool.total_tables(live_calls * 3);
    pool.total_stacks(live_calls);
    pool.max_core_instances_per_component(MAX_CORE_INSTANCES);
    pool.max_memories_per_component(MAX_MEMORIES);
    pool.max_tables_per_component(MAX_TABLES);
    pool.max_memory_size(MAX_MEMORY);
    pool.table_elements(MAX_TABLE);
    pool.linear_memory_keep_resident(KEEP_MEMORY);
    pool.table_keep_resident(KEEP_SMALL);
    pool.async_stack_keep_resident(KEEP_SMALL);
    pool.pagemap_scan(Enabled::Auto);
    let mut config = base();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config)
}

/// An engine that only compiles, for the build and for the limited child process.
pub fn compiling() -> wasmtime::Result<Engine> {
    let mut config = base();
    config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    Engine::new(&config)
}

/// Advances the engine's epoch for as long as it lives. One steady ticker per engine: a deadline
/// in ticks means nothing when somebody else advances the clock.
pub fn start_ticker(engine: &Engine) -> std::io::Result<()> {
    let engine = engine.weak();
    std::thread::Builder::new().name("epoch".into()).stack_size(64 << 10).spawn(move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(TICK);
        }
    })?;
    Ok(())
}
