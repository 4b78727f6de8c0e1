//! The threads that guests run on.
//!
//! File operations block the thread that runs the guest, so guests have threads of their own,
//! apart from those of the agent loop. Guests are tasks there: a tick of the epoch makes a busy
//! one yield, and one that waits for the network holds no thread. A thread can still get stuck in
//! a system call that nobody can interrupt, on a dead network file system say; the caller answers
//! on time all the same, and stuck threads are counted so that they cannot pile up.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinError, JoinHandle};

/// More than there are cores, so that a stuck one does not stop the rest.
const SPARE_THREADS: usize = 2;
/// Threads that read ahead for `scan`.
const READERS: usize = 32;

pub struct GuestThreads {
    runtime: Runtime,
    threads: usize,
    stuck: Arc<AtomicUsize>,
}

impl GuestThreads {
    pub fn start() -> std::io::Result<GuestThreads> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = cores + SPARE_THREADS;
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .max_blocking_threads(READERS)
            .thread_name("guest")
            .enable_all()
            .build()?;
        Ok(GuestThreads { runtime, threads, stuck: Arc::default() })
    }

    /// How many threads are held by calls that were given up.
    pub fn stuck(&self) -> usize {
        self.stuck.load(Ordering::Relaxed)
    }

    /// Whether so many threads are stuck that nothing new should start.
    pub fn exhausted(&self) -> bool {
        self.stuck() + 1 >= self.threads
    }

    /// Runs a guest. Dropping the handle cancels it.
    pub fn spawn<F>(&self, guest: F) -> Running<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let ended = Arc::new(Ended { stuck: Arc::clone(&self.stuck), state: Mutex::default() });
        let inside = EndedOnDrop(Arc::clone(&ended));
        let guest = async move {
            let _inside = inside;
            guest.await
        };
        Running { task: self.runtime.spawn(guest), ended }
    }
}

/// A guest on its way.
pub struct Running<T> {
    task: JoinHandle<T>,
    ended: Arc<Ended>,
}

impl<T> Running<T> {
    /// Gives up: the guest is cancelled, and counted as stuck until its thread lets go.
    pub fn abandon(self) {
        let mut state = self.ended.lock();
        if !state.ended && !state.abandoned {
            state.abandoned = true;
            self.ended.stuck.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<T> Future for Running<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.task).poll(context)
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Default)]
struct State {
    ended: bool,
    abandoned: bool,
}

struct Ended {
    stuck: Arc<AtomicUsize>,
    state: Mutex<State>,
}

impl Ended {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct EndedOnDrop(Arc<Ended>);

impl Drop for EndedOnDrop {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.ended = true;
        if state.abandoned {
            self.0.stuck.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
