//! PostgreSQL: for several servers on one database.

pub(crate) mod tls;

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use postgres::error::SqlState;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Config, Statement};

use super::StoreError;
use super::database::{SqlConnection, SqlDatabase};
use super::value::{SqlCell, SqlRow, SqlValue};

/// How long a connection may take to be there.
const CONNECT: Duration = Duration::from_secs(5);

/// How long a host may be silent before it counts as gone.
const SILENT: Duration = Duration::from_secs(10);

/// What every session is told. A server that stops in the middle of a transaction must not hold the
/// others for longer than this; what has to wait for a row is tried again.
const SESSION: &str = "SET application_name = 'countersign'; SET lock_timeout = '8s';
    SET idle_in_transaction_session_timeout = '4s'; SET statement_timeout = '30s'";

/// Only one server migrates at a time: the number means nothing but that.
/// It may take its time.
const MIGRATING: &str = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
    SELECT pg_advisory_xact_lock(7164503124)";

/// Forward only: a new file for every change, never a change to an old one.
const MIGRATIONS: [&str; 7] = [
    include_str!("migrations/postgres/0001_house.sql"),
    include_str!("migrations/postgres/0002_elsewhere.sql"),
    include_str!("migrations/postgres/0003_project_settings.sql"),
    include_str!("migrations/postgres/0004_changes.sql"),
    include_str!("migrations/postgres/0005_tokens.sql"),
    include_str!("migrations/postgres/0006_client_looks.sql"),
    include_str!("migrations/postgres/0007_settled_secrets.sql"),
];

/// A database on a server.
#[derive(Clone)]
pub(crate) struct PostgresDatabase {
    config: Config,
}

impl fmt::Debug for PostgresDatabase {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.config.get_dbname().unwrap_or_default();
        write!(f, "postgres:{:?}:{:?}/{name}", self.config.get_hosts(), self.config.get_ports())
    }
}

impl PostgresDatabase {
    /// Reads where it is from a URL.
    pub(crate) fn from_url(url: &str) -> Result<Self, StoreError> {
        let mut config: Config = url.parse().map_err(failed)?;
        config.connect_timeout(CONNECT).keepalives_idle(SILENT).tcp_user_timeout(SILENT);
        Ok(Self { config })
    }

    fn connect(&self) -> Result<Client, StoreError> {
        let mut client = self.config.connect(tls::connector()?).map_err(failed)?;
        client.batch_execute(SESSION).map_err(failed)?;
        Ok(client)
    }
}

impl SqlDatabase for PostgresDatabase {
    fn migrate(&self) -> Result<(), StoreError> {
        let not_migrated = |error: postgres::Error| match failed(error) {
            StoreError::Database(cause) => StoreError::Migration(cause),
            known => known,
        };
        let mut client = self.connect()?;
        let mut transaction = client.transaction().map_err(not_migrated)?;
        transaction.batch_execute(MIGRATING).map_err(not_migrated)?;
        transaction
            .batch_execute("CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY)")
            .map_err(not_migrated)?;
        let done: i64 = transaction
            .query_one("SELECT count(*) FROM migrations", &[])
            .and_then(|row| row.try_get(0))
            .map_err(not_migrated)?;
        let done = usize::try_from(done).unwrap_or(usize::MAX);
        if done > MIGRATIONS.len() {
            let why = "it was made by a newer version of countersign";
            return Err(StoreError::Migration(Arc::from(Box::<dyn Error + Send + Sync>::from(
                why,
            ))));
        }
        for (version, migration) in (1_i64..).zip(MIGRATIONS).skip(done) {
            transaction.batch_execute(migration).map_err(not_migrated)?;
            transaction
                .execute("INSERT INTO migrations (version) VALUES ($1)", &[&version])
                .map_err(not_migrated)?;
        }
        transaction.commit().map_err(not_migrated)
    }

    fn writer(&self) -> Result<Box<dyn SqlConnection>, StoreError> {
        Ok(Box::new(PostgresConnection { client: self.connect()?, prepared: HashMap::new() }))
    }

    fn reader(&self) -> Result<Box<dyn SqlConnection>, StoreError> {
        let mut client = self.connect()?;
        client.batch_execute("SET default_transaction_read_only = on").map_err(failed)?;
        Ok(Box::new(PostgresConnection { client, prepared: HashMap::new() }))
    }

    fn rewrite(&self) -> Result<(), StoreError> {
        // Tables are written anew only where nobody uses them: that is for who runs the database.
        Ok(())
    }

    fn is_shared(&self) -> bool {
        true
    }
}

