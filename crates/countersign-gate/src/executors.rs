//! The executor of a project: of all clients that could run its calls, the one that does.
//!
//! Who comes first has the role until it goes. Within a server they queue; between servers a row says
//! whose it is, which counts as long as that server is there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_core::ProjectId;
use tokio::sync::{Mutex as Queue, OwnedMutexGuard};

use crate::gate::{Gate, new_id};
use crate::store::{Post, StoreError};

/// How often to look whether a client at another server has gone.
const LOOK: Duration = Duration::from_secs(2);

/// Where the clients of each project queue, in this process.
#[derive(Debug, Default)]
pub(crate) struct Executors {
    // Bounded by the projects there are.
    queues: Mutex<HashMap<ProjectId, Arc<Queue<()>>>>,
}

impl Executors {
    fn queue(&self, project: &ProjectId) -> Arc<Queue<()>> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.entry(project.clone()).or_default().clone()
    }
}

/// The role of the one that runs a project's calls; given up when it is dropped.
pub struct Role {
    gate: Gate,
    post: Post,
    // Held until the row is gone, so that the next in the queue finds none.
    place: Option<OwnedMutexGuard<()>>,
}

impl Role {
    /// Returns the project.
    pub fn project(&self) -> &ProjectId {
        &self.post.project
    }

    /// Returns the client that has the role.
    pub fn client(&self) -> &str {
        &self.post.client
    }

    pub(crate) fn post(&self) -> Post {
        self.post.clone()
    }
}

impl Gate {
    /// Waits until a client is the one that runs the calls of a project.
    ///
    /// Dropping the future leaves the queue.
    pub async fn executor_role(
        &self,
        project: &ProjectId,
        client: &str,
    ) -> Result<Role, StoreError> {
        let place = self.inner().executors.queue(project).lock_owned().await;
        let stream = new_id::<uuid::Uuid>().to_string();
        let post = Post { project: project.clone(), client: client.to_owned(), stream };
        // From here on a drop gives up what may have been taken.
        let role = Role { gate: self.clone(), post, place: Some(place) };
        let clock = &self.inner().clock;
        while !self.inner().store.take_post(role.post(), clock.now()).await? {
            clock.sleep(LOOK).await;
        }
        Ok(role)
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        // Without a runtime the process is ending, and its row counts for nothing.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (gate, post, place) = (self.gate.clone(), self.post.clone(), self.place.take());
        runtime.spawn(async move {
            if let Err(error) = gate.inner().store.leave_post(post).await {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "a client's role could not be given up");
            }
            drop(place);
        });
    }
}
