//! How often one host may be asked, over the whole session.
//!
//! A window that slides: at most `per_minute` requests to a host in any sixty seconds. Agents of
//! one session share it, so that delegating does not multiply what a server has to bear.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::tool::ToolError;

const WINDOW: Duration = Duration::from_secs(60);

/// Hosts remembered at once. A guest that invents names must not make the table large; and since
/// forgetting a busy host would lift its limit, a full table refuses new hosts instead.
const MAX_HOSTS: usize = 1024;

/// Where the time comes from.
pub trait Clock: Send + Sync {
    fn now(&self) -> Instant;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// The requests of one session in the last minute, by host.
pub struct RateLimiter {
    clock: Box<dyn Clock>,
    /// Times within the window, oldest first.
    recent: Mutex<HashMap<String, VecDeque<Instant>>>,
}

impl Default for RateLimiter {
    fn default() -> Self {
        Self::new(SystemClock)
    }
}

impl RateLimiter {
    pub fn new(clock: impl Clock + 'static) -> Self {
        RateLimiter { clock: Box::new(clock), recent: Mutex::default() }
    }

    /// Counts one request to `host`, or says when the next one may be made. A request that is
    /// refused here does not count.
    pub fn admit(&self, host: &str, per_minute: u32) -> Result<(), ToolError> {
        if per_minute == 0 {
            return Err(ToolError::limit_exceeded(format!(
                "the limit is 0 requests a minute; no request to {host} can be made"
            )));
        }
        let now = self.clock.now();
        // A panic while holding it leaves a table that is at worst one entry short.
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if !recent.contains_key(host) && recent.len() >= MAX_HOSTS {
            recent.retain(|_, times| times.back().is_some_and(|last| !is_past(*last, now)));
            if recent.len() >= MAX_HOSTS {
                return Err(ToolError::limit_exceeded(format!(
                    "{MAX_HOSTS} different hosts were asked within a minute; try {host} again in {} s",
                    WINDOW.as_secs()
                )));
            }
        }
        let times = recent.entry(host.to_owned()).or_default();
        while times.front().is_some_and(|first| is_past(*first, now)) {
            times.pop_front();
        }
        // `per_minute` may differ from call to call; the window then still holds what was made.
        let limit = usize::try_from(per_minute).unwrap_or(usize::MAX);
        if times.len() < limit {
            times.push_back(now);
            return Ok(());
        }
        // The request that has to leave the window before there is room for one more.
        let blocking = times.get(times.len() - limit).copied().unwrap_or(now);
        let wait = (blocking + WINDOW).saturating_duration_since(now);
        Err(ToolError::limit_exceeded(format!(
            "{host} was asked {} times within a minute, the limit is {per_minute}; try again in {} s",
            times.len(),
            wait.as_millis().div_ceil(1000).max(1)
        )))
    }
}

fn is_past(time: Instant, now: Instant) -> bool {
    now.saturating_duration_since(time) >= WINDOW
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::tool::ErrorCase;

    #[derive(Clone)]
    struct Hand(Arc<Mutex<Instant>>);

    impl Hand {
        fn forward(&self, by: Duration) {
            *self.0.lock().unwrap() += by;
        }
    }

    impl Clock for Hand {
        fn now(&self) -> Instant {
            *self.0.lock().unwrap()
        }
    }

    fn limiter() -> (RateLimiter, Hand) {
        let hand = Hand(Arc::new(Mutex::new(Instant::now())));
        (RateLimiter::new(hand.clone()), hand)
    }

    #[test]
    fn the_window_slides_and_the_message_says_when() {
        let (limiter, hand) = limiter();
        for _ in 0..5 {
            limiter.admit("a.example", 10).unwrap();
        }
        hand.forward(Duration::from_secs(20));
        for _ in 0..5 {
            limiter.admit("a.example", 10).unwrap();
        }
        let error = limiter.admit("a.example", 10).unwrap_err();
        assert_eq!(error.case, ErrorCase::LimitExceeded);
        assert!(error.message.contains("try again in 40 s"), "{error}");

        hand.forward(Duration::from_millis(39_999));
        assert!(limiter.admit("a.example", 10).unwrap_err().message.contains("in 1 s"));
        hand.forward(Duration::from_millis(1));
        for _ in 0..5 {
            limiter.admit("a.example", 10).unwrap();
        }
        // Not twice the limit around the turn of a minute: the second five still count.
        assert!(limiter.admit("a.example", 10).unwrap_err().message.contains("in 20 s"));
    }

    #[test]
    fn hosts_do_not_share_a_window_and_a_refusal_does_not_count() {
        let (limiter, hand) = limiter();
        limiter.admit("a.example", 1).unwrap();
        limiter.admit("b.example", 1).unwrap();
        for _ in 0..100 {
            limiter.admit("a.example", 1).unwrap_err();
        }
        hand.forward(WINDOW);
        limiter.admit("a.example", 1).unwrap();
    }

    #[test]
    fn a_smaller_limit_sees_what_a_larger_one_used() {
        let (limiter, hand) = limiter();
        for _ in 0..3 {
            limiter.admit("a.example", 10).unwrap();
            hand.forward(Duration::from_secs(10));
        }
        // At 30 s, asked at 0, 10 and 20: with a limit of 2 the one at 10 has to leave.
        assert!(limiter.admit("a.example", 2).unwrap_err().message.contains("in 40 s"));
        limiter.admit("a.example", 10).unwrap();
    }

    #[test]
    fn a_limit_of_none_is_none() {
        let (limiter, _) = limiter();
        assert_eq!(limiter.admit("a.example", 0).unwrap_err().case, ErrorCase::LimitExceeded);
    }

    #[test]
    fn inventing_hosts_neither_grows_the_table_nor_lifts_a_limit() {
        let (limiter, hand) = limiter();
        limiter.admit("busy.example", 1).unwrap();
        for n in 0..MAX_HOSTS * 3 {
            let answer = limiter.admit(&format!("{n}.example"), 1);
            assert_eq!(answer.is_ok(), n < MAX_HOSTS - 1, "host {n}");
        }
        assert_eq!(limiter.recent.lock().unwrap().len(), MAX_HOSTS);
        limiter.admit("busy.example", 1).unwrap_err();

        hand.forward(WINDOW);
        limiter.admit("new.example", 1).unwrap();
        assert_eq!(limiter.recent.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_race_admits_exactly_the_limit() {
        let limiter = RateLimiter::default();
        let admitted: usize = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        (0..20).filter(|_| limiter.admit("a.example", 50).is_ok()).count()
                    })
                })
                .collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).sum()
        });
        assert_eq!(admitted, 50);
    }
}
