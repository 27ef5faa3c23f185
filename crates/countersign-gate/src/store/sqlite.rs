//! SQLite: embedded, one file, one server.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, OpenFlags, ToSql};
use rusqlite_migration::{M, Migrations};

use super::database::{SqlConnection, SqlDatabase};
use super::value::{SqlCell, SqlRow, SqlValue};
use super::{StoreError, to_iso};

/// How long a statement waits for whoever holds the file.
const BUSY: Duration = Duration::from_secs(5);

/// How long the end of a checkpoint waits for those who read.
const SCRUB: Duration = Duration::from_millis(200);

/// How many statements a connection keeps prepared.
const PREPARED: usize = 96;

/// How long one that only takes a glance waits: somebody waits for it in turn.
const GLANCE: Duration = Duration::from_millis(250);

/// A database in a file.
#[derive(Clone)]
pub(crate) struct SqliteDatabase {
    file: PathBuf,
}

impl fmt::Debug for SqliteDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sqlite:{}", self.file.display())
    }
}

impl SqliteDatabase {
    pub(crate) fn new(file: &Path) -> Self {
        Self { file: file.to_owned() }
    }

    /// Opens a database that lives and dies with its one connection.
    pub(crate) fn in_memory() -> Result<Box<dyn SqlConnection>, StoreError> {
        let mut connection = rusqlite::Connection::open_in_memory().map_err(failed)?;
        migrations().to_latest(&mut connection).map_err(not_migrated)?;
        Ok(Box::new(SqliteConnection(connection)))
    }

    fn open_to_write(&self) -> Result<rusqlite::Connection, StoreError> {
        if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder).map_err(StoreError::folder)?;
        }
        make_private(&self.file).map_err(StoreError::folder)?;
        let connection = rusqlite::Connection::open(&self.file).map_err(failed)?;
        connection.busy_timeout(BUSY).map_err(failed)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        // FULL: a decision that was acknowledged survives a power cut.
        connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
        // What is deleted or overwritten is gone from the file, too.
        connection.pragma_update(None, "secure_delete", true).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        Ok(connection)
    }
}

impl SqlDatabase for SqliteDatabase {
    fn migrate(&self) -> Result<(), StoreError> {
        let mut connection = self.open_to_write()?;
        migrations().to_latest(&mut connection).map_err(not_migrated)
    }

    fn writer(&self) -> Result<Box<dyn SqlConnection>, StoreError> {
        Ok(Box::new(SqliteConnection(self.open_to_write()?)))
    }

    fn reader(&self) -> Result<Box<dyn SqlConnection>, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            rusqlite::Connection::open_with_flags(&self.file, flags).map_err(failed)?;
        connection.busy_timeout(BUSY).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        Ok(Box::new(SqliteConnection(connection)))
    }

    fn rewrite(&self) -> Result<(), StoreError> {
        let connection = self.open_to_write()?;
        connection.execute_batch("VACUUM").map_err(failed)?;
        SqliteConnection(connection).scrub().map(drop)
    }

    fn is_shared(&self) -> bool {
        false
    }
}

/// Opens a file for one look beside the server that owns it: nothing is made, migrated or written.
///
/// A file that a newer program has changed, or an older one has left, is refused: what its rows mean is not known.
pub(crate) fn open_read_only(file: &Path) -> Result<Box<dyn SqlConnection>, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = rusqlite::Connection::open_with_flags(file, flags).map_err(failed)?;
    connection.busy_timeout(GLANCE).map_err(failed)?;
    match migrations().pending_migrations(&connection).map_err(not_migrated)? {
        0 => {}
        ..0 => return Err(StoreError::corrupt("schema", "it is newer than this program")),
        // Its rows are under other names: rules that deny would not be found.
        1.. => {
            let why = "it is older than this program: start the server once to bring it up to date";
            return Err(StoreError::corrupt("schema", why));
        }
    }
    Ok(Box::new(SqliteConnection(connection)))
}

/// Makes the file, if it is not there, for its owner alone; SQLite's side files take after it.
pub(super) fn make_private(file: &Path) -> std::io::Result<()> {
    if file.exists() {
        return Ok(());
    }
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

/// Forward only: a new file for every change, never a change to an old one.
fn migrations() -> Migrations<'static> {
    Migrations::new(vec![
        M::up(include_str!("migrations/sqlite/0001_house.sql")),
        M::up(include_str!("migrations/sqlite/0002_rules.sql")),
        M::up(include_str!("migrations/sqlite/0003_diffs.sql")),
        M::up(include_str!("migrations/sqlite/0004_durability.sql")),
        M::up(include_str!("migrations/sqlite/0005_elsewhere.sql")),
        M::up(include_str!("migrations/sqlite/0006_project_settings.sql")),
        M::up(include_str!("migrations/sqlite/0007_changes.sql")),
        M::up(include_str!("migrations/sqlite/0008_tokens.sql")),
        M::up(include_str!("migrations/sqlite/0009_client_looks.sql")),
        M::up(include_str!("migrations/sqlite/0010_settled_secrets.sql")),
    ])
}

/// An open connection.
struct SqliteConnection(rusqlite::Connection);

