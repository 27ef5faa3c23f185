//! The queue between the writer, which says that a log has grown, and the bus, which tells others.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::ProjectId;
use tokio::sync::Notify;

/// The projects whose logs have grown here and that others have not been told of yet. Bounded by the
/// number of projects.
#[derive(Default)]
struct GrownLogs {
    projects: Mutex<HashSet<ProjectId>>,
    more: Notify,
}

/// Where the writer says that a log has grown.
pub(crate) struct FeedPublisher(Arc<GrownLogs>);

/// Where the bus takes what is to be told.
#[cfg_attr(
    not(any(feature = "nats", feature = "postgres")),
    expect(dead_code, reason = "only a bus takes from it")
)]
pub(crate) struct FeedOutbox(Arc<GrownLogs>);

/// Returns both ends of the queue.
pub(crate) fn feed_queue() -> (FeedPublisher, FeedOutbox) {
    let grown = Arc::new(GrownLogs::default());
    (FeedPublisher(grown.clone()), FeedOutbox(grown))
}

impl FeedPublisher {
    pub(crate) fn publish(&self, project: &ProjectId) {
        let mut projects = self.0.projects.lock().unwrap_or_else(PoisonError::into_inner);
        projects.insert(project.clone());
        self.0.more.notify_one();
    }
}

#[cfg(any(feature = "nats", feature = "postgres"))]
impl FeedOutbox {
    /// Returns what is to be told; waits until there is something.
    pub(crate) async fn next(&self) -> Vec<ProjectId> {
        loop {
            let more = self.0.more.notified();
            let projects = {
                let mut projects = self.0.projects.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::take(&mut *projects)
            };
            if !projects.is_empty() {
                return projects.into_iter().collect();
            }
            more.await;
        }
    }
}
