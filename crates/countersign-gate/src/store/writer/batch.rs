//! A batch: writes that share one transaction, tried until it is known what became of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_core::ProjectId;
use tokio::sync::mpsc;

use super::PATIENCE;
use super::job::WriteJob;
use super::server_fence::{FenceMark, ServerFence};
use crate::store::StoreError;
use crate::store::database::{SqlConnection, SqlDatabase};
use crate::store::write_cache::WriteCache;
use crate::store::write_txn::{CommitSummary, OpenCounters, WriteTxn};

/// How often a batch that others are in the way of is tried.
const TRIES: u32 = 12;

/// How long to wait before the next try, and at the most.
const PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Told after each commit of all logs that grew in it.
pub(super) type BatchCommitHook = Box<dyn Fn(&HashMap<ProjectId, u64>) + Send>;

type WriteJobs = Vec<Box<dyn WriteJob>>;
type WriteQueue = mpsc::Receiver<Box<dyn WriteJob>>;

/// What one try came to.
enum BatchAttempt {
    /// It is durable.
    Committed(CommitSummary),
    /// The job at this place failed by itself; without it the others may succeed.
    Faulty(usize),
    /// Nothing was written.
    Failed(StoreError),
    /// The connection was lost while the commit was on its way.
    Unknown(Option<FenceMark>, CommitSummary),
}

/// The writing side of the database.
pub(super) struct BatchWriter {
    /// None while the connection is lost.
    connection: Option<Box<dyn SqlConnection>>,
    database: Option<Arc<dyn SqlDatabase>>,
    signature: Arc<ServerFence>,
    fresh: Arc<WriteCache>,
    on_commit: BatchCommitHook,
    /// Whether something that was taken out of the record may still be in the files.
    unscrubbed: bool,
}

impl BatchWriter {
    pub(super) fn new(
        connection: Box<dyn SqlConnection>,
        database: Option<Arc<dyn SqlDatabase>>,
        signature: Arc<ServerFence>,
        fresh: Arc<WriteCache>,
        on_commit: BatchCommitHook,
    ) -> Self {
        Self {
            connection: Some(connection),
            database,
            signature,
            fresh,
            on_commit,
            unscrubbed: false,
        }
    }

    /// Sees jobs through, and answers each.
    pub(super) fn run_jobs(&mut self, mut jobs: WriteJobs, queue: &WriteQueue) {
        jobs.retain(|job| job.begin());
        let started = Instant::now();
        let mut tries = 0;
        while !jobs.is_empty() {
            match self.attempt(&mut jobs) {
                BatchAttempt::Committed(closed) => return self.finish_commit(jobs, closed),
                BatchAttempt::Faulty(at) => jobs.remove(at).answer(Ok(())),
                BatchAttempt::Failed(error) => {
                    tries += 1;
                    let again = match error {
                        StoreError::Contended(_) => tries < TRIES,
                        StoreError::Unreachable(_) => {
                            self.database.is_some() && started.elapsed() < PATIENCE
                        }
                        _ => false,
                    };
                    if !again || queue.is_closed() {
                        return refuse(jobs, &error);
                    }
                    count_retry(&error);
                    pause(tries);
                }
                BatchAttempt::Unknown(signed, closed) => {
                    match self.resolve_lost_commit(signed.as_ref(), queue) {
                        Ok(true) => return self.finish_commit(jobs, closed),
                        Ok(false) => {}
                        Err(error) => return refuse(jobs, &error),
                    }
                }
            }
        }
    }

    fn finish_commit(&mut self, jobs: WriteJobs, closed: CommitSummary) {
        metrics::counter!("countersign_commits_total").increment(1);
        metrics::counter!("countersign_writes_total").increment(jobs.len() as u64);
        self.scrub(closed.scrub);
        // First: whoever is told now finds what is told of.
        self.fresh.put(closed.left);
        (self.on_commit)(&closed.grown);
        for job in jobs {
            job.answer(Ok(()));
        }
    }

    /// Has the files forget what was taken out of the record. Who reads them meanwhile may be in the
    /// way; then the next commit tries again.
    fn scrub(&mut self, anew: bool) {
        self.unscrubbed |= anew;
        if let (true, Some(connection)) = (self.unscrubbed, &mut self.connection) {
            match connection.scrub() {
                Ok(done) => self.unscrubbed = !done,
                Err(error) => {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(error, "masked secrets may still be in the write-ahead log");
                }
            }
        }
    }

