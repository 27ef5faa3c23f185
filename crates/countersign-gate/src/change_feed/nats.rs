//! Hints by NATS.

use async_trait::async_trait;
use countersign_core::ProjectId;
use futures_util::StreamExt;
use tokio::sync::mpsc;

use super::{ChangeFeed, ChangeFeedError, SUBJECT, forward_hint};
use crate::feed_queue::FeedOutbox;

/// A NATS server.
pub(crate) struct NatsFeed {
    url: String,
}

impl NatsFeed {
    pub(crate) fn new(url: &str) -> Self {
        Self { url: url.to_owned() }
    }

    async fn try_carry(
        &self,
        to_tell: &FeedOutbox,
        heard: &mpsc::Sender<ProjectId>,
    ) -> Result<(), ChangeFeedError> {
        // The client comes back by itself when the server was away.
        let client = async_nats::connect(&self.url).await.map_err(nats_error)?;
        let mut hints = client.subscribe(SUBJECT).await.map_err(nats_error)?;
        loop {
            tokio::select! {
                hint = hints.next() => match hint {
                    Some(hint) => forward_hint(heard, &String::from_utf8_lossy(&hint.payload)),
                    None => return Err(ChangeFeedError::Ended),
                },
                projects = to_tell.next() => for project in projects {
                    let payload = project.to_string().into();
                    client.publish(SUBJECT, payload).await.map_err(nats_error)?;
                },
                () = heard.closed() => return Ok(()),
            }
        }
    }
}

#[async_trait]
impl ChangeFeed for NatsFeed {
    async fn carry(
        &self,
        to_tell: &FeedOutbox,
        heard: &mpsc::Sender<ProjectId>,
    ) -> ChangeFeedError {
        self.try_carry(to_tell, heard).await.err().unwrap_or(ChangeFeedError::Ended)
    }
}

fn nats_error(error: impl std::fmt::Display) -> ChangeFeedError {
    ChangeFeedError::Nats(error.to_string())
}