impl SqlConnection for SqliteConnection {
    fn execute(&mut self, sql: &str, with: &[SqlValue<'_>]) -> Result<u64, StoreError> {
        let mut statement = self.0.prepare_cached(sql).map_err(failed)?;
        let changed = statement.execute(rusqlite::params_from_iter(with)).map_err(failed)?;
        Ok(changed as u64)
    }

    fn query(&mut self, sql: &str, with: &[SqlValue<'_>]) -> Result<Vec<SqlRow>, StoreError> {
        let mut statement = self.0.prepare_cached(sql).map_err(failed)?;
        let columns = statement.column_count();
        let mut found = statement.query(rusqlite::params_from_iter(with)).map_err(failed)?;
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(failed)? {
            let cells = (0..columns).map(|at| cell(row.get_ref(at).map_err(failed)?));
            rows.push(SqlRow::new(cells.collect::<Result<_, _>>()?));
        }
        Ok(rows)
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        // IMMEDIATE: the lock is taken at once, where the busy timeout still helps.
        self.0.execute_batch("BEGIN IMMEDIATE").map_err(failed)
    }

    fn begin_snapshot(&mut self) -> Result<(), StoreError> {
        self.0.execute_batch("BEGIN").map_err(failed)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.0.execute_batch("COMMIT").map_err(failed)
    }

    fn scrub(&mut self) -> Result<bool, StoreError> {
        // Not for long: everybody who writes waits for this.
        self.0.busy_timeout(SCRUB).map_err(failed)?;
        let truncate = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy = self.0.query_row(truncate, [], |row| row.get::<_, i64>(0));
        self.0.busy_timeout(BUSY).map_err(failed)?;
        Ok(busy.map_err(failed)? == 0)
    }

    fn rollback(&mut self) {
        // Some failures have rolled back already; then there is nothing left to take back.
        let _ = self.0.execute_batch("ROLLBACK");
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            SqlValue::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            SqlValue::Int(number) => ToSqlOutput::from(*number),
            SqlValue::Flag(flag) => ToSqlOutput::from(*flag),
            SqlValue::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            SqlValue::Time(at) => ToSqlOutput::from(to_iso(*at)),
        })
    }
}

fn cell(value: ValueRef<'_>) -> Result<SqlCell, StoreError> {
    match value {
        ValueRef::Null => Ok(SqlCell::Null),
        ValueRef::Integer(number) => Ok(SqlCell::Int(number)),
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text);
            let text = text.map_err(|error| StoreError::corrupt("text", error))?;
            Ok(SqlCell::Text(text.to_owned()))
        }
        ValueRef::Real(_) | ValueRef::Blob(_) => {
            Err(StoreError::corrupt("field", "it is of a kind that no column has"))
        }
    }
}

fn not_migrated(error: rusqlite_migration::Error) -> StoreError {
    match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => match failed(err) {
            StoreError::Database(cause) => StoreError::Migration(cause),
            known => known,
        },
        other => StoreError::Migration(Arc::new(other)),
    }
}

/// Says what a failure of SQLite means to us.
fn failed(error: rusqlite::Error) -> StoreError {
    let code = error.sqlite_error_code();
    let cause = Arc::new(error);
    match code {
        Some(ErrorCode::DiskFull) => StoreError::Full(cause),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::ReadOnly(cause),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(cause),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Contended(cause),
        Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) => StoreError::Unreachable(cause),
        _ => StoreError::Database(cause),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let database = SqliteDatabase::new(&folder.path().join("gate.db"));
        database.migrate().unwrap();
        let _open = database.writer().unwrap();
        for name in ["gate.db", "gate.db-wal"] {
            let mode = folder.path().join(name).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    }

    /// A database as every earlier version made it is brought up to date and keeps its rows.
    #[test]
    fn an_older_database_is_brought_up_to_date_and_keeps_its_rows() {
        for version in 1..4 {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("gate.db");
            let mut old = rusqlite::Connection::open(&file).unwrap();
            migrations().to_version(&mut old, version).unwrap();
            old.execute("INSERT INTO projects VALUES ('p', 'shop', '/shop', '1970')", []).unwrap();
            for seq in 1..=3 {
                old.execute(
                    "INSERT INTO events VALUES ('p', ?, NULL, NULL, '1970-01-01T00:00:00Z', '{}')",
                    [seq],
                )
                .unwrap();
            }
            old.execute(
                "INSERT INTO tool_executions (id, user_id, project_id, session_id, approval_id,
                   tool_name, tool_params, risk_level, requires_approval, status, created_at,
                   digest, request, state)
                 VALUES ('e', 'local', 'p', 's', 'a', 'Bash', '{}', 'HIGH', 1,
                   'AWAITING_APPROVAL', '1970-01-01T00:00:00.000Z', '', '{}', '{}')",
                [],
            )
            .unwrap();
            drop(old);
            for _ in 0..2 {
                let database = SqliteDatabase::new(&file);
                database.migrate().unwrap();
                let mut db = database.writer().unwrap();
                let mut row = db.query_one("SELECT name FROM projects", &[]).unwrap().unwrap();
                assert_eq!(row.take::<String>().unwrap(), "shop");
                let mut book =
                    db.query_one("SELECT head, pending FROM ledgers", &[]).unwrap().unwrap();
                assert_eq!((book.take::<i64>().unwrap(), book.take::<i64>().unwrap()), (3, 1));
            }
        }
    }
}
