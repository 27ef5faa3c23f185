//! Time as a part: the system's clock, and one that tests move by hand.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::oneshot;

/// Where every crate but `countersign-core` (which has no time) gets the time from.
#[async_trait]
pub trait Clock: Send + Sync + 'static {
    /// Returns the present moment.
    fn now(&self) -> Timestamp;

    /// Returns how long the clock has been running: it goes on evenly, whatever the time is set to.
    fn running_for(&self) -> Duration;

    /// Returns once `until` has come; at once if it has passed.
    async fn sleep_until(&self, until: Timestamp);

    /// Returns once `period` has passed.
    async fn sleep(&self, period: Duration) {
        self.sleep_until(time_after(self.now(), period)).await;
    }
}

/// Returns the moment `period` after `start`, or the end of time.
pub fn time_after(start: Timestamp, period: Duration) -> Timestamp {
    start.checked_add(period).unwrap_or(Timestamp::MAX)
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the seam the others go through")]
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        // Whole milliseconds, as tables have them: what is told of a moment is the same everywhere.
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }

    fn running_for(&self) -> Duration {
        static SINCE: OnceLock<Instant> = OnceLock::new();
        SINCE.get_or_init(Instant::now).elapsed()
    }

    #[expect(clippy::disallowed_methods, reason = "this is the seam the others go through")]
    async fn sleep_until(&self, until: Timestamp) {
        // A wait longer than the timer can hold is cut; who waits looks at the clock again anyway.
        let left = until.duration_since(self.now());
        if let Ok(left) = Duration::try_from(left) {
            tokio::time::sleep(left.min(Duration::from_hours(30 * 24))).await;
        }
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct ManualClock {
    state: Mutex<ManualClockState>,
}

#[derive(Debug)]
struct ManualClockState {
    now: Timestamp,
    sleepers: BTreeMap<(Timestamp, u64), oneshot::Sender<()>>,
    next: u64,
}

impl ManualClock {
    /// Returns a clock that stands at `now`.
    pub fn starting_at(now: Timestamp) -> Self {
        Self { state: Mutex::new(ManualClockState { now, sleepers: BTreeMap::new(), next: 0 }) }
    }

    /// Moves the time on and wakes whoever waited for it.
    pub fn advance(&self, period: Duration) {
        let mut state = self.lock();
        state.now = time_after(state.now, period);
        let reached = (state.now, u64::MAX);
        let later = state.sleepers.split_off(&reached);
        for (_, sleeper) in std::mem::replace(&mut state.sleepers, later) {
            // A sleeper that was dropped no longer wants to know.
            let _ = sleeper.send(());
        }
    }

    /// Returns how many wait for a later time.
    pub fn sleepers(&self) -> usize {
        let mut state = self.lock();
        state.sleepers.retain(|_, sleeper| !sleeper.is_closed());
        state.sleepers.len()
    }

    fn lock(&self) -> MutexGuard<'_, ManualClockState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_at(&self, until: Timestamp) -> Option<oneshot::Receiver<()>> {
        let mut state = self.lock();
        if until <= state.now {
            return None;
        }
        let (wake, woken) = oneshot::channel();
        state.next += 1;
        let key = (until, state.next);
        state.sleepers.insert(key, wake);
        Some(woken)
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.lock().now
    }

    fn running_for(&self) -> Duration {
        let since = self.lock().now.duration_since(Timestamp::UNIX_EPOCH);
        Duration::try_from(since).unwrap_or_default()
    }

    async fn sleep_until(&self, until: Timestamp) {
        if let Some(woken) = self.wake_at(until) {
            // An error means the clock is gone, and with it the time.
            let _ = woken.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_sleeper_wakes_when_its_time_has_come_and_not_before() {
        let clock = std::sync::Arc::new(ManualClock::starting_at(Timestamp::UNIX_EPOCH));
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move {
                clock.sleep(Duration::from_secs(10)).await;
                clock.now()
            }
        });
        while clock.sleepers() == 0 {
            tokio::task::yield_now().await;
        }
        clock.advance(Duration::from_secs(9));
        assert_eq!(clock.sleepers(), 1);
        clock.advance(Duration::from_secs(1));
        assert_eq!(
            sleeper.await.unwrap(),
            time_after(Timestamp::UNIX_EPOCH, Duration::from_secs(10))
        );
    }
}
