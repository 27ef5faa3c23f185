//! The writer: one thread, one connection, one durable commit for all who wait.

use std::collections::HashMap;
use std::fmt;

use countersign_core::{Event, ProjectId, RunId, SessionId};
use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::{OnCommit, StoreError, events};

/// How many writes may queue before callers wait to hand theirs in.
const QUEUE: usize = 1024;

/// How many writes share a commit at the most: bounds how long the first of them waits.
const BATCH: usize = 256;

/// What a write works with: the transaction, and the log it may append to.
pub(crate) struct Ledger<'a> {
    pub(crate) db: &'a Connection,
    grown: &'a mut HashMap<ProjectId, u64>,
}

impl Ledger<'_> {
    /// Appends to a project's log, in the same transaction as what the event tells of.
    pub(crate) fn log(
        &mut self,
        project: &ProjectId,
        session: Option<&SessionId>,
        run: Option<RunId>,
        at: Timestamp,
        event: &Event,
    ) -> Result<(), StoreError> {
        let seq = events::append(self.db, project, session, run, at, event)?;
        self.grown.insert(project.clone(), seq);
        Ok(())
    }
}

/// Answers the caller once it is known whether the commit held.
type Reply = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// One write: runs inside the transaction, says whether it is to be kept, and how to answer.
type Job = Box<dyn FnOnce(&mut Ledger<'_>) -> (bool, Reply) + Send>;

/// A handle to the writing thread; the thread ends with the last one.
#[derive(Clone)]
pub(crate) struct Writer {
    jobs: mpsc::Sender<Job>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writer")
    }
}

impl Writer {
    pub(crate) fn start(connection: Connection, on_commit: OnCommit) -> Result<Self, StoreError> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        std::thread::Builder::new()
            .name("countersign-writer".to_owned())
            .spawn(move || work(connection, queue, &on_commit))
            .map_err(StoreError::Folder)?;
        Ok(Self { jobs })
    }

    /// Runs a write and returns when its commit is durable.
    ///
    /// An error of the write itself undoes that write alone.
    pub(crate) async fn write<T, E, F>(&self, write: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&mut Ledger<'_>) -> Result<T, E> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |ledger| {
            let done = write(ledger);
            let keep = done.is_ok();
            let reply: Reply = Box::new(move |committed| {
                // The caller may have gone; what is written stays written.
                let _ = answer.send(match committed {
                    Ok(()) => done,
                    Err(error) => Err(error.into()),
                });
            });
            (keep, reply)
        });
        self.jobs.send(job).await.map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }
}

fn work(mut connection: Connection, mut queue: mpsc::Receiver<Job>, on_commit: &OnCommit) {
    while let Some(first) = queue.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < BATCH
            && let Ok(next) = queue.try_recv()
        {
            batch.push(next);
        }
        commit(&mut connection, batch, on_commit);
    }
}

/// Runs a batch in one transaction and answers everyone in it.
fn commit(connection: &mut Connection, batch: Vec<Job>, on_commit: &OnCommit) {
    let mut replies = Vec::with_capacity(batch.len());
    let mut grown = HashMap::new();
    let committed = run(connection, batch, &mut replies, &mut grown);
    if committed.is_ok() {
        for (project, seq) in &grown {
            on_commit(project, *seq);
        }
    }
    let failed = committed.err().map(|error| error.to_string());
    for reply in replies {
        reply(match &failed {
            None => Ok(()),
            Some(why) => Err(StoreError::corrupt("commit", why.clone())),
        });
    }
}

fn run(
    connection: &mut Connection,
    batch: Vec<Job>,
    replies: &mut Vec<Reply>,
    grown: &mut HashMap<ProjectId, u64>,
) -> Result<(), rusqlite::Error> {
    // IMMEDIATE: the lock is taken at once, where the busy timeout still helps.
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for job in batch {
        let savepoint = transaction.savepoint()?;
        let mut grew = HashMap::new();
        let (keep, reply) = job(&mut Ledger { db: &savepoint, grown: &mut grew });
        replies.push(reply);
        if keep {
            savepoint.commit()?;
            grown.extend(grew);
        }
    }
    transaction.commit()
}
