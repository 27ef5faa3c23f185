//! The bus: what carries hints between servers. What it loses is found by looking at the log.

#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "postgres")]
mod postgres;

use async_trait::async_trait;
use countersign_core::ProjectId;
use tokio::sync::mpsc;

#[cfg(feature = "nats")]
use self::nats::NatsFeed;
#[cfg(feature = "postgres")]
use self::postgres::PostgresFeed;
use crate::feed_queue::FeedOutbox;
use crate::settings::GateSettings;
use crate::store::{DatabaseUrl, StoreError};

/// The name under which hints go.
#[cfg(any(feature = "nats", feature = "postgres"))]
const SUBJECT: &str = "countersign";

/// Why a bus no longer carries anything.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeFeedError {
    #[cfg(any(feature = "nats", feature = "postgres"))]
    #[error("the connection ended")]
    Ended,
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Store(#[from] StoreError),
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
    #[cfg(feature = "nats")]
    #[error("{0}")]
    Nats(String),
}

/// Something that carries hints.
#[async_trait]
pub(crate) trait ChangeFeed: Send + Sync + 'static {
    /// Carries hints both ways until the connection is lost or nobody hears any more.
    async fn carry(&self, to_tell: &FeedOutbox, heard: &mpsc::Sender<ProjectId>)
    -> ChangeFeedError;
}

/// Returns the bus that settings ask for; a database in a file needs none.
pub(crate) fn from_settings(
    settings: &GateSettings,
) -> Result<Option<Box<dyn ChangeFeed>>, StoreError> {
    match (&settings.bus, &settings.database) {
        #[cfg(feature = "nats")]
        (Some(url), _) => Ok(Some(Box::new(NatsFeed::new(url)))),
        #[cfg(not(feature = "nats"))]
        (Some(_), _) => Err(StoreError::LeftOut { what: "NATS", feature: "nats" }),
        #[cfg(feature = "postgres")]
        (None, DatabaseUrl::Postgres(url)) => Ok(Some(Box::new(PostgresFeed::from_url(url)?))),
        #[cfg(not(feature = "postgres"))]
        (None, DatabaseUrl::Postgres(_)) => Err(StoreError::NO_POSTGRES),
        (None, DatabaseUrl::Sqlite(_)) => Ok(None),
    }
}

/// Hands a hint on. One that finds no room is left to the next look.
#[cfg(any(feature = "nats", feature = "postgres"))]
fn forward_hint(heard: &mpsc::Sender<ProjectId>, project: &str) {
    metrics::counter!("countersign_hints_heard_total").increment(1);
    let _ = heard.try_send(project.into());
}
