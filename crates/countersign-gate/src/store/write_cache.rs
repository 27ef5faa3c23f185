//! Calls that were changed a moment ago, as they stand: whoever changes or reads them next need not
//! ask the database.
//!
//! Only where this process alone writes. Nothing is in here that is not committed.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::{ApprovalId, Execution};

/// How many calls are kept. With [`LONG`] that bounds the memory they take.
const MOST: usize = 512;

/// A call that is longer than this, as it is written down, is read when it is wanted.
pub(super) const LONG: usize = 16 * 1024;

/// A call as a commit has left it; none if it is to be read from the database.
pub(super) type WriteCacheUpdate = (ApprovalId, Option<Arc<Execution>>);

/// The calls, or none where others write, too.
#[derive(Default)]
pub(crate) struct WriteCache(Option<Mutex<CachedCalls>>);

#[derive(Default)]
struct CachedCalls {
    by_id: HashMap<ApprovalId, Arc<Execution>>,
    /// The same, the oldest first.
    order: VecDeque<ApprovalId>,
}

impl WriteCache {
    /// Returns a memory for a process that writes alone.
    pub(crate) fn for_sole_writer() -> Self {
        Self(Some(Mutex::default()))
    }

    /// Returns a call as it stands, if it is known.
    pub(crate) fn get(&self, id: ApprovalId) -> Option<Arc<Execution>> {
        lock(self.0.as_ref()?).by_id.get(&id).cloned()
    }

    /// Takes in what a commit has left.
    pub(super) fn put(&self, left: Vec<WriteCacheUpdate>) {
        let Some(calls) = &self.0 else { return };
        let mut calls = lock(calls);
        for (id, call) in left {
            match call {
                None => drop(calls.by_id.remove(&id)),
                Some(call) => {
                    if calls.by_id.insert(id, call).is_none() {
                        calls.order.push_back(id);
                    }
                }
            }
        }
        while calls.order.len() > MOST {
            if let Some(oldest) = calls.order.pop_front() {
                calls.by_id.remove(&oldest);
            }
        }
    }
}

fn lock(calls: &Mutex<CachedCalls>) -> MutexGuard<'_, CachedCalls> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}
