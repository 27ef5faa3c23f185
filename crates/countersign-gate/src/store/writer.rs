//! The writer: one thread, one connection, one durable commit for all who wait.
//!
//! A write is a function that can be run again: after a conflict, a lost connection or another
//! write's error, the whole batch starts over. It succeeds or fails as if it had been alone.

mod batch;
mod job;
mod server_fence;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;

use self::batch::{BatchCommitHook, BatchWriter};
use self::job::{PendingWrite, WriteJob};
pub(crate) use self::server_fence::ServerFence;
use super::database::{SqlConnection, SqlDatabase};
use super::write_cache::WriteCache;
use super::write_txn::WriteTxn;
use super::{CommitHook, StoreError};

/// How many writes may queue before callers wait to hand theirs in.
const QUEUE: usize = 1024;

/// How many writes share a commit at the most: bounds how long the first of them waits.
const BATCH: usize = 256;

/// How long a write that nobody has begun with waits for a database that does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A handle to the writing thread; the thread ends with the last one.
#[derive(Clone)]
pub(crate) struct StoreWriter {
    jobs: mpsc::Sender<Box<dyn WriteJob>>,
    signature: Arc<ServerFence>,
    commits: Arc<AtomicU64>,
}

impl fmt::Debug for StoreWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writer")
    }
}

impl StoreWriter {
    /// Starts writing. Where there is a database to connect to again, a lost connection is no end.
    pub(crate) fn start(
        connection: Box<dyn SqlConnection>,
        database: Option<Arc<dyn SqlDatabase>>,
        signature: Arc<ServerFence>,
        fresh: Arc<WriteCache>,
        on_commit: CommitHook,
    ) -> Result<Self, StoreError> {
        let (jobs, mut queue) = mpsc::channel(QUEUE);
        let commits = Arc::new(AtomicU64::new(0));
        let counted = commits.clone();
        let on_commit: BatchCommitHook = Box::new(move |grown| {
            counted.fetch_add(1, Ordering::Relaxed);
            for (project, head) in grown {
                on_commit(project, *head);
            }
        });
        let mut batch = BatchWriter::new(connection, database, signature.clone(), fresh, on_commit);
        std::thread::Builder::new()
            .name("countersign-writer".to_owned())
            .spawn(move || {
                while let Some(first) = queue.blocking_recv() {
                    let mut jobs = vec![first];
                    while jobs.len() < BATCH
                        && let Ok(next) = queue.try_recv()
                    {
                        jobs.push(next);
                    }
                    batch.run_jobs(jobs, &queue);
                }
            })
            .map_err(StoreError::folder)?;
        Ok(Self { jobs, signature, commits })
    }

    /// Returns how many durable commits there were.
    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Returns who writes.
    pub(crate) fn server_fence(&self) -> &Arc<ServerFence> {
        &self.signature
    }

    /// Runs a write and returns when its commit is durable.
    ///
    /// An error of the write itself undoes that write alone. `write` may be run more than once; what
    /// it returned the last time is what counts.
    pub(crate) async fn write<T, E, F>(&self, write: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: Fn(&mut WriteTxn<'_>) -> Result<T, E> + Send + 'static,
    {
        let (job, mut waiting) = PendingWrite::new(write);
        self.jobs.send(Box::new(job)).await.map_err(|_| StoreError::Closed)?;
        waiting.answer(PATIENCE).await
    }
}
