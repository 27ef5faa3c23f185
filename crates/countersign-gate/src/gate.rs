//! The gate: the one door every call goes through.

use std::sync::Arc;

use countersign_core::{
    ApprovalId, Decision, Digest, Execution, ExecutionFailure, ExecutionState, ExecutionStatus,
    Permit, Planner, ProjectId, RunId, SessionId, StartRejection, StateConflict, ToolCall,
    ToolOutput,
};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::client_looks::ClientLookWaiters;
use crate::clock::Clock;
use crate::executors::ExecutorQueues;
use crate::follow::LogFollower;
use crate::follow_all::MultiLogFollower;
use crate::history::CallHistory;
use crate::journal::RunJournal;
use crate::live::ProjectChannels;
use crate::membership::ServerMembership;
use crate::projects::SettingsCache;
use crate::rules::{RuleCache, SubmitOptions};
use crate::store::{ConversationRepair, NewRun, RunKey, Store, StoreError, Transition};
use crate::submit::Submission;
use crate::timeouts::DecisionTimeouts;
use crate::waiters::DecisionWaiters;

/// The name under which the log tells of runs, calls and decisions: a line for each.
pub const ACTIVITY: &str = "activity";

/// Why a decision was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// There is no such request.
    #[error("no approval request has the id `{0}`")]
    Unknown(ApprovalId),
    /// Someone, or the deadline, was faster, and decided otherwise: what stands comes along.
    #[error(transparent)]
    AlreadySettled(#[from] StateConflict),
    /// What the person saw is not what the request shows.
    #[error("the request is not the one that was shown; look at it again before deciding")]
    Drift(Box<Execution>),
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
pub enum Admission {
    /// It may run, once, now.
    Permitted(Box<Permit>),
    /// It may not; what stands says why, and [`Execution::to_tool_output`] tells the model.
    Refused(Box<Execution>),
}

/// The gate. Cheap to clone; all clones are the same door.
#[derive(Clone)]
pub struct Gate {
    inner: Arc<GateInner>,
}

pub(crate) struct GateInner {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) asked: Arc<Notify>,
    pub(crate) channels: Arc<ProjectChannels>,
    pub(crate) waiting: DecisionWaiters,
    pub(crate) timeouts: DecisionTimeouts,
    pub(crate) settled: SettingsCache,
    pub(crate) pending_limit: u64,
    pub(crate) rules: RuleCache,
    pub(crate) history: Arc<CallHistory>,
    pub(crate) membership: ServerMembership,
    pub(crate) executors: ExecutorQueues,
    pub(crate) client_looks: ClientLookWaiters,
}

impl Gate {
    pub(crate) fn from_inner(inner: Arc<GateInner>) -> Self {
        Self { inner }
    }

    pub(crate) fn inner(&self) -> &GateInner {
        &self.inner
    }

