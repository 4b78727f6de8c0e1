//! Memory and tables of one call, as a sum over everything that the component brings.

use wasmtime::ResourceLimiter;

use super::engine::{MAX_MEMORY, MAX_TABLE};

/// Table elements of a whole component.
const MAX_TABLE_SUM: usize = 2 * MAX_TABLE;
const MAX_INSTANCES: usize = 64;
const MAX_COUNT: usize = 16;

#[derive(Debug)]
pub struct Limiter {
    memory: usize,
    max_memory: usize,
    peak_memory: usize,
    table: usize,
    /// Which limit was met, if any: what the guest does then is no fault of its own.
    hit: Option<&'static str>,
}

impl Limiter {
    pub fn new(max_memory: u64) -> Limiter {
        let max_memory = usize::try_from(max_memory).unwrap_or(usize::MAX).min(MAX_MEMORY);
        Limiter { memory: 0, max_memory, peak_memory: 0, table: 0, hit: None }
    }

    pub fn hit(&self) -> Option<&'static str> {
        self.hit
    }

    pub fn max_memory(&self) -> usize {
        self.max_memory
    }

    pub fn peak_memory(&self) -> u64 {
        self.peak_memory as u64
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let sum = self.memory.saturating_add(desired.saturating_sub(current));
        if sum > self.max_memory {
            self.hit = Some("memory");
            return Ok(false);
        }
        self.memory = sum;
        self.peak_memory = self.peak_memory.max(sum);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.hit = Some("memory");
        Ok(())
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let sum = self.table.saturating_add(desired.saturating_sub(current));
        if sum > MAX_TABLE_SUM {
            self.hit = Some("table");
            return Ok(false);
        }
        self.table = sum;
        Ok(true)
    }

    fn table_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.hit = Some("table");
        Ok(())
    }

    fn instances(&self) -> usize {
        MAX_INSTANCES
    }

    fn tables(&self) -> usize {
        MAX_COUNT
    }

    fn memories(&self) -> usize {
        MAX_COUNT
    }
}