    /// Tries all jobs in one transaction.
    fn attempt(&mut self, jobs: &mut WriteJobs) -> BatchAttempt {
        let mut connection = match self.take_connection() {
            Ok(connection) => connection,
            Err(error) => return BatchAttempt::Failed(error),
        };
        let mut books = OpenCounters::new();
        let tried = self.write(connection.as_mut(), &mut books, jobs);
        let lost = match &tried {
            BatchAttempt::Committed(_) => false,
            BatchAttempt::Faulty(_) => {
                connection.rollback();
                false
            }
            BatchAttempt::Failed(error) => {
                connection.rollback();
                // A new one is made, if one can be made: this one may be in any state.
                matches!(error, StoreError::Unreachable(_)) && self.database.is_some()
            }
            BatchAttempt::Unknown(..) => true,
        };
        if lost {
            metrics::counter!("countersign_connections_lost_total").increment(1);
        } else {
            self.connection = Some(connection);
        }
        tried
    }

    fn write(
        &self,
        db: &mut dyn SqlConnection,
        books: &mut OpenCounters,
        jobs: &mut WriteJobs,
    ) -> BatchAttempt {
        if let Err(error) = db.begin() {
            return BatchAttempt::Failed(error);
        }
        let mut ledger = WriteTxn::new(db, books, &self.fresh, self.signature.server());
        let signed = match self.signature.mark_transaction(&mut ledger) {
            Ok(signed) => signed,
            Err(error) => return BatchAttempt::Failed(error),
        };
        for (at, job) in jobs.iter_mut().enumerate() {
            if job.run(&mut ledger) {
                continue;
            }
            return match ledger.take_failure() {
                // The statement was wrong for this job alone; all others fail for all.
                None | Some(StoreError::Database(_)) => BatchAttempt::Faulty(at),
                Some(failure) => BatchAttempt::Failed(failure),
            };
        }
        let closed = match ledger.finish() {
            Ok(closed) => closed,
            Err(error) => return BatchAttempt::Failed(error),
        };
        match db.commit() {
            Ok(()) => {
                if let Some(signed) = &signed {
                    self.signature.note_committed(signed);
                }
                BatchAttempt::Committed(closed)
            }
            Err(StoreError::Unreachable(_)) if self.database.is_some() => {
                BatchAttempt::Unknown(signed, closed)
            }
            Err(error) => BatchAttempt::Failed(error),
        }
    }

    /// Finds out whether a commit held whose answer was lost: nobody is answered before that.
    fn resolve_lost_commit(
        &mut self,
        signed: Option<&FenceMark>,
        queue: &WriteQueue,
    ) -> Result<bool, StoreError> {
        let mut tries = 0;
        loop {
            let found = self.take_connection().and_then(|mut connection| {
                let found = match signed {
                    Some(signed) => signed.was_committed(connection.as_mut()),
                    // Nobody signs before joining, and joining twice is the same as once.
                    None => Ok(false),
                };
                self.connection = found.is_ok().then_some(connection);
                found
            });
            match found {
                Ok(held) => {
                    signed.iter().filter(|_| held).for_each(|it| self.signature.note_committed(it));
                    return Ok(held);
                }
                Err(error) if queue.is_closed() => return Err(error),
                Err(_) => {
                    tries += 1;
                    pause(tries);
                }
            }
        }
    }

    fn take_connection(&mut self) -> Result<Box<dyn SqlConnection>, StoreError> {
        match (self.connection.take(), &self.database) {
            (Some(connection), _) => Ok(connection),
            (None, Some(database)) => database.writer(),
            (None, None) => Err(StoreError::Closed),
        }
    }
}

fn refuse(jobs: WriteJobs, error: &StoreError) {
    for job in jobs {
        job.answer(Err(error.clone()));
    }
}

fn count_retry(error: &StoreError) {
    let is_contended = matches!(error, StoreError::Contended(_));
    let reason = if is_contended { "contended" } else { "unreachable" };
    metrics::counter!("countersign_write_retries_total", "reason" => reason).increment(1);
}

/// Waits a little, longer with every try. This thread is the writer's own and may be blocked.
fn pause(tries: u32) {
    let doubled = PAUSE.saturating_mul(1 << tries.min(10));
    std::thread::park_timeout(doubled.min(LONGEST_PAUSE));
}
