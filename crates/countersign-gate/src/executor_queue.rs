//! Where the clients of a project queue, in this process, to be the one that runs its calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::ProjectId;
use tokio::sync::watch;

/// Where the clients of each project queue, in this process.
#[derive(Debug, Default)]
pub(crate) struct ExecutorQueues {
    // Bounded by the projects there are.
    queues: Mutex<HashMap<ProjectId, Arc<ExecutorQueue>>>,
}

/// The clients of one project at this server, in the order in which they came.
#[derive(Debug)]
pub(crate) struct ExecutorQueue {
    line: Mutex<ExecutorQueueState>,
    /// Counts what changes in the line.
    pub(crate) moved: watch::Sender<u64>,
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
    /// Returns the queue of a project.
    pub(crate) fn queue(&self, project: &ProjectId) -> Arc<ExecutorQueue> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(ExecutorQueue { line: Mutex::default(), moved: watch::channel(0).0 });
        queues.entry(project.clone()).or_insert_with(new).clone()
    }
}

impl ExecutorQueue {
    /// Takes the last place.
    pub(crate) fn join(self: &Arc<Self>, is_named: bool) -> QueuePosition {
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
pub(crate) struct QueuePosition {
    pub(crate) queue: Arc<ExecutorQueue>,
    ticket: QueueTicket,
}

impl QueuePosition {
    /// Takes the role if it is free and nobody goes before; returns whether it was taken.
    pub(crate) fn try_take(&self) -> bool {
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
    pub(crate) fn must_yield(&self) -> bool {
        !self.ticket.is_named && self.queue.lock().waiting.iter().any(|ticket| ticket.is_named)
    }

    /// Puts a role that has to wait for another server back into the line, unless it has it already.
    pub(crate) fn give_back(&self) {
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
