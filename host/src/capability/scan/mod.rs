//! `scan`: walks a granted directory and hands whole files to the guest in batches.
//!
//! A guest that walks by itself crosses the boundary several times per file. Here a thread of the
//! host walks and reads ahead while the guest searches what it has: on a tree of small files that
//! is the difference between two and a half times the cost of a native search and about its equal.
//! It opens every name without following links, from directory handles that descend from the
//! granted one. It stops while enough waits for the guest, and ends when the guest drops the walk
//! or the call ends.

mod batch;
mod ignores;
mod tree;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc;
use wasmtime::component::Resource;

use super::bindings::scan::{self, Host, HostWalk, Options, Totals};
use super::bindings::types::ToolError as WitError;
use super::files::{FilesView, FsError};
use crate::policy::GuestPath;
use crate::tool::ToolError;
use batch::Batch;
use tree::{Reader, Stopped, Tree};

/// Batches that wait for the guest. With [`batch::TARGET_BYTES`] this bounds the memory of a walk.
const READ_AHEAD: usize = 3;
/// Files larger than this are never handed over whole, whatever the guest asks.
const MAX_FILE: u64 = 32 << 20;
/// Walks of one call at a time: each has batches that were read ahead, in the host's memory.
const MAX_WALKS: usize = 4;
/// Include and exclude patterns each become part of a compiled automaton.
const MAX_PATTERNS: usize = 64;
const MAX_PATTERN_BYTES: usize = 1024;

/// A walk in progress, as the guest holds it.
pub struct Walk {
    batches: mpsc::Receiver<Batch>,
    counts: Arc<Counts>,
    /// For the receipt.
    place: String,
    _running: Arc<Running>,
}

/// Counts a walk for as long as the guest has it or it is being read.
struct Running(#[expect(dead_code, reason = "counted by its clones")] Arc<()>);

/// Shared with the reading thread.
#[derive(Debug, Default)]
struct Counts {
    files: AtomicU64,
    bytes: AtomicU64,
    too_large: AtomicU64,
    unreadable: AtomicU64,
}

impl Counts {
    fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }
}

impl Host for FilesView<'_> {}

impl HostWalk for FilesView<'_> {
    fn open(
        &mut self,
        root: String,
        options: Options,
    ) -> wasmtime::Result<Result<Resource<Walk>, WitError>> {
        match self.start(&root, &options) {
            Ok(walk) => Ok(Ok(self.table.push(walk)?)),
            Err(error) => Ok(Err(error.into())),
        }
    }

    async fn next(
        &mut self,
        walk: Resource<Walk>,
    ) -> wasmtime::Result<Result<Option<scan::Batch>, WitError>> {
        let walk = self.table.get_mut(&walk)?;
        let Some(batch) = walk.batches.recv().await else {
            return Ok(Ok(None));
        };
        let bytes = batch.data.len() as u64;
        self.ctx.witness().ledger.file(&walk.place, |file| file.read_bytes += bytes);
        Ok(Ok(Some(batch.into_wit())))
    }

    fn totals(&mut self, walk: Resource<Walk>) -> wasmtime::Result<Totals> {
        let counts = &self.table.get(&walk)?.counts;
        Ok(Totals {
            files: counts.files.load(Ordering::Relaxed),
            bytes: counts.bytes.load(Ordering::Relaxed),
            too_large: counts.too_large.load(Ordering::Relaxed),
            unreadable: counts.unreadable.load(Ordering::Relaxed),
        })
    }

    fn drop(&mut self, walk: Resource<Walk>) -> wasmtime::Result<()> {
        self.table.delete(walk)?;
        Ok(())
    }
}

impl FilesView<'_> {
    fn start(&mut self, root: &str, options: &Options) -> Result<Walk, ToolError> {
        let path = GuestPath::parse(root).map_err(|error| {
            ToolError::denied(format!("{root}: {error}; paths are under /workspace"))
        })?;
        let running = self.count_walk()?;
        let overrides = ignores::overrides(&options.include, &options.exclude)?;
        let Some((preopen, below)) = self.ctx.find_preopen(path.as_str()) else {
            let error = ToolError::denied(format!(
                "{path} is not in a granted directory; paths are under /workspace"
            ));
            self.ctx.witness().refuse(path.as_str(), &error);
            return Err(error);
        };
        let located = self.ctx.locate(preopen, below, true).map_err(|error| match error {
            FsError::Code(code) => {
                self.ctx.witness().take_refusal().unwrap_or_else(|| match code {
                    super::bindings::fs::ErrorCode::NoEntry => ToolError::not_found(format!(
                        "{path} does not exist; list the directory above to see what there is"
                    )),
                    super::bindings::fs::ErrorCode::NotDirectory => ToolError::invalid_input(
                        format!("{path} cannot be: a part of it is a file, not a directory"),
                    ),
                    code => ToolError::failed(format!("{path} cannot be opened: {code:?}")),
                })
            }
            FsError::Trap(error) => ToolError::failed(error.to_string()),
        })?;
        let tree = Tree::open(preopen, &located, self.ctx.roots(), options, overrides)?;
        let place = match tree.is_directory() {
            true => format!("{}/**", located.place),
            false => located.place,
        };
        let counts = Arc::new(Counts::default());
        let (sender, batches) = mpsc::channel(READ_AHEAD);
        tokio::spawn(read(tree.reader(), sender, Arc::clone(&counts), Arc::clone(&running)));
        Ok(Walk { batches, counts, place, _running: running })
    }

    fn count_walk(&self) -> Result<Arc<Running>, ToolError> {
        let walks = self.ctx.walks();
        // One is the context's own.
        if Arc::strong_count(walks) > MAX_WALKS {
            let error = ToolError::limit_exceeded(format!(
                "the call has {MAX_WALKS} walks under way, which is its limit; end one first"
            ));
            self.ctx.witness().refuse("a walk", &error);
            return Err(error);
        }
        Ok(Arc::new(Running(Arc::clone(walks))))
    }
}

/// Reads ahead until the end, or until the guest or the call has gone. A thread is used only while
/// there is something to read: between that, the walk waits for the guest without one.
async fn read(
    mut reader: Reader,
    batches: mpsc::Sender<Batch>,
    counts: Arc<Counts>,
    _running: Arc<Running>,
) {
    loop {
        let (sender, shared) = (batches.clone(), Arc::clone(&counts));
        let reading = tokio::task::spawn_blocking(move || {
            let stopped = reader.read(&sender, &shared);
            (reader, stopped)
        });
        match reading.await {
            Ok((back, Stopped::Full(batch))) => {
                if batches.send(batch).await.is_err() {
                    return;
                }
                reader = back;
            }
            Ok((_, Stopped::Ended)) => return,
            Err(error) => {
                tracing::error!(%error, "a walk ended before its end");
                return;
            }
        }
    }
}
