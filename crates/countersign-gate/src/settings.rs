//! What a gate is opened with.

use std::path::PathBuf;
use std::time::Duration;

use crate::store::DatabaseUrl;
use crate::timeouts::DecisionTimeouts;

/// What a gate is opened with. Not to be printed: what carries hints may be named with a password.
#[derive(Clone)]
pub struct GateSettings {
    /// Where it keeps everything.
    pub database: DatabaseUrl,
    /// How long people have to decide.
    pub timeouts: DecisionTimeouts,
    /// How many requests of one project may wait at the same time.
    pub pending_limit: u64,
    /// A folder that one server at a time can hold: who holds it next knows that the one before is dead.
    pub place: Option<PathBuf>,
    /// What carries hints between servers, if not the database itself.
    pub bus: Option<String>,
    /// How long the log is kept; for good where it is not given.
    pub keep_events: Option<Duration>,
}

impl GateSettings {
    /// How many requests of one project may wait unless something else is said.
    pub const PENDING_LIMIT: u64 = 10_000;

    /// Returns the defaults for a database.
    pub fn for_database(database: DatabaseUrl) -> Self {
        Self {
            database,
            timeouts: DecisionTimeouts::default(),
            pending_limit: Self::PENDING_LIMIT,
            place: None,
            bus: None,
            keep_events: None,
        }
    }
}
