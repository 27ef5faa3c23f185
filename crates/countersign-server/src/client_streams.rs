//! The streams of clients that run calls.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use countersign_core::ProjectId;
use tokio_util::sync::CancellationToken;

/// How long a lease holds that a client renews.
pub(crate) const SHORT_LEASE: Duration = Duration::from_secs(30);

/// The streams of clients that named themselves, each with what ends it.
#[derive(Default)]
pub(crate) struct ClientStreams(Mutex<HashMap<(ProjectId, String), CancellationToken>>);

impl ClientStreams {
    /// Notes the stream of a client, and ends the one it had before.
    pub(crate) fn replace(&self, project: &ProjectId, name: &str) -> CancellationToken {
        let mut streams = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|_, ended| !ended.is_cancelled());
        let ended = CancellationToken::new();
        let key = (project.clone(), name.to_owned());
        if let Some(before) = streams.insert(key, ended.clone()) {
            before.cancel();
        }
        ended
    }
}
