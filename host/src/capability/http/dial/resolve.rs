//! Names to addresses.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use tokio::sync::{Semaphore, oneshot};

/// Look-ups under way at once in this process. The system's resolver blocks a thread until it
/// gives up by itself; nothing can cancel it, so a name server that never answers may hold this
/// many threads and no more.
const MAX_LOOKUPS: usize = 32;

/// Name service modules of the system run on it, and some are greedy.
const LOOKUP_STACK_BYTES: usize = 1024 * 1024;

static LOOKUPS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(MAX_LOOKUPS)));

/// Whoever knows the addresses of a name.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// All addresses of `name`. Dropping the future gives up waiting.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's own resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let name = name.to_owned();
        on_a_thread(&LOOKUPS, move || {
            Ok((name.as_str(), 0).to_socket_addrs()?.map(|address| address.ip()).collect())
        })
        .await
    }
}

async fn on_a_thread(
    places: &Arc<Semaphore>,
    look_up: impl FnOnce() -> io::Result<Vec<IpAddr>> + Send + 'static,
) -> io::Result<Vec<IpAddr>> {
    // The place belongs to the thread, not to this future: a caller who gave up does not make
    // room for one more thread.
    let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
    let (answer, answered) = oneshot::channel();
    // A thread of our own: a runtime waits for its blocking threads when it ends, and a look-up
    // that hangs must not keep the program from ending.
    std::thread::Builder::new().name("lookup".to_owned()).stack_size(LOOKUP_STACK_BYTES).spawn(
        move || {
            // Nobody is there any more if the caller gave up.
            let _ = answer.send(look_up());
            drop(place);
        },
    )?;
    answered.await.map_err(|_| io::Error::other("the look-up ended without an answer"))?
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn the_system_knows_localhost_and_not_what_cannot_exist() {
        let found = SystemResolver.resolve("localhost").await.unwrap();
        assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
        // Refused by the C library itself, without asking anybody.
        SystemResolver.resolve("a..b").await.unwrap_err();
    }

    #[tokio::test]
    async fn a_caller_who_gives_up_does_not_make_room_for_another_thread() {
        let places = Arc::new(Semaphore::new(1));
        let (release, released) = mpsc::channel::<()>();
        let stuck = on_a_thread(&places, move || {
            let _ = released.recv();
            Ok(Vec::new())
        });
        tokio::time::timeout(Duration::from_millis(50), stuck).await.unwrap_err();
        assert_eq!(places.available_permits(), 0);

        let next = on_a_thread(&places, || Ok(vec![Ipv4Addr::LOCALHOST.into()]));
        let mut next = std::pin::pin!(next);
        tokio::time::timeout(Duration::from_millis(50), &mut next).await.unwrap_err();
        release.send(()).unwrap();
        assert_eq!(next.await.unwrap().len(), 1);
    }
}
