//! The state of one call: every capability that the instance has, and nothing else.

use std::sync::Arc;

use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use super::limiter::Limiter;
use crate::capability::files::{FilesCtx, FilesView, Roots};
use crate::capability::http::{HttpHooks, HttpShared};
use crate::capability::log::LogCtx;
use crate::capability::process::{ProcessCtx, ProcessShared};
use crate::capability::witness::Witness;
use crate::policy::{Authority, WORKSPACE};
use crate::tool::{Approver, ToolError};

/// Handles that a guest may hold at once: files, streams, requests.
const MAX_HANDLES: usize = 2_000;
/// Random bytes that one call of the guest may ask for.
const MAX_RANDOM: u64 = 1 << 20;
/// Header fields of a request, in memory.
const MAX_HEADER_BYTES: usize = 128 << 10;

/// What the calls of a session share.
pub struct Shared {
    pub roots: Arc<Roots>,
    pub http: Arc<HttpShared>,
    pub process: Arc<ProcessShared>,
}

pub struct CallState {
    pub table: ResourceTable,
    pub wasi: WasiCtx,
    pub http_ctx: WasiHttpCtx,
    pub http_hooks: HttpHooks,
    pub files: FilesCtx,
    pub process: ProcessCtx,
    pub log: LogCtx,
    pub limiter: Limiter,
    pub witness: Witness,
}

impl CallState {
    /// Turns plain data into authority: this is where directories are opened.
    pub fn new(
        tool: &str,
        authority: &Arc<Authority>,
        approver: &Arc<dyn Approver>,
        shared: &Shared,
        witness: Witness,
    ) -> Result<CallState, ToolError> {
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_HANDLES);
        let mut http_ctx = WasiHttpCtx::new();
        http_ctx.set_field_size_limit(MAX_HEADER_BYTES);
        Ok(CallState {
            table,
            wasi: WasiCtx::builder().initial_cwd(WORKSPACE).max_random_size(MAX_RANDOM).build(),
            http_ctx,
            http_hooks: HttpHooks::new(tool, authority, approver, &shared.http, &witness),
            files: FilesCtx::new(
                &authority.dirs,
                authority.limits.open_files,
                &shared.roots,
                witness.clone(),
            )?,
            process: ProcessCtx::new(
                tool,
                authority,
                approver,
                &shared.process,
                &shared.http,
                &shared.roots,
                &witness,
            ),
            log: LogCtx::new(tool),
            limiter: Limiter::new(authority.limits.memory_bytes),
            witness,
        })
    }

    pub fn files(&mut self) -> FilesView<'_> {
        FilesView { ctx: &mut self.files, table: &mut self.table }
    }
}

impl Drop for CallState {
    fn drop(&mut self) {
        // Whatever ended the call, its cost goes into the receipt.
        self.witness.ledger.peak_memory(self.limiter.peak_memory());
    }
}

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for CallState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView {
            hooks: &mut self.http_hooks,
            table: &mut self.table,
            ctx: &mut self.http_ctx,
        }
    }
}
