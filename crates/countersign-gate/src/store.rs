//! The store: one writer and a few readers over SQLite or PostgreSQL. The only place with SQL.
//!
//! Writes are functions that run on one thread. Those that wait together share one durable commit, so
//! many callers cost one fsync; each still succeeds or fails alone. Readers have their own
//! connections and never wait for the writer. What the two databases have in common is in
//! `database`; all else is written once.

mod approvals;
mod audit;
mod changes;
mod clear_messages;
mod client_looks;
mod conversation_repair;
mod conversations;
mod database;
mod diffs;
mod error;
mod events;
mod executors;
mod lock;
mod masking;
mod message_masking;
#[cfg(feature = "postgres")]
mod postgres;
mod projects;
mod raw_writes;
mod readers;
mod rules;
mod run_record;
mod runs;
#[cfg(feature = "identity")]
mod server_keys;
mod servers;
mod sessions;
mod sign_ins;
mod sqlite;
mod tokens;
mod value;
mod write_cache;
mod write_txn;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use countersign_core::ProjectId;
use jiff::Timestamp;

pub use approvals::{ExecutionFilter, Transition};
pub(crate) use approvals::{InsertOutcome, StartOutcome};
pub use audit::{
    AuditAction, AuditChainBreak, AuditReport, AuditRow, CallAuditAction, ChainEnd, MaskedCall,
};
pub use changes::{ChangedFiles, UndoTarget};
pub use client_looks::ConnectedExecutor;
pub use conversation_repair::{ConversationRepair, repair_conversation};
pub use conversations::{MessageRow, RecordedMessage};
use database::{SqlConnection, SqlDatabase};
pub use diffs::DiffLines;
pub use error::StoreError;
pub use events::LogEntry;
pub(crate) use executors::{ExecutorStream, LendOutcome};
pub(crate) use lock::FileLock;
#[cfg(feature = "postgres")]
use postgres::PostgresDatabase;
#[cfg(feature = "postgres")]
pub(crate) use postgres::tls;
pub use projects::{LastProjectChange, Project, ProjectSettings, StoredProject};
pub use raw_writes::measure_raw_writes;
use readers::StoreReaders;
pub(crate) use rules::read_rules;
pub use rules::{StoredRule, StoredRuleOrigin};
pub(crate) use run_record::RunKey;
pub use run_record::{NewRun, NewRunMessage, OrphanedRun, RunEnd};
#[cfg(feature = "identity")]
pub(crate) use server_keys::read_public_key;
pub(crate) use servers::ServerHeartbeat;
pub use sessions::SessionRow;
pub use sign_ins::PageSignIn;
use sqlite::SqliteDatabase;
pub(crate) use sqlite::open_read_only;
pub use tokens::{ApiToken, TokenRole};
use value::values;
use write_cache::WriteCache;
use writer::{ServerFence, StoreWriter};

use crate::clock::Clock;

/// Where a database is.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// In a file, for one server.
    Sqlite(PathBuf),
    /// On a server, for as many as there are.
    Postgres(String),
}

impl FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(url: &str) -> Result<Self, Self::Err> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            return Ok(Self::Sqlite(path.into()));
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Self::Postgres(url.to_owned()));
        }
        Err("a database is `sqlite:PATH` or `postgres://USER@HOST/NAME`".to_owned())
    }
}

impl fmt::Display for DatabaseUrl {
    /// Without what opens the door.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(file) => write!(f, "sqlite:{}", file.display()),
            Self::Postgres(url) => {
                let place = url.split_once("://").map_or("", |(_, rest)| rest);
                let place = place.split('?').next().unwrap_or_default();
                let place = place.rsplit_once('@').map_or(place, |(_, host)| host);
                write!(f, "postgres://{place}")
            }
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Called on the writer's thread after each commit with the newest number of every log that grew.
pub(crate) type CommitHook = Arc<dyn Fn(&ProjectId, u64) + Send + Sync>;

/// The durable state of everything.
#[derive(Clone)]
pub struct Store {
    writer: StoreWriter,
    readers: StoreReaders,
    fresh: Arc<WriteCache>,
    /// Whether other servers may be writing, too.
    shared: bool,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Store")
    }
}

impl Store {
    /// Opens the database, makes it if it is not there, and brings it up to date. Blocks.
    ///
    /// `alone` says that nobody else writes to it as long as it is open.
    pub(crate) fn open(
        url: &DatabaseUrl,
        alone: bool,
        clock: Arc<dyn Clock>,
        on_commit: CommitHook,
    ) -> Result<Self, StoreError> {
        let database = find_database(url)?;
        database.migrate()?;
        masking::mask_existing_records(database.as_ref(), clock.now())?;
        let shared = database.is_shared();
        let signature = ServerFence::new(clock);
        let connection = database.writer()?;
        let fresh =
            Arc::new(if alone { WriteCache::for_sole_writer() } else { WriteCache::default() });
        let again = Some(database.clone());
        let writer = StoreWriter::start(connection, again, signature, fresh.clone(), on_commit)?;
        Ok(Self { writer, readers: StoreReaders::for_database(database), fresh, shared })
    }

    /// Opens a database that lives and dies with the process.
    pub(crate) fn in_memory(
        clock: Arc<dyn Clock>,
        on_commit: CommitHook,
    ) -> Result<Self, StoreError> {
        let signature = ServerFence::new(clock);
        let fresh = Arc::new(WriteCache::for_sole_writer());
        let memory = SqliteDatabase::in_memory()?;
        let writer = StoreWriter::start(memory, None, signature, fresh.clone(), on_commit)?;
        let readers = StoreReaders::for_writer(writer.clone());
        Ok(Self { writer, readers, fresh, shared: false })
    }

    /// Writes a copy of a database that is a file, as it is at one moment, for its owner alone.
    pub async fn copy_to(&self, file: &Path) -> Result<(), StoreError> {
        sqlite::make_private(file).map_err(StoreError::folder)?;
        let file = file.to_string_lossy().into_owned();
        let copy = move |db: &mut dyn SqlConnection| db.execute("VACUUM INTO $1", values![&file]);
        self.readers.read_without_timeout(copy).await.map(drop)
    }

    /// Returns how many durable commits there were.
    pub fn commits(&self) -> u64 {
        self.writer.commits()
    }

    /// Returns whether other servers may be writing, too.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }
}

/// Returns the database at an address. Nothing is opened yet.
fn find_database(url: &DatabaseUrl) -> Result<Arc<dyn SqlDatabase>, StoreError> {
    match url {
        DatabaseUrl::Sqlite(file) => Ok(Arc::new(SqliteDatabase::new(file))),
        #[cfg(feature = "postgres")]
        DatabaseUrl::Postgres(url) => Ok(Arc::new(PostgresDatabase::from_url(url)?)),
        #[cfg(not(feature = "postgres"))]
        DatabaseUrl::Postgres(_) => Err(StoreError::NO_POSTGRES),
    }
}

/// Writes a moment as texts hold it: UTC, ISO 8601, always three decimals, so that text sorts.
pub(crate) fn to_iso(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Writes a value as JSON text.
pub(crate) fn to_json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::unwritable("value", error))
}

/// Reads a value from JSON text.
pub(crate) fn from_json<T: serde::de::DeserializeOwned>(
    what: &'static str,
    text: &str,
) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::corrupt(what, error))
}
