//! The threads that guests run on.
//!
//! File operations block the thread that runs the guest, so guests have threads of their own,
//! apart from those of the agent loop; only the first moments of a guest that has nothing to block
//! on are spent with the caller. Guests are tasks there: a tick of the epoch makes a busy
//! one yield, and one that waits for the network holds no thread. A thread can still get stuck in
//! a system call that nobody can interrupt, on a dead network file system say; the caller answers
//! on time all the same, and stuck threads are counted so that they cannot pile up.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinError, JoinHandle};

use super::engine::TICK;

/// More than there are cores, so that a stuck one does not stop the rest.
const SPARE_THREADS: usize = 2;
/// Many ticks: a thread that is held for longer than this is not merely busy.
const LETTING_GO: Duration = Duration::from_millis(200);
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

    /// Whether a new guest can be run; not if nearly all threads are stuck. A guest that only
    /// computes lets go of its thread at the next tick, so the answer is no only if it stays no
    /// for a while.
    pub async fn available(&self) -> bool {
        for _ in 0..LETTING_GO.as_millis() / TICK.as_millis() {
            if !self.exhausted() {
                return true;
            }
            tokio::time::sleep(TICK).await;
        }
        !self.exhausted()
    }

    fn exhausted(&self) -> bool {
        self.stuck() + 1 >= self.threads
    }

    /// Begins a guest on the caller's thread: waking another one costs more than a short call. It
    /// goes on with the others at its first pause, which comes at the next tick at the latest. Not
    /// for guests that can block.
    pub async fn begin_here<F>(&self, guest: F) -> Begun<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let mut guest = Box::pin(guest);
        let first = std::future::poll_fn(|context| {
            // Timers and the like belong to the threads where the guest may go on.
            let _entered = self.runtime.enter();
            Poll::Ready(catch_unwind(AssertUnwindSafe(|| guest.as_mut().poll(context))))
        });
        match first.await {
            Ok(Poll::Ready(answer)) => Begun::Ended(answer),
            Ok(Poll::Pending) => Begun::Running(self.spawn(guest)),
            Err(_panic) => Begun::Panicked,
        }
    }

    /// Runs a guest. Dropping the handle cancels it.
    pub fn spawn<F>(&self, guest: F) -> Running<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let thread = Arc::new(Thread { stuck: Arc::clone(&self.stuck), hold: Mutex::default() });
        let inside = LeftOnDrop(Arc::clone(&thread));
        let guest = async move {
            let mut guest = std::pin::pin!(guest);
            std::future::poll_fn(|context| {
                inside.0.enter();
                let answer = guest.as_mut().poll(context);
                inside.0.leave();
                answer
            })
            .await
        };
        Running { task: self.runtime.spawn(guest), thread }
    }
}

/// What came of beginning a guest on the caller's thread.
pub enum Begun<T> {
    Ended(T),
    Running(Running<T>),
    Panicked,
}

/// A guest on its way.
pub struct Running<T> {
    task: JoinHandle<T>,
    thread: Arc<Thread>,
}

impl<T> Running<T> {
    /// Gives up: the guest is cancelled. If it has a thread at this moment, that one counts as
    /// stuck until it lets go; one that merely waits for its turn will never get it.
    pub fn abandon(self) {
        self.thread.give_up();
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

/// Whether a guest has a thread, and whether that is counted as stuck.
#[derive(Default)]
struct Hold {
    held: bool,
    counted: bool,
}

struct Thread {
    stuck: Arc<AtomicUsize>,
    hold: Mutex<Hold>,
}

impl Thread {
    fn lock(&self) -> std::sync::MutexGuard<'_, Hold> {
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) {
        self.lock().held = true;
    }

    fn leave(&self) {
        let mut hold = self.lock();
        hold.held = false;
        if std::mem::take(&mut hold.counted) {
            self.stuck.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn give_up(&self) {
        let mut hold = self.lock();
        if hold.held && !hold.counted {
            hold.counted = true;
            self.stuck.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A guest that ends by a panic leaves too.
struct LeftOnDrop(Arc<Thread>);

impl Drop for LeftOnDrop {
    fn drop(&mut self) {
        self.0.leave();
    }
}
