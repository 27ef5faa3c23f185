//! The readers: connections that see what is committed and never wait for the writer.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::StoreError;
use super::writer::Writer;

/// How many read at the same time; more of them queue.
const READERS: usize = 4;

/// Where reads go.
#[derive(Clone)]
pub(crate) enum Readers {
    /// To connections of their own.
    File(Arc<Pool>),
    /// To the writer's: a database in memory has only that one.
    Writer(Writer),
}

/// A few connections, opened when first needed.
pub(crate) struct Pool {
    file: PathBuf,
    idle: Mutex<Vec<Connection>>,
    free: Semaphore,
}

impl fmt::Debug for Readers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Readers")
    }
}

impl Readers {
    pub(crate) fn of_file(file: &Path) -> Self {
        Self::File(Arc::new(Pool {
            file: file.to_owned(),
            idle: Mutex::new(Vec::new()),
            free: Semaphore::new(READERS),
        }))
    }

    pub(crate) fn of_writer(writer: Writer) -> Self {
        Self::Writer(writer)
    }

    /// Runs a read off the runtime.
    pub(crate) async fn read<T, F>(&self, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        match self {
            Self::Writer(writer) => writer.write(|ledger| read(ledger.db)).await,
            Self::File(pool) => {
                let _turn = pool.free.acquire().await.map_err(|_| StoreError::Closed)?;
                let pool = pool.clone();
                let reading = tokio::task::spawn_blocking(move || pool.read(read));
                reading.await.map_err(|_| StoreError::Closed)?
            }
        }
    }
}

impl Pool {
    fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.open()?,
        };
        let found = read(&connection)?;
        // Only a connection that served well comes back; after an error a new one is opened.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok(found)
    }

    fn open(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.file, flags)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    }
}
