//! The gate: the one door every call goes through.

use std::sync::Arc;

use countersign_core::{
    AlreadySettled, Approval, ApprovalId, Decision, Digest, Failure, NotStartable, Permit, Planner,
    ProjectId, RunId, SessionId, Status, ToolCall, ToolOutput,
};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::clock::Clock;
use crate::executors::Executors;
use crate::follow::Follow;
use crate::follow_all::FollowAll;
use crate::history::History;
use crate::journal::Journal;
use crate::live::Channels;
use crate::membership::Membership;
use crate::projects::Settled;
use crate::rules::{Rules, Terms};
use crate::store::{Mending, NewRun, RunKey, Store, StoreError, Transition};
use crate::submit::Submitted;
use crate::timeouts::Timeouts;
use crate::waiting::Waiting;

/// Why a decision was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// There is no such request.
    #[error("no approval request has the id `{0}`")]
    Unknown(ApprovalId),
    /// Someone, or the deadline, was faster, and decided otherwise: what stands comes along.
    #[error(transparent)]
    AlreadySettled(#[from] AlreadySettled),
    /// What the person saw is not what the request shows.
    #[error("the request is not the one that was shown; look at it again before deciding")]
    Drift(Box<Approval>),
    /// The changed input is not one the tool can run.
    #[error("the changed input cannot run: {0}")]
    Invalid(String),
    /// The changed input is denied.
    #[error("the changed input is denied: {0}")]
    Denied(String),
    /// "Always" cannot be said here, or not like this.
    #[error("{0}")]
    NotAlways(String),
    /// It could not be written down, so it does not count.
    #[error("the decision could not be recorded")]
    Store(#[from] StoreError),
}

/// What came of a call at the gate.
#[derive(Debug)]
pub enum Passage {
    /// It may run, once, now.
    Permitted(Box<Permit>),
    /// It may not; what stands says why, and [`Approval::answer`] tells the model.
    Refused(Box<Approval>),
}

/// The gate. Cheap to clone; all clones are the same door.
#[derive(Clone)]
pub struct Gate {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) asked: Arc<Notify>,
    pub(crate) channels: Arc<Channels>,
    pub(crate) waiting: Waiting,
    pub(crate) timeouts: Timeouts,
    pub(crate) settled: Settled,
    pub(crate) pending_limit: u64,
    pub(crate) rules: Rules,
    pub(crate) history: Arc<History>,
    pub(crate) membership: Membership,
    pub(crate) executors: Executors,
}

