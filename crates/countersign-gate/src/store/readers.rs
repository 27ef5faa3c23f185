//! The readers: connections that see what is committed and never wait for the writer.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::StoreError;
use super::database::{Connection, Database};
use super::writer::Writer;

/// How many read at the same time; more of them queue.
const READERS: usize = 4;

/// How long a read waits for a database that does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where reads go.
#[derive(Clone)]
pub(crate) enum Readers {
    /// To connections of their own.
    Own(Arc<Pool>),
    /// To the writer's: a database in memory has only that one.
    Writer(Writer),
}

/// A few connections, opened when first needed.
pub(crate) struct Pool {
    database: Arc<dyn Database>,
    idle: Mutex<Vec<Box<dyn Connection>>>,
    free: Arc<Semaphore>,
}

impl fmt::Debug for Readers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Readers")
    }
}

impl Readers {
    pub(crate) fn of(database: Arc<dyn Database>) -> Self {
        let idle = Mutex::new(Vec::new());
        Self::Own(Arc::new(Pool { database, idle, free: Arc::new(Semaphore::new(READERS)) }))
    }

    pub(crate) fn of_writer(writer: Writer) -> Self {
        Self::Writer(writer)
    }

    /// Runs a read off the runtime; once more, on a new connection, if its own was lost.
    pub(crate) async fn read<T, F>(&self, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Fn(&mut dyn Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let reading = tokio::time::timeout(PATIENCE, self.read_however_long(read));
        reading.await.unwrap_or_else(|_| Err(StoreError::no_answer()))
    }

    /// The same for a read that may take its time: one that goes through everything.
    pub(crate) async fn read_however_long<T, F>(&self, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Fn(&mut dyn Connection) -> Result<T, StoreError> + Send + 'static,
    {
        match self {
            Self::Writer(writer) => writer.write(move |ledger| read(ledger.db())).await,
            Self::Own(pool) => pool.clone().read_elsewhere(read).await,
        }
    }
}

impl Pool {
    async fn read_elsewhere<T, F>(self: Arc<Self>, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Fn(&mut dyn Connection) -> Result<T, StoreError> + Send + 'static,
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
        read: impl Fn(&mut dyn Connection) -> Result<T, StoreError>,
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

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Box<dyn Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let idle = std::mem::take(&mut *self.idle());
        // Closing may block, and whoever drops the store may be on the runtime.
        let closing = std::thread::Builder::new().name("countersign-closing".to_owned());
        let _ = closing.spawn(move || drop(idle));
    }
}
