//! A batch: writes that share one transaction, tried until it is known what became of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_core::ProjectId;
use tokio::sync::mpsc;

use super::PATIENCE;
use super::job::Job;
use super::signature::{Signature, Signed};
use crate::store::StoreError;
use crate::store::database::{Connection, Database};
use crate::store::fresh::Fresh;
use crate::store::ledger::{Books, Closed, Ledger};

/// How often a batch that others are in the way of is tried.
const TRIES: u32 = 12;

/// How long to wait before the next try, and at the most.
const PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Told after each commit of all logs that grew in it.
pub(super) type OnBatch = Box<dyn Fn(&HashMap<ProjectId, u64>) + Send>;

type Jobs = Vec<Box<dyn Job>>;
type Queue = mpsc::Receiver<Box<dyn Job>>;

/// What one try came to.
enum Tried {
    /// It is durable.
    Committed(Closed),
    /// The job at this place failed by itself; without it the others may succeed.
    Faulty(usize),
    /// Nothing was written.
    Failed(StoreError),
    /// The connection was lost while the commit was on its way.
    Unknown(Option<Signed>, Closed),
}

/// The writing side of the database.
pub(super) struct Batch {
    /// None while the connection is lost.
    connection: Option<Box<dyn Connection>>,
    database: Option<Arc<dyn Database>>,
    signature: Arc<Signature>,
    fresh: Arc<Fresh>,
    on_commit: OnBatch,
    /// Whether something that was taken out of the record may still be in the files.
    unscrubbed: bool,
}

impl Batch {
    pub(super) fn new(
        connection: Box<dyn Connection>,
        database: Option<Arc<dyn Database>>,
        signature: Arc<Signature>,
        fresh: Arc<Fresh>,
        on_commit: OnBatch,
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
    pub(super) fn settle(&mut self, mut jobs: Jobs, queue: &Queue) {
        jobs.retain(|job| job.begin());
        let started = Instant::now();
        let mut tries = 0;
        while !jobs.is_empty() {
            match self.attempt(&mut jobs) {
                Tried::Committed(closed) => return self.committed(jobs, closed),
                Tried::Faulty(at) => jobs.remove(at).answer(Ok(())),
                Tried::Failed(error) => {
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
                Tried::Unknown(signed, closed) => match self.outcome(signed.as_ref(), queue) {
                    Ok(true) => return self.committed(jobs, closed),
                    Ok(false) => {}
                    Err(error) => return refuse(jobs, &error),
                },
            }
        }
    }

    fn committed(&mut self, jobs: Jobs, closed: Closed) {
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
    fn attempt(&mut self, jobs: &mut Jobs) -> Tried {
        let mut connection = match self.connected() {
            Ok(connection) => connection,
            Err(error) => return Tried::Failed(error),
        };
        let mut books = Books::new();
        let tried = self.write(connection.as_mut(), &mut books, jobs);
        let lost = match &tried {
            Tried::Committed(_) => false,
            Tried::Faulty(_) => {
                connection.rollback();
                false
            }
            Tried::Failed(error) => {
                connection.rollback();
                // A new one is made, if one can be made: this one may be in any state.
                matches!(error, StoreError::Unreachable(_)) && self.database.is_some()
            }
            Tried::Unknown(..) => true,
        };
        if lost {
            metrics::counter!("countersign_connections_lost_total").increment(1);
        } else {
            self.connection = Some(connection);
        }
        tried
    }

    fn write(&self, db: &mut dyn Connection, books: &mut Books, jobs: &mut Jobs) -> Tried {
        if let Err(error) = db.begin() {
            return Tried::Failed(error);
        }
        let mut ledger = Ledger::new(db, books, &self.fresh, self.signature.server());
        let signed = match self.signature.sign(&mut ledger) {
            Ok(signed) => signed,
            Err(error) => return Tried::Failed(error),
        };
        for (at, job) in jobs.iter_mut().enumerate() {
            if job.run(&mut ledger) {
                continue;
            }
            return match ledger.failure() {
                // The statement was wrong for this job alone; all others fail for all.
                None | Some(StoreError::Database(_)) => Tried::Faulty(at),
                Some(failure) => Tried::Failed(failure),
            };
        }
        let closed = match ledger.close() {
            Ok(closed) => closed,
            Err(error) => return Tried::Failed(error),
        };
        match db.commit() {
            Ok(()) => {
                if let Some(signed) = &signed {
                    self.signature.held(signed);
                }
                Tried::Committed(closed)
            }
            Err(StoreError::Unreachable(_)) if self.database.is_some() => {
                Tried::Unknown(signed, closed)
            }
            Err(error) => Tried::Failed(error),
        }
    }

    /// Finds out whether a commit held whose answer was lost: nobody is answered before that.
    fn outcome(&mut self, signed: Option<&Signed>, queue: &Queue) -> Result<bool, StoreError> {
        let mut tries = 0;
        loop {
            let found = self.connected().and_then(|mut connection| {
                let found = match signed {
                    Some(signed) => signed.is_found(connection.as_mut()),
                    // Nobody signs before joining, and joining twice is the same as once.
                    None => Ok(false),
                };
                self.connection = found.is_ok().then_some(connection);
                found
            });
            match found {
                Ok(held) => {
                    signed.iter().filter(|_| held).for_each(|it| self.signature.held(it));
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

    fn connected(&mut self) -> Result<Box<dyn Connection>, StoreError> {
        match (self.connection.take(), &self.database) {
            (Some(connection), _) => Ok(connection),
            (None, Some(database)) => database.writer(),
            (None, None) => Err(StoreError::Closed),
        }
    }
}

fn refuse(jobs: Jobs, error: &StoreError) {
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
