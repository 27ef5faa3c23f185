//! What the listeners of a project's stream share: finished frames, over a channel of bounded length.
//!
//! Who is too slow for it misses some, and reads those from the log at its own pace.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use countersign_core::{ExecutionId, ProjectId, SessionId};
use tokio::sync::{broadcast, watch};

/// How many frames a listener may be behind before it has to catch up from the log: bounds what one
/// that reads nothing keeps in memory.
const BEHIND: usize = 256;

/// One event, ready to be sent.
#[derive(Debug)]
pub(crate) struct StreamFrame {
    /// Its number in the log; what is live has none.
    pub(crate) seq: Option<u64>,
    pub(crate) session: Option<SessionId>,
    /// The only client it is for.
    pub(crate) holder: Option<String>,
    /// The call that it tells of, where it tells of one that may run elsewhere.
    pub(crate) execution: Option<ExecutionId>,
    /// As it goes over the wire; nothing where the entry is not told.
    pub(crate) bytes: Bytes,
}

/// The hubs of all projects.
#[derive(Default)]
pub(crate) struct StreamHubs(Mutex<HashMap<ProjectId, Arc<StreamHub>>>);

/// What the listeners of one project share.
pub(crate) struct StreamHub {
    frames: broadcast::Sender<Arc<StreamFrame>>,
    /// The number up to which everything was handed on. Locked while it is, so that who joins knows
    /// exactly what it still has to read.
    handed: Mutex<u64>,
    /// Counts what may have left a call for a client to run.
    approved: watch::Sender<u64>,
}

impl StreamHubs {
    /// Returns the hub of a project, if somebody has listened before.
    pub(crate) fn find(&self, project: &ProjectId) -> Option<Arc<StreamHub>> {
        self.lock().get(project).cloned()
    }

    /// Returns the hub of a project and whether it is new: then its log has to be followed from `head`.
    pub(crate) fn find_or_insert(&self, project: &ProjectId, head: u64) -> (Arc<StreamHub>, bool) {
        let mut hubs = self.lock();
        // Two may come to this at the same time: the first one's stays.
        if let Some(hub) = hubs.get(project) {
            return (hub.clone(), false);
        }
        let hub = Arc::new(StreamHub::new(head));
        hubs.insert(project.clone(), hub.clone());
        (hub, true)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProjectId, Arc<StreamHub>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StreamHub {
    fn new(head: u64) -> Self {
        let frames = broadcast::channel(BEHIND).0;
        Self { frames, handed: Mutex::new(head), approved: watch::channel(0).0 }
    }

    /// Says that there may be a call now for a client to run.
    pub(crate) fn notify_approval(&self) {
        self.approved.send_modify(|count| *count += 1);
    }

    /// Joins: returns what comes from now on, and the number after which that begins.
    pub(crate) fn join(&self) -> (broadcast::Receiver<Arc<StreamFrame>>, u64) {
        let handed = self.lock();
        (self.frames.subscribe(), *handed)
    }

    /// Returns what changes when there may be a call for a client to run.
    pub(crate) fn subscribe_approvals(&self) -> watch::Receiver<u64> {
        self.approved.subscribe()
    }

    /// Returns the number up to which everything was handed on.
    pub(crate) fn last_published_seq(&self) -> u64 {
        *self.lock()
    }

    /// Passes over an entry that nobody listens for; returns whether that is so.
    pub(crate) fn skip_without_listeners(&self, seq: u64) -> bool {
        let mut handed = self.lock();
        let nobody = self.frames.receiver_count() == 0;
        if nobody {
            *handed = seq;
        }
        nobody
    }

    pub(crate) fn publish(&self, frame: StreamFrame) {
        let mut handed = self.lock();
        *handed = frame.seq.unwrap_or(*handed);
        // Nobody there any more is fine: the log keeps it.
        let _ = self.frames.send(Arc::new(frame));
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
