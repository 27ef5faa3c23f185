//! Hints by PostgreSQL's own LISTEN and NOTIFY.

use std::future::poll_fn;

use async_trait::async_trait;
use countersign_core::ProjectId;
use tokio::sync::mpsc;
use tokio_postgres::{AsyncMessage, Client, Config};

use super::{ChangeFeed, ChangeFeedError, SUBJECT, forward_hint};
use crate::feed_queue::FeedOutbox;
use crate::store::{StoreError, tls};

/// The database's own bus.
pub(crate) struct PostgresFeed {
    config: Config,
}

impl PostgresFeed {
    pub(crate) fn from_url(url: &str) -> Result<Self, StoreError> {
        let config = url.parse();
        let config = config.map_err(StoreError::bad_address)?;
        Ok(Self { config })
    }

    async fn try_carry(
        &self,
        to_tell: &FeedOutbox,
        heard: &mpsc::Sender<ProjectId>,
    ) -> Result<(), ChangeFeedError> {
        let (client, mut connection) = self.config.connect(tls::connector()?).await?;
        let listening = async {
            while let Some(message) = poll_fn(|task| connection.poll_message(task)).await {
                if let AsyncMessage::Notification(hint) = message? {
                    forward_hint(heard, hint.payload());
                }
            }
            Ok(())
        };
        tokio::select! {
            ended = listening => ended,
            failed = publish_hints(&client, to_tell) => failed,
            () = heard.closed() => Ok(()),
        }
    }
}

#[async_trait]
impl ChangeFeed for PostgresFeed {
    async fn carry(
        &self,
        to_tell: &FeedOutbox,
        heard: &mpsc::Sender<ProjectId>,
    ) -> ChangeFeedError {
        self.try_carry(to_tell, heard).await.err().unwrap_or(ChangeFeedError::Ended)
    }
}

async fn publish_hints(client: &Client, to_tell: &FeedOutbox) -> Result<(), ChangeFeedError> {
    client.batch_execute(&format!("LISTEN {SUBJECT}")).await?;
    loop {
        for project in to_tell.next().await {
            client.query("SELECT pg_notify($1, $2)", &[&SUBJECT, &project.as_str()]).await?;
        }
    }
}