    pub(crate) fn arc(&self) -> &Arc<GateInner> {
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
    pub async fn submit_and_wait(
        &self,
        call: ToolCall,
        planner: Arc<dyn Planner>,
        terms: &SubmitOptions,
    ) -> Result<Admission, StoreError> {
        match self.submit(call, planner, terms).await? {
            Submission::Permitted(permit) => Ok(Admission::Permitted(permit)),
            Submission::Refused(approval) => Ok(Admission::Refused(approval)),
            Submission::Waiting(approval) => self.wait_for_admission(approval.id).await,
            // Nobody here may run it: whoever wants to know what comes of it asks `settled`.
            Submission::Approved(approval) | Submission::Before(approval) => {
                Ok(Admission::Refused(approval))
            }
        }
    }

    /// Waits for the decision on a request and starts the call if it was a yes.
    pub async fn wait_for_admission(&self, id: ApprovalId) -> Result<Admission, StoreError> {
        let decided = self.wait_for_decision(id).await?;
        if decided.status() != ExecutionStatus::Approved {
            return Ok(Admission::Refused(Box::new(decided)));
        }
        if let Some(refused) = self.withdraw_if_denied(&decided).await? {
            return Ok(Admission::Refused(refused));
        }
        match self.start(decided.id).await? {
            Ok(permit) => Ok(Admission::Permitted(Box::new(permit))),
            Err(StartRejection(stands)) => Ok(Admission::Refused(stands)),
        }
    }

    /// Returns an approval once it no longer waits for a person; where another request took its
    /// place, that one.
    pub async fn wait_for_decision(&self, id: ApprovalId) -> Result<Execution, StoreError> {
        self.wait_for_change(id, ExecutionStatus::AwaitingApproval).await
    }

    /// Starts an approved call: of all who try, one gets the permit.
    pub async fn start(
        &self,
        id: ApprovalId,
    ) -> Result<Result<Permit, StartRejection>, StoreError> {
        let now = self.inner.clock.now();
        let (hand_over, handed) = std::sync::mpsc::channel();
        let step = move |approval: Execution| {
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
    ) -> Result<Execution, DecideError> {
        let now = self.inner.clock.now();
        let wanted = decided_status(&decision);
        let step = move |approval: Execution| {
            let approval = check_seen_digest(approval, seen.as_ref())?;
            Ok(approval.settle(decision.clone(), now)?)
        };
        match self.transition(id, step).await? {
            Transition::Unknown => Err(DecideError::Unknown(id)),
            Transition::Made(approval) if approval.status() == wanted => {
                count_decision(&approval);
                Ok(*approval)
            }
            // It was settled by this very call, but as timed out.
            Transition::Made(approval) => Err(StateConflict(approval).into()),
            Transition::Refused(DecideError::AlreadySettled(StateConflict(stands)))
                if matches_decision(&stands, wanted) =>
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
    pub async fn runs_asked_to_stop(&self) -> Result<Vec<RunId>, StoreError> {
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
        outcome: Result<ToolOutput, ExecutionFailure>,
    ) -> Result<Execution, DecideError> {
        let now = self.inner.clock.now();
        let step = move |approval: Execution| match outcome.clone() {
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
        step: impl Fn(Execution) -> Result<Execution, E> + Send + 'static,
    ) -> Result<Transition<E>, StoreError> {
        let made = self.inner.store.transition(id, self.inner.clock.now(), step).await?;
        if let Transition::Made(made) = &made {
            self.notify_changed(made);
        }
        Ok(made)
    }

    /// Tells those in this process who wait for a call, or watch its time, that it moved.
    pub(crate) fn notify_changed(&self, approval: &Execution) {
        log_state(approval);
        self.inner.waiting.wake(approval.id);
        if approval.lapses_at().is_some() {
            self.inner.asked.notify_waiters();
        }
    }

    /// Wakes whoever waits for a request.
    pub(crate) fn wake_waiters(&self, id: ApprovalId) {
        self.inner.waiting.wake(id);
    }

    /// Begins a run; none if its conversation is in the middle of one.
    pub async fn begin_run(&self, run: NewRun) -> Result<Option<RunJournal>, StoreError> {
        let (project, session) = (run.project.clone(), run.session.clone());
        let journal = self.journal(RunKey { project, session, run: run.id });
        let (id, project, session) = (run.id, run.project.clone(), run.session.clone());
        let began = self.inner.store.begin_run(run, self.inner.clock.now()).await?;
        if began {
            tracing::info!(target: ACTIVITY, run = %id, %session, %project, "run started");
        }
        Ok(began.then_some(journal))
    }

    /// Mends a conversation that the model's API would refuse, and tells of it in the log; returns what
    /// had to be changed. One in which another run than `own_run` goes on is left alone.
    pub async fn repair_conversation(
        &self,
        project: &ProjectId,
        session: &SessionId,
        own_run: Option<RunId>,
    ) -> Result<ConversationRepair, StoreError> {
        let now = self.inner.clock.now();
        self.inner.store.repair_conversation(project, session, own_run, now).await
    }

    pub(crate) fn journal(&self, key: RunKey) -> RunJournal {
        let (store, channels) = (self.inner.store.clone(), self.inner.channels.clone());
        RunJournal { store, channels, clock: self.inner.clock.clone(), key, is_silent: false }
    }

    /// Follows a project's log after a number.
    pub async fn follow(&self, project: &ProjectId, after: u64) -> Result<LogFollower, StoreError> {
        let (signals, drafts) = self.inner.channels.listen(project);
        let store = self.inner.store.clone();
        let head = store.head(project).await?;
        Ok(LogFollower::new(store, project.clone(), signals, drafts, after, head))
    }

    /// Follows the logs of all projects but one from now on, those of later projects too.
    pub async fn follow_all_but(
        &self,
        project: &ProjectId,
    ) -> Result<MultiLogFollower, StoreError> {
        let hints = self.inner.channels.listen_to_all();
        let store = self.inner.store.clone();
        let heads = store.heads().await?;
        Ok(MultiLogFollower::new(store, hints, project.clone(), heads))
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
pub(crate) fn check_seen_digest(
    stands: Execution,
    seen: Option<&Digest>,
) -> Result<Execution, DecideError> {
    match seen {
        Some(seen) => stands.restore_seen_version(seen).map_err(DecideError::Drift),
        None => Ok(stands),
    }
}

/// Says where a call stands, for who runs the server. Nothing that it was given or gave back.
pub(crate) fn log_state(approval: &Execution) {
    let by = match &approval.state {
        ExecutionState::Approved { by, .. } | ExecutionState::Rejected { by, .. } => {
            Some(by.to_string())
        }
        _ => None,
    };
    let error_type = match &approval.state {
        ExecutionState::Failed { failure, .. } => Some(failure.error_type.as_str()),
        _ => None,
    };
    let call = &approval.call;
    tracing::info!(
        target: ACTIVITY,
        status = %approval.status(),
        tool = call.tool_name,
        verdict = ?approval.verdict.outcome,
        risk = %approval.risk,
        by,
        error_type,
        approval = %approval.id,
        run = call.run.map(tracing::field::display),
        session = %call.session,
        project = %call.project,
        "call"
    );
}

/// Counts a decision that was recorded; the same one said again is none.
pub(crate) fn count_decision(settled: &Execution) {
    let status =
        if settled.status() == ExecutionStatus::Rejected { "rejected" } else { "approved" };
    metrics::counter!("countersign_decisions_total", "status" => status).increment(1);
}

fn decided_status(decision: &Decision) -> ExecutionStatus {
    match decision {
        Decision::Approve { .. } => ExecutionStatus::Approved,
        Decision::Reject { .. } => ExecutionStatus::Rejected,
    }
}

/// Whether what stands is what was wanted: an approved call may have gone on meanwhile.
fn matches_decision(stands: &Execution, wanted: ExecutionStatus) -> bool {
    match wanted {
        ExecutionStatus::Approved => stands.was_approved(),
        _ => stands.status() == wanted,
    }
}