impl Gate {
    pub(crate) fn from_inner(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    pub(crate) fn arc(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// Returns the store, to read from.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Returns the clock the gate goes by.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// Takes a call through the gate: returns when it may run or will not.
    ///
    /// Dropping the future leaves a request that waits as it is; [`Gate::cancel_run`] takes it back.
    pub async fn pass(
        &self,
        call: ToolCall,
        planner: Arc<dyn Planner>,
        terms: &Terms,
    ) -> Result<Passage, StoreError> {
        match self.submit(call, planner, terms).await? {
            Submitted::Permitted(permit) => Ok(Passage::Permitted(permit)),
            Submitted::Refused(approval) => Ok(Passage::Refused(approval)),
            Submitted::Waiting(approval) => self.admission(approval.id).await,
            // Nobody here may run it: whoever wants to know what comes of it asks `settled`.
            Submitted::Approved(approval) | Submitted::Before(approval) => {
                Ok(Passage::Refused(approval))
            }
        }
    }

    /// Waits for the decision on a request and starts the call if it was a yes.
    pub async fn admission(&self, id: ApprovalId) -> Result<Passage, StoreError> {
        let decided = self.wait(id).await?;
        if decided.status() != Status::Approved {
            return Ok(Passage::Refused(Box::new(decided)));
        }
        if let Some(refused) = self.denied_meanwhile(&decided).await? {
            return Ok(Passage::Refused(refused));
        }
        match self.start(decided.id).await? {
            Ok(permit) => Ok(Passage::Permitted(Box::new(permit))),
            Err(NotStartable(stands)) => Ok(Passage::Refused(stands)),
        }
    }

    /// Returns an approval once it no longer waits for a person; where another request took its
    /// place, that one.
    pub async fn wait(&self, id: ApprovalId) -> Result<Approval, StoreError> {
        self.changed(id, Status::AwaitingApproval).await
    }

    /// Starts an approved call: of all who try, one gets the permit.
    pub async fn start(&self, id: ApprovalId) -> Result<Result<Permit, NotStartable>, StoreError> {
        let now = self.inner.clock.now();
        let (hand_over, handed) = std::sync::mpsc::channel();
        let step = move |approval: Approval| {
            let (started, permit) = approval.start(now)?;
            // The receiver outlives the step; were it gone, the permit would go with it.
            let _ = hand_over.send(permit);
            Ok(started)
        };
        match self.transition(id, step).await? {
            Transition::Refused(refused) => Ok(Err(refused)),
            Transition::Unknown => Err(StoreError::corrupt("approval", format!("`{id}` is gone"))),
            Transition::Made(_) => {
                // The last one: the step may have been tried before it held.
                let permit = handed.try_iter().last();
                permit.map(Ok).ok_or_else(|| StoreError::corrupt("permit", "there is none"))
            }
        }
    }

    /// Records what a person decided, if it was theirs to decide.
    ///
    /// `seen` is the digest of what they saw; where it is given it must be that of the request. The
    /// same decision twice is fine; another one than what stands is not.
    pub async fn decide(
        &self,
        id: ApprovalId,
        decision: Decision,
        seen: Option<Digest>,
    ) -> Result<Approval, DecideError> {
        let now = self.inner.clock.now();
        let wanted = wanted(&decision);
        let step = move |approval: Approval| {
            let approval = as_seen(approval, seen.as_ref())?;
            Ok(approval.settle(decision.clone(), now)?)
        };
        match self.transition(id, step).await? {
            Transition::Unknown => Err(DecideError::Unknown(id)),
            Transition::Made(approval) if approval.status() == wanted => {
                count_decision(&approval);
                Ok(*approval)
            }
            // It was settled by this very call, but as timed out.
            Transition::Made(approval) => Err(AlreadySettled(approval).into()),
            Transition::Refused(DecideError::AlreadySettled(AlreadySettled(stands)))
                if agrees(&stands, wanted) =>
            {
                Ok(*stands)
            }
            Transition::Refused(refused) => Err(refused),
        }
    }

    /// Takes back a call that has not started; what has started is for its tool to break off.
    pub async fn cancel(&self, id: ApprovalId) -> Result<(), StoreError> {
        let now = self.inner.clock.now();
        self.transition(id, move |approval| approval.cancel(now)).await.map(drop)
    }

    /// Asks whoever drives a run to stop it.
    pub async fn ask_to_stop(&self, run: RunId) -> Result<(), StoreError> {
        self.inner.store.ask_to_stop(run).await
    }

    /// Returns the runs that are driven here and that somebody wants stopped.
    pub async fn asked_to_stop(&self) -> Result<Vec<RunId>, StoreError> {
        self.inner.store.asked_to_stop().await
    }

    /// Takes back everything of a run that has not started.
    pub async fn cancel_run(&self, run: RunId) -> Result<(), StoreError> {
        for open in self.inner.store.open_in_run(run).await? {
            self.cancel(open.id).await?;
        }
        Ok(())
    }

    /// Records what a started call gave back, or how it broke off.
    pub async fn finish(
        &self,
        id: ApprovalId,
        outcome: Result<ToolOutput, Failure>,
    ) -> Result<Approval, DecideError> {
        let now = self.inner.clock.now();
        let step = move |approval: Approval| match outcome.clone() {
            Ok(output) => approval.complete(output, now),
            Err(failure) => approval.fail(failure, now),
        };
        match self.transition(id, step).await? {
            Transition::Made(approval) => Ok(*approval),
            Transition::Refused(stands) => Err(stands.into()),
            Transition::Unknown => Err(DecideError::Unknown(id)),
        }
    }

    pub(crate) async fn transition<E: Send + 'static>(
        &self,
        id: ApprovalId,
        step: impl Fn(Approval) -> Result<Approval, E> + Send + 'static,
    ) -> Result<Transition<E>, StoreError> {
        let made = self.inner.store.transition(id, self.inner.clock.now(), step).await?;
        if let Transition::Made(made) = &made {
            self.moved(made);
        }
        Ok(made)
    }

    /// Tells those in this process who wait for a call, or watch its time, that it moved.
    pub(crate) fn moved(&self, approval: &Approval) {
        self.inner.waiting.wake(approval.id);
        if approval.lapses_at().is_some() {
            self.inner.asked.notify_waiters();
        }
    }

    /// Wakes whoever waits for a request.
    pub(crate) fn wake(&self, id: ApprovalId) {
        self.inner.waiting.wake(id);
    }

    /// Begins a run; none if its conversation is in the middle of one.
    pub async fn begin_run(&self, run: NewRun) -> Result<Option<Journal>, StoreError> {
        let (project, session) = (run.project.clone(), run.session.clone());
        let journal = self.journal(RunKey { project, session, run: run.id });
        let began = self.inner.store.begin_run(run, self.inner.clock.now()).await?;
        Ok(began.then_some(journal))
    }

    /// Mends a conversation that the model's API would refuse, and tells of it in the log; returns what
    /// had to be changed. One in which another run than `own_run` goes on is left alone.
    pub async fn mend_conversation(
        &self,
        project: &ProjectId,
        session: &SessionId,
        own_run: Option<RunId>,
    ) -> Result<Mending, StoreError> {
        let now = self.inner.clock.now();
        self.inner.store.mend_conversation(project, session, own_run, now).await
    }

    pub(crate) fn journal(&self, key: RunKey) -> Journal {
        let (store, channels) = (self.inner.store.clone(), self.inner.channels.clone());
        Journal { store, channels, clock: self.inner.clock.clone(), key, is_silent: false }
    }

    /// Follows a project's log after a number.
    pub async fn follow(&self, project: &ProjectId, after: u64) -> Result<Follow, StoreError> {
        let (signals, drafts) = self.inner.channels.listen(project);
        let store = self.inner.store.clone();
        let head = store.head(project).await?;
        Ok(Follow::new(store, project.clone(), signals, drafts, after, head))
    }

    /// Follows the logs of all projects but one from now on, those of later projects too.
    pub async fn follow_all_but(&self, project: &ProjectId) -> Result<FollowAll, StoreError> {
        let hints = self.inner.channels.listen_to_all();
        let store = self.inner.store.clone();
        let heads = store.heads().await?;
        Ok(FollowAll::new(store, hints, project.clone(), heads))
    }

    /// Returns the latest conversation of a project.
    pub async fn latest_session(
        &self,
        project: &ProjectId,
    ) -> Result<Option<SessionId>, StoreError> {
        let latest = self.inner.store.sessions(project, None, 1).await?;
        Ok(latest.into_iter().next().map(|session| session.id))
    }
}

/// Returns a new id: unique, and sorted by when it was made.
pub fn new_id<T: From<Uuid>>() -> T {
    Uuid::now_v7().into()
}

/// Returns a request as the person saw it; who says nothing of what they saw means what stands.
pub(crate) fn as_seen(stands: Approval, seen: Option<&Digest>) -> Result<Approval, DecideError> {
    match seen {
        Some(seen) => stands.as_seen(seen).map_err(DecideError::Drift),
        None => Ok(stands),
    }
}

/// Counts a decision that was recorded; the same one said again is none.
pub(crate) fn count_decision(settled: &Approval) {
    let status = if settled.status() == Status::Rejected { "rejected" } else { "approved" };
    metrics::counter!("countersign_decisions_total", "status" => status).increment(1);
}

fn wanted(decision: &Decision) -> Status {
    match decision {
        Decision::Approve { .. } => Status::Approved,
        Decision::Reject { .. } => Status::Rejected,
    }
}

/// Whether what stands is what was wanted: an approved call may have gone on meanwhile.
fn agrees(stands: &Approval, wanted: Status) -> bool {
    match wanted {
        Status::Approved => stands.was_approved(),
        _ => stands.status() == wanted,
    }
}
