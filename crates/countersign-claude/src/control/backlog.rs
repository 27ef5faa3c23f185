//! What was read from the CLI and not yet by the caller.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

/// How much may be unread before whoever reads is let to catch up.
const PLENTY: usize = 1024 * 1024;

/// How much may still be unread once they have.
const EASED: usize = PLENTY / 2;

/// How long that may take: a caller that reads at all is done much sooner.
const MOMENT: Duration = Duration::from_millis(10);

/// What was read from the CLI and not yet by the caller, over all turns of a session.
///
/// The CLI is read ahead of the caller, since a full pipe would hold up its permission requests too.
/// So a caller that does not read costs memory: here is how much. One that reads is given a moment
/// now and then, and has about a megabyte before it.
#[derive(Debug)]
pub struct MessageBacklog {
    messages: AtomicUsize,
    bytes: AtomicUsize,
    dropped: AtomicU64,
    limit: usize,
    eased: Notify,
}

impl MessageBacklog {
    pub(crate) fn new(limit: usize) -> Self {
        let messages = AtomicUsize::new(0);
        let (bytes, dropped) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { messages, bytes, dropped, limit, eased: Notify::new() }
    }

    /// Returns how many messages wait.
    pub fn messages(&self) -> usize {
        self.messages.load(Ordering::Relaxed)
    }

    /// Returns how many bytes they had on the wire.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns how many partial messages were dropped because too much waited.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, bytes: usize) {
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn remove(&self, bytes: usize) {
        self.messages.fetch_sub(1, Ordering::Relaxed);
        let before = self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        if before > EASED && before - bytes <= EASED {
            self.eased.notify_one();
        }
    }

    /// Waits a moment for whoever reads to catch up; returns whether they did.
    async fn wait_until_drained(&self) -> bool {
        let eased = async {
            while self.bytes() > EASED {
                self.eased.notified().await;
            }
        };
        timeout(MOMENT, eased).await.is_ok()
    }

    /// Whether a partial message is to be dropped; counts it if so.
    pub(super) fn should_drop_partial(&self) -> bool {
        let full = self.bytes() >= self.limit;
        if full {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        full
    }
}

/// How the task that reads from the CLI treats whoever reads its messages.
///
/// It is faster than they are, so a long stream would pile up in memory even before one who does
/// nothing but read. It waits for them, but only if that helps: permission requests come by the
/// same pipe.
pub(super) struct BacklogPacer {
    plenty: usize,
}

impl BacklogPacer {
    pub(super) fn new() -> Self {
        Self { plenty: PLENTY }
    }

    /// Waits where much is unread. Where that was in vain it waits again at twice as much: before
    /// somebody who does not read, a few moments in all.
    pub(super) async fn wait_for_reader(&mut self, backlog: &MessageBacklog) {
        let unread = backlog.bytes();
        if unread <= PLENTY {
            self.plenty = PLENTY;
        } else if unread > self.plenty && !backlog.wait_until_drained().await {
            self.plenty = backlog.bytes().saturating_mul(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::poll;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn whoever_reads_is_waited_for_until_little_is_unread() {
        let (backlog, mut patience) = (MessageBacklog::new(usize::MAX), BacklogPacer::new());
        let before = Instant::now();
        (0..3).for_each(|_| backlog.add(EASED));
        let mut waits = pin!(patience.wait_for_reader(&backlog));
        assert!(poll!(&mut waits).is_pending());
        backlog.remove(EASED);
        assert!(poll!(&mut waits).is_pending());
        backlog.remove(EASED);
        waits.await;
        assert_eq!(before.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_does_not_read_is_waited_for_a_few_moments_in_all() {
        let (backlog, mut patience) = (MessageBacklog::new(usize::MAX), BacklogPacer::new());
        let before = Instant::now();
        for _ in 0..256 {
            backlog.add(PLENTY);
            patience.wait_for_reader(&backlog).await;
        }
        assert!(before.elapsed() < MOMENT * 10, "{:?}", before.elapsed());
    }
}
