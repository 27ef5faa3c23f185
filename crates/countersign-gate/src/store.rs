//! The store: SQLite behind one writer and a few readers. The only place with SQL.
//!
//! Writes are closures that run on one thread. Those that wait together share one durable commit, so
//! many callers cost one fsync; each still succeeds or fails alone (a savepoint per closure). Readers
//! have their own connections and never wait for the writer.

mod approvals;
mod conversations;
mod diffs;
mod events;
mod projects;
mod readers;
mod rules;
mod sign_ins;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::ProjectId;
use jiff::Timestamp;
use rusqlite::Connection;
use rusqlite_migration::{M, Migrations};

pub use approvals::Transition;
pub use conversations::{NewRun, RunEnd, SessionRow};
pub use diffs::DiffLines;
pub use events::Entry;
pub use projects::Project;
use readers::Readers;
pub use rules::{Origin, StoredRule};
use writer::Writer;

/// Why the store did not do what was asked. Nothing was half done.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database itself said no: disk full, read-only, corrupt.
    #[error("the database could not be used")]
    Sqlite(#[from] rusqlite::Error),
    /// The file's schema could not be brought up to date.
    #[error("the database could not be brought up to date")]
    Migration(#[from] rusqlite_migration::Error),
    /// A row does not hold what it should.
    #[error("a stored {what} cannot be read")]
    Corrupt {
        /// What kind of thing.
        what: &'static str,
        /// Why not.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The data folder is not usable.
    #[error("the data folder could not be used")]
    Folder(#[source] std::io::Error),
    /// The store is shutting down.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    pub(crate) fn corrupt(
        what: &'static str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Corrupt { what, source: source.into() }
    }
}

/// Called on the writer's thread after each commit with the newest number of every log that grew.
pub(crate) type OnCommit = Arc<dyn Fn(&ProjectId, u64) + Send + Sync>;

/// The durable state of everything.
#[derive(Clone, Debug)]
pub struct Store {
    writer: Writer,
    readers: Readers,
}

impl Store {
    /// Opens the database in a file, makes it if it is not there, and brings it up to date.
    ///
    /// Blocks; call it before the server starts.
    pub(crate) fn open(file: &Path, on_commit: OnCommit) -> Result<Self, StoreError> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(StoreError::Folder)?;
        }
        make_private(file).map_err(StoreError::Folder)?;
        let connection = prepared(Connection::open(file)?)?;
        let readers = Readers::of_file(file);
        Ok(Self { writer: Writer::start(connection, on_commit)?, readers })
    }

    /// Opens a database that lives and dies with the process.
    pub(crate) fn in_memory(on_commit: OnCommit) -> Result<Self, StoreError> {
        let connection = prepared(Connection::open_in_memory()?)?;
        let writer = Writer::start(connection, on_commit)?;
        let readers = Readers::of_writer(writer.clone());
        Ok(Self { writer, readers })
    }
}

/// Makes the file, if it is not there, for its owner alone; SQLite's side files take after it.
fn make_private(file: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

/// Sets what every connection that writes must have, and migrates.
fn prepared(mut connection: Connection) -> Result<Connection, StoreError> {
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // FULL: a decision that was acknowledged survives a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Migrations::new(migrations()).to_latest(&mut connection)?;
    Ok(connection)
}

fn migrations() -> Vec<M<'static>> {
    vec![
        M::up(include_str!("store/migrations/0001_house.sql")),
        M::up(include_str!("store/migrations/0002_rules.sql")),
        M::up(include_str!("store/migrations/0003_diffs.sql")),
    ]
}

/// Writes a moment as the tables hold it: UTC, ISO 8601, always three decimals, so that text sorts.
pub(crate) fn iso(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Reads a moment as the tables hold it.
pub(crate) fn moment(text: &str) -> Result<Timestamp, StoreError> {
    text.parse().map_err(|error: jiff::Error| StoreError::corrupt("time", error))
}

/// Writes a value as JSON text.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::corrupt("value", error))
}

/// Reads a value from JSON text.
pub(crate) fn from_json<T: serde::de::DeserializeOwned>(
    what: &'static str,
    text: &str,
) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::corrupt(what, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database as the first version made it is brought up to date and keeps its rows.
    #[test]
    fn an_older_database_is_brought_up_to_date_and_keeps_its_rows() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gate.db");
        let mut old = Connection::open(&file).unwrap();
        Migrations::new(migrations().into_iter().take(1).collect()).to_latest(&mut old).unwrap();
        old.execute("INSERT INTO projects VALUES ('p', 'shop', '/shop', '1970')", []).unwrap();
        assert!(old.prepare("SELECT id FROM rules").is_err(), "it has no such table yet");
        drop(old);
        for _ in 0..2 {
            let db = prepared(Connection::open(&file).unwrap()).unwrap();
            let name: String =
                db.query_row("SELECT name FROM projects", [], |row| row.get(0)).unwrap();
            assert_eq!(name, "shop");
            assert!(db.prepare("SELECT id FROM rules").is_ok());
        }
    }
}
