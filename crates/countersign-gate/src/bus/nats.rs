//! Hints by NATS.

use async_trait::async_trait;
use countersign_core::ProjectId;
use futures_util::StreamExt;
use tokio::sync::mpsc;

use super::{Bus, BusError, SUBJECT, hear};
use crate::hints::ToTell;

/// A NATS server.
pub(crate) struct Nats {
    url: String,
}

impl Nats {
    pub(crate) fn at(url: &str) -> Self {
        Self { url: url.to_owned() }
    }

    async fn carried(
        &self,
        to_tell: &ToTell,
        heard: &mpsc::Sender<ProjectId>,
    ) -> Result<(), BusError> {
        // The client comes back by itself when the server was away.
        let client = async_nats::connect(&self.url).await.map_err(failed)?;
        let mut hints = client.subscribe(SUBJECT).await.map_err(failed)?;
        loop {
            tokio::select! {
                hint = hints.next() => match hint {
                    Some(hint) => hear(heard, &String::from_utf8_lossy(&hint.payload)),
                    None => return Err(BusError::Ended),
                },
                projects = to_tell.next() => for project in projects {
                    let payload = project.to_string().into();
                    client.publish(SUBJECT, payload).await.map_err(failed)?;
                },
                () = heard.closed() => return Ok(()),
            }
        }
    }
}

#[async_trait]
impl Bus for Nats {
    async fn carry(&self, to_tell: &ToTell, heard: &mpsc::Sender<ProjectId>) -> BusError {
        self.carried(to_tell, heard).await.err().unwrap_or(BusError::Ended)
    }
}

fn failed(error: impl std::fmt::Display) -> BusError {
    BusError::Nats(error.to_string())
}
