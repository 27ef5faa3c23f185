//! One write on its way: run inside a transaction, answered when it is known what became of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::store::StoreError;
use crate::store::write_txn::WriteTxn;

/// A write, whatever it returns.
pub(super) trait WriteJob: Send {
    /// Begins with it; returns whether whoever asked for it still wants it.
    fn begin(&self) -> bool;

    /// Runs it, again if need be; returns whether what it wrote is to be kept.
    fn run(&mut self, ledger: &mut WriteTxn<'_>) -> bool;

    /// Answers with what it returned or, where it could not be recorded, with why not.
    fn answer(self: Box<Self>, recorded: Result<(), StoreError>);
}

const QUEUED: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;

pub(super) struct PendingWrite<T, E, F> {
    run: F,
    done: Option<Result<T, E>>,
    asker: oneshot::Sender<Result<T, E>>,
    stage: Arc<AtomicU8>,
}

/// The side that waits for the answer.
pub(super) struct WriteWaiter<T, E> {
    answer: oneshot::Receiver<Result<T, E>>,
    stage: Arc<AtomicU8>,
}

impl<T, E, F> PendingWrite<T, E, F> {
    pub(super) fn new(write: F) -> (Self, WriteWaiter<T, E>) {
        let (asker, answer) = oneshot::channel();
        let stage = Arc::new(AtomicU8::new(QUEUED));
        (
            Self { run: write, done: None, asker, stage: stage.clone() },
            WriteWaiter { answer, stage },
        )
    }
}

impl<T, E, F> WriteJob for PendingWrite<T, E, F>
where
    T: Send,
    E: From<StoreError> + Send,
    F: Fn(&mut WriteTxn<'_>) -> Result<T, E> + Send,
{
    fn begin(&self) -> bool {
        let begun = self.stage.compare_exchange(QUEUED, BEGUN, Ordering::AcqRel, Ordering::Acquire);
        begun != Err(WITHDRAWN)
    }

    fn run(&mut self, ledger: &mut WriteTxn<'_>) -> bool {
        let done = (self.run)(ledger);
        self.done.insert(done).is_ok()
    }

    fn answer(self: Box<Self>, recorded: Result<(), StoreError>) {
        let answer = match (recorded, self.done) {
            (Ok(()), Some(done)) => done,
            (Ok(()), None) => Err(StoreError::Closed.into()),
            (Err(error), _) => Err(error.into()),
        };
        // The caller may have gone; what is written stays written.
        let _ = self.asker.send(answer);
    }
}

impl<T, E: From<StoreError>> WriteWaiter<T, E> {
    /// Returns the answer.
    ///
    /// A write that was not begun with in time is withdrawn, and then has certainly not happened. One
    /// that was begun with is waited for, however long: what becomes of it must be known.
    pub(super) async fn answer(&mut self, patience: Duration) -> Result<T, E> {
        let answered = match tokio::time::timeout(patience, &mut self.answer).await {
            Ok(answered) => answered,
            Err(_) if self.withdraw() => {
                return Err(StoreError::no_answer().into());
            }
            Err(_) => (&mut self.answer).await,
        };
        answered.map_err(|_| StoreError::Closed)?
    }

    fn withdraw(&self) -> bool {
        let withdrawn =
            self.stage.compare_exchange(QUEUED, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire);
        withdrawn.is_ok()
    }
}
