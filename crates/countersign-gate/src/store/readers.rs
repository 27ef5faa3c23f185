//! The readers: connections that see what is committed and never wait for the writer.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::StoreError;
use super::database::{SqlConnection, SqlDatabase};
use super::writer::StoreWriter;

/// How many read at the same time; more of them queue.
const READERS: usize = 4;

/// How long a read waits for a database that does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where reads go.
#[derive(Clone)]
pub(crate) enum StoreReaders {
    /// To connections of their own.
    Own(Arc<ConnectionPool>),
    /// To the writer's: a database in memory has only that one.
    Writer(StoreWriter),
}

/// A few connections, opened when first needed.
pub(crate) struct ConnectionPool {
    database: Arc<dyn SqlDatabase>,
    idle: Mutex<Vec<Box<dyn SqlConnection>>>,
    free: Arc<Semaphore>,
}

impl fmt::Debug for StoreReaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Readers")
    }
}

impl StoreReaders {
    pub(crate) fn for_database(database: Arc<dyn SqlDatabase>) -> Self {
        let idle = Mutex::new(Vec::new());
        Self::Own(Arc::new(ConnectionPool {
            database,
            idle,
            free: Arc::new(Semaphore::new(READERS)),
        }))
    }

    pub(crate) fn for_writer(writer: StoreWriter) -> Self {
        Self::Writer(writer)
    }

    /// Runs a read off the runtime; once more, on a new connection, if its own was lost.
    pub(crate) async fn read<T, F>(&self, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Fn(&mut dyn SqlConnection) -> Result<T, StoreError> + Send + 'static,
    {
        let reading = tokio::time::timeout(PATIENCE, self.read_without_timeout(read));
        reading.await.unwrap_or_else(|_| Err(StoreError::no_answer()))
    }

    /// The same for a read that may take its time: one that goes through everything.
    pub(crate) async fn read_without_timeout<T, F>(&self, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Fn(&mut dyn SqlConnection) -> Result<T, StoreError> + Send + 'static,
    {
        match self {
            Self::Writer(writer) => writer.write(move |ledger| read(ledger.db())).await,
            Self::Own(pool) => pool.clone().read_blocking(read).await,
        }
    }
}

impl ConnectionPool {
    async fn read_blocking<T, F>(self: Arc<Self>, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Fn(&mut dyn SqlConnection) -> Result<T, StoreError> + Send + 'static,
    {
        let turn = self.free.clone().acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let reading = tokio::task::spawn_blocking(move || {
            // Given back when the database has answered, also if nobody waits for it any more: it
            // is never asked by more than this.
            let _turn = turn;
            match self.read(&read) {
                Err(StoreError::Unreachable(_)) => self.read(&read),
                found => found,
            }
        });
        reading.await.map_err(|_| StoreError::Closed)?
    }

    fn read<T>(
        &self,
        read: impl Fn(&mut dyn SqlConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connection = match self.idle().pop() {
            Some(connection) => connection,
            None => self.database.reader()?,
        };
        let found = read(connection.as_mut());
        match &found {
            Ok(_) => self.idle().push(connection),
            // The others are most likely lost, too.
            Err(StoreError::Unreachable(_)) => self.idle().clear(),
            // Only a connection that served well comes back; after an error a new one is opened.
            Err(_) => {}
        }
        found
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Box<dyn SqlConnection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionPool {
    fn drop(&mut self) {
        let idle = std::mem::take(&mut *self.idle());
        // Closing may block, and whoever drops the store may be on the runtime.
        let closing = std::thread::Builder::new().name("countersign-closing".to_owned());
        let _ = closing.spawn(move || drop(idle));
    }
}
