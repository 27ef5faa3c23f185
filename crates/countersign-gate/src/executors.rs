//! The executor of a project: of all clients that could run its calls, the one that does.
//!
//! Who comes first has the role until it goes; a client that named itself goes before one that did not.
//! Within a server they queue; between servers a row says whose it is, which counts as long as that
//! server is there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_core::ProjectId;
use tokio::sync::watch;

use crate::gate::{Gate, new_id};
use crate::store::{ExecutorStream, StoreError};

/// How often to look whether a client at another server has gone, or has taken over.
const LOOK: Duration = Duration::from_secs(2);

/// Where the clients of each project queue, in this process.
#[derive(Debug, Default)]
pub(crate) struct ExecutorQueues {
    // Bounded by the projects there are.
    queues: Mutex<HashMap<ProjectId, Arc<ExecutorQueue>>>,
}

/// The clients of one project at this server, in the order in which they came.
#[derive(Debug)]
struct ExecutorQueue {
    line: Mutex<ExecutorQueueState>,
    /// Counts what changes in the line.
    moved: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct ExecutorQueueState {
    next: u64,
    waiting: Vec<QueueTicket>,
    has_role: Option<QueueTicket>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct QueueTicket {
    number: u64,
    is_named: bool,
}

impl ExecutorQueues {
    fn queue(&self, project: &ProjectId) -> Arc<ExecutorQueue> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(ExecutorQueue { line: Mutex::default(), moved: watch::channel(0).0 });
        queues.entry(project.clone()).or_insert_with(new).clone()
    }
}

impl ExecutorQueue {
    fn join(self: &Arc<Self>, is_named: bool) -> QueuePosition {
        let mut line = self.lock();
        let ticket = QueueTicket { number: line.next, is_named };
        line.next += 1;
        line.waiting.push(ticket);
        drop(line);
        self.notify_watchers();
        QueuePosition { queue: self.clone(), ticket }
    }

    fn lock(&self) -> MutexGuard<'_, ExecutorQueueState> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify_watchers(&self) {
        self.moved.send_modify(|count| *count += 1);
    }
}

/// A place in the line, or the role; given up when it is dropped.
#[derive(Debug)]
struct QueuePosition {
    queue: Arc<ExecutorQueue>,
    ticket: QueueTicket,
}

impl QueuePosition {
    /// Takes the role if it is free and nobody goes before; returns whether it was taken.
    fn try_take(&self) -> bool {
        let mut line = self.queue.lock();
        let rank = |ticket: &&QueueTicket| (!ticket.is_named, ticket.number);
        let is_first = line.waiting.iter().min_by_key(rank) == Some(&self.ticket);
        if line.has_role.is_some() || !is_first {
            return false;
        }
        line.waiting.retain(|ticket| *ticket != self.ticket);
        line.has_role = Some(self.ticket);
        true
    }

    /// Returns whether one that named itself waits for a role that one without a name has.
    fn must_yield(&self) -> bool {
        !self.ticket.is_named && self.queue.lock().waiting.iter().any(|ticket| ticket.is_named)
    }

    /// Puts a role that has to wait for another server back into the line, unless it has it already.
    fn give_back(&self) {
        let mut line = self.queue.lock();
        line.has_role = None;
        line.waiting.push(self.ticket);
        drop(line);
        self.queue.notify_watchers();
    }
}

impl Drop for QueuePosition {
    fn drop(&mut self) {
        let mut line = self.queue.lock();
        line.waiting.retain(|ticket| *ticket != self.ticket);
        if line.has_role == Some(self.ticket) {
            line.has_role = None;
        }
        drop(line);
        self.queue.notify_watchers();
    }
}

/// A client that would run the calls of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorCandidate {
    /// The name under which calls are lent to it.
    pub client: String,
    /// Whether it named itself: it then goes before one that did not.
    pub is_named: bool,
    /// Whether it says what is on its machine when it is asked.
    pub shows_files: bool,
}

/// The role of the one that runs a project's calls; given up when it is dropped.
pub struct ExecutorLease {
    gate: Gate,
    post: ExecutorStream,
    // Held until the row is gone, so that the next in the queue finds none.
    place: Option<QueuePosition>,
}

impl ExecutorLease {
    /// Returns the project.
    pub fn project(&self) -> &ProjectId {
        &self.post.project
    }

    /// Returns the client that has the role.
    pub fn client(&self) -> &str {
        &self.post.client
    }

    /// Returns whether the client checks what it was shown with before it runs a call.
    pub(crate) fn shows_files(&self) -> bool {
        self.post.shows_files
    }

    pub(crate) fn stream(&self) -> ExecutorStream {
        self.post.clone()
    }

    /// Returns when another client has to get the role, or has it already.
    pub async fn wait_until_lost(&self) {
        let Some(place) = &self.place else { return };
        let mut moved = place.queue.moved.subscribe();
        let clock = &self.gate.inner().clock;
        loop {
            if place.must_yield() {
                return;
            }
            tokio::select! {
                _ = moved.changed() => {}
                () = clock.sleep(LOOK) => {
                    let stands = self.gate.inner().store.holds_executor_lease(self.post.clone()).await;
                    if !stands.unwrap_or(true) {
                        return;
                    }
                }
            }
        }
    }
}

impl Gate {
    /// Waits until a client is the one that runs the calls of a project. `stands_by` is called if
    /// another one is.
    ///
    /// Dropping the future leaves the queue.
    pub async fn acquire_executor_lease(
        &self,
        project: &ProjectId,
        candidate: &ExecutorCandidate,
        stands_by: impl Fn(),
    ) -> Result<ExecutorLease, StoreError> {
        let queue = self.inner().executors.queue(project);
        let mut moved = queue.moved.subscribe();
        let place = queue.join(candidate.is_named);
        let stream = new_id::<uuid::Uuid>().to_string();
        let ExecutorCandidate { client, is_named, shows_files } = candidate.clone();
        let post =
            ExecutorStream { project: project.clone(), client, stream, is_named, shows_files };
        let clock = &self.inner().clock;
        // From here on a drop gives up what may have been taken.
        let role = ExecutorLease { gate: self.clone(), post, place: Some(place) };
        loop {
            moved.mark_unchanged();
            if role.place.as_ref().is_none_or(QueuePosition::try_take) {
                if self.inner().store.take_executor_lease(role.stream(), clock.now()).await? {
                    return Ok(role);
                }
                stands_by();
                role.place.iter().for_each(QueuePosition::give_back);
                clock.sleep(LOOK).await;
            } else {
                stands_by();
                let _ = moved.changed().await;
            }
        }
    }
}

impl Drop for ExecutorLease {
    fn drop(&mut self) {
        // Without a runtime the process is ending, and its row counts for nothing.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (gate, post, place) = (self.gate.clone(), self.post.clone(), self.place.take());
        runtime.spawn(async move {
            if let Err(error) = gate.inner().store.release_executor_lease(post).await {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "a client's role could not be given up");
            }
            drop(place);
        });
    }
}
