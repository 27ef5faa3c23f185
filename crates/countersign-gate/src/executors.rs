//! The executor of a project: of all clients that could run its calls, the one that does.
//!
//! Who comes first has the role until it goes; a client that named itself goes before one that did not.
//! Within a server they queue; between servers a row says whose it is, which counts as long as that
//! server is there.

use std::time::Duration;

use countersign_core::ProjectId;

use crate::executor_queue::QueuePosition;
use crate::gate::Gate;
use crate::new_id::new_id;
use crate::store::{ExecutorStream, StoreError};

/// How often to look whether a client at another server has gone, or has taken over.
const LOOK: Duration = Duration::from_secs(2);

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
