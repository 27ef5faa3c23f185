//! The bus: what carries hints between servers. What it loses is found by looking at the log.

mod nats;
mod postgres;

use async_trait::async_trait;
use countersign_core::ProjectId;
use tokio::sync::mpsc;

use self::nats::Nats;
use self::postgres::Notify;
use crate::hints::ToTell;
use crate::open::Settings;
use crate::store::{DatabaseUrl, StoreError};

/// The name under which hints go.
const SUBJECT: &str = "countersign";

/// Why a bus no longer carries anything.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BusError {
    #[error("the connection ended")]
    Ended,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
    #[error("{0}")]
    Nats(String),
}

/// Something that carries hints.
#[async_trait]
pub(crate) trait Bus: Send + Sync + 'static {
    /// Carries hints both ways until the connection is lost or nobody hears any more.
    async fn carry(&self, to_tell: &ToTell, heard: &mpsc::Sender<ProjectId>) -> BusError;
}

/// Returns the bus that settings ask for; a database in a file needs none.
pub(crate) fn of(settings: &Settings) -> Result<Option<Box<dyn Bus>>, StoreError> {
    match (&settings.bus, &settings.database) {
        (Some(url), _) => Ok(Some(Box::new(Nats::at(url)))),
        (None, DatabaseUrl::Postgres(url)) => Ok(Some(Box::new(Notify::at(url)?))),
        (None, DatabaseUrl::Sqlite(_)) => Ok(None),
    }
}

/// Hands a hint on. One that finds no room is left to the next look.
fn hear(heard: &mpsc::Sender<ProjectId>, project: &str) {
    metrics::counter!("countersign_hints_heard_total").increment(1);
    let _ = heard.try_send(project.into());
}
