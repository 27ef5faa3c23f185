//! Who waits in this process for what a client says of a call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::ExecutionId;
use tokio::sync::Notify;

/// Who waits in this process for what a client says.
#[derive(Debug, Default)]
pub(crate) struct ClientLookWaiters(Mutex<HashMap<ExecutionId, Arc<Notify>>>);

/// A place to wait for one answer; gone when it is dropped.
pub(crate) struct ClientLookWaiter<'a> {
    looks: &'a ClientLookWaiters,
    id: ExecutionId,
    pub(crate) notify: Arc<Notify>,
}

impl ClientLookWaiters {
    /// Takes a place to wait for what a client says of a call.
    pub(crate) fn wait_for(&self, id: ExecutionId) -> ClientLookWaiter<'_> {
        let notify = self.lock().entry(id).or_default().clone();
        ClientLookWaiter { looks: self, id, notify }
    }

    /// Wakes whoever waits for what a client says of a call.
    pub(crate) fn wake(&self, id: ExecutionId) {
        if let Some(waiting) = self.lock().get(&id) {
            waiting.notify_one();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ExecutionId, Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ClientLookWaiter<'_> {
    fn drop(&mut self) {
        self.looks.lock().remove(&self.id);
    }
}
