//! Waiting: who waits for which decision in this process.
//!
//! A wake-up is a hint to look at the store again, never the answer itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::ApprovalId;
use tokio::sync::Notify;

/// The places where callers wait, one per approval that somebody waits for.
#[derive(Debug, Default)]
pub(crate) struct DecisionWaiters {
    // A plain mutex: held for a map operation, never across an await.
    places: Mutex<HashMap<ApprovalId, Arc<Notify>>>,
}

/// A place to wait; gone when the last who waits there has gone.
pub(crate) struct DecisionWaiter<'a> {
    waiting: &'a DecisionWaiters,
    id: ApprovalId,
    pub(crate) changed: Arc<Notify>,
}

impl DecisionWaiters {
    /// Takes a place. Take it before looking at the store, so that no change slips between.
    pub(crate) fn register(&self, id: ApprovalId) -> DecisionWaiter<'_> {
        let changed = self.lock().entry(id).or_default().clone();
        DecisionWaiter { waiting: self, id, changed }
    }

    /// Wakes everyone who waits for an approval.
    pub(crate) fn wake(&self, id: ApprovalId) {
        if let Some(place) = self.lock().get(&id) {
            place.notify_waiters();
        }
    }

    /// Wakes everyone.
    pub(crate) fn wake_all(&self) {
        self.lock().values().for_each(|place| place.notify_waiters());
    }

    /// Returns whether nobody waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ApprovalId, Arc<Notify>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DecisionWaiter<'_> {
    fn drop(&mut self) {
        let mut places = self.waiting.lock();
        // Two: the map's and ours. Taken and dropped under the lock, so the count is true.
        if places.get(&self.id).is_some_and(|place| Arc::strong_count(place) <= 2) {
            places.remove(&self.id);
        }
    }
}
