//! Hints by PostgreSQL's own LISTEN and NOTIFY.

use std::future::poll_fn;

use async_trait::async_trait;
use countersign_core::ProjectId;
use tokio::sync::mpsc;
use tokio_postgres::{AsyncMessage, Client, Config};

use super::{Bus, BusError, SUBJECT, hear};
use crate::hints::ToTell;
use crate::store::{StoreError, tls};

/// The database's own bus.
pub(crate) struct Notify {
    config: Config,
}

impl Notify {
    pub(crate) fn at(url: &str) -> Result<Self, StoreError> {
        let config = url.parse();
        let config = config.map_err(|error| StoreError::corrupt("database URL", error))?;
        Ok(Self { config })
    }

    async fn carried(
        &self,
        to_tell: &ToTell,
        heard: &mpsc::Sender<ProjectId>,
    ) -> Result<(), BusError> {
        let (client, mut connection) = self.config.connect(tls::connector()?).await?;
        let listening = async {
            while let Some(message) = poll_fn(|task| connection.poll_message(task)).await {
                if let AsyncMessage::Notification(hint) = message? {
                    hear(heard, hint.payload());
                }
            }
            Ok(())
        };
        tokio::select! {
            ended = listening => ended,
            failed = telling(&client, to_tell) => failed,
            () = heard.closed() => Ok(()),
        }
    }
}

#[async_trait]
impl Bus for Notify {
    async fn carry(&self, to_tell: &ToTell, heard: &mpsc::Sender<ProjectId>) -> BusError {
        self.carried(to_tell, heard).await.err().unwrap_or(BusError::Ended)
    }
}

async fn telling(client: &Client, to_tell: &ToTell) -> Result<(), BusError> {
    client.batch_execute(&format!("LISTEN {SUBJECT}")).await?;
    loop {
        for project in to_tell.next().await {
            client.query("SELECT pg_notify($1, $2)", &[&SUBJECT, &project.as_str()]).await?;
        }
    }
}