/// An open connection.
struct PostgresConnection {
    client: Client,
    /// Statements by their text; there are as many as the store's code has.
    prepared: HashMap<String, Statement>,
}

impl PostgresConnection {
    fn prepare(&mut self, sql: &str) -> Result<Statement, StoreError> {
        if let Some(known) = self.prepared.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(sql).map_err(failed)?;
        self.prepared.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// The values as the client wants to see them.
fn bind_params<'a>(with: &'a [SqlValue<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    with.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

impl SqlConnection for PostgresConnection {
    fn execute(&mut self, sql: &str, with: &[SqlValue<'_>]) -> Result<u64, StoreError> {
        let statement = self.prepare(sql)?;
        self.client.execute(&statement, &bind_params(with)).map_err(failed)
    }

    fn query(&mut self, sql: &str, with: &[SqlValue<'_>]) -> Result<Vec<SqlRow>, StoreError> {
        let statement = self.prepare(sql)?;
        let rows = self.client.query(&statement, &bind_params(with)).map_err(failed)?;
        rows.iter().map(row).collect()
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        self.client.batch_execute("BEGIN").map_err(failed)
    }

    fn begin_snapshot(&mut self) -> Result<(), StoreError> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
        self.client.batch_execute(begin).map_err(failed)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.client.batch_execute("COMMIT").map_err(failed)
    }

    fn scrub(&mut self) -> Result<bool, StoreError> {
        // Its own housekeeping frees what was overwritten.
        Ok(true)
    }

    fn rollback(&mut self) {
        // A connection that is gone has rolled back.
        let _ = self.client.batch_execute("ROLLBACK");
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut postgres::types::private::BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            SqlValue::Null => Ok(IsNull::Yes),
            SqlValue::Int(number) => number.to_sql(ty, out),
            SqlValue::Flag(flag) => flag.to_sql(ty, out),
            SqlValue::Time(at) => at.to_sql(ty, out),
            // The one character that no text may have here; what must be exact is kept as JSON.
            SqlValue::Text(text) if text.contains('\0') => text.replace('\0', "␀").to_sql(ty, out),
            SqlValue::Text(text) => text.as_ref().to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::TEXT, Type::INT8, Type::BOOL, Type::TIMESTAMPTZ].contains(ty)
    }

    to_sql_checked!();
}

fn row(row: &postgres::Row) -> Result<SqlRow, StoreError> {
    let cells = row.columns().iter().enumerate().map(|(at, column)| {
        let cell = match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(at).map(|it| it.map(SqlCell::Int)),
            Type::INT4 => {
                row.try_get::<_, Option<i32>>(at).map(|it| it.map(|it| SqlCell::Int(it.into())))
            }
            Type::BOOL => row.try_get::<_, Option<bool>>(at).map(|it| it.map(SqlCell::Flag)),
            Type::TIMESTAMPTZ => row.try_get(at).map(|it: Option<_>| it.map(SqlCell::Time)),
            _ => row.try_get::<_, Option<String>>(at).map(|it| it.map(SqlCell::Text)),
        };
        cell.map(|cell| cell.unwrap_or(SqlCell::Null)).map_err(failed)
    });
    Ok(SqlRow::new(cells.collect::<Result<_, _>>()?))
}

/// Says what a failure of PostgreSQL means to us.
fn failed(error: postgres::Error) -> StoreError {
    let is_closed = error.is_closed();
    let code = error.code().cloned();
    let is_local = code.is_none() && error.source().is_some_and(<dyn Error>::is::<std::io::Error>);
    let cause = Arc::new(error);
    let Some(code) = code else {
        return if is_closed || is_local {
            StoreError::Unreachable(cause)
        } else {
            StoreError::Database(cause)
        };
    };
    match code {
        SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::LOCK_NOT_AVAILABLE => StoreError::Contended(cause),
        SqlState::DISK_FULL | SqlState::OUT_OF_MEMORY => StoreError::Full(cause),
        SqlState::READ_ONLY_SQL_TRANSACTION => StoreError::ReadOnly(cause),
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => StoreError::Damaged(cause),
        SqlState::ADMIN_SHUTDOWN
        | SqlState::CRASH_SHUTDOWN
        | SqlState::CANNOT_CONNECT_NOW
        | SqlState::TOO_MANY_CONNECTIONS
        // Its time is up, also when the database itself stood still for that time.
        | SqlState::QUERY_CANCELED
        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => StoreError::Unreachable(cause),
        code if code.code().starts_with("08") => StoreError::Unreachable(cause),
        _ => StoreError::Database(cause),
    }
}
