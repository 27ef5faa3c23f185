//! The gate: the one door every call goes through.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::{
    AlreadySettled, Approval, ApprovalId, Decision, Digest, Failure, NotStartable, Outcome, Permit,
    Plan, Planner, Policy, Preview, ProjectId, Risk, RunId, SessionId, State, Status, ToolCall,
    ToolOutput, Verdict, risk,
};
use jiff::{Timestamp, TimestampRound, Unit};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::clock::{Clock, after};
use crate::follow::Follow;
use crate::journal::Journal;
use crate::live::Channels;
use crate::store::{NewRun, RunEnd, Store, StoreError, Transition};
use crate::waiting::Waiting;
use crate::{Event, deadlines};

/// How long a person has to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For MEDIUM, and for LOW where even that asks.
    pub medium: Duration,
    /// For HIGH.
    pub high: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { medium: Duration::from_mins(5), high: Duration::from_mins(10) }
    }
}

impl Timeouts {
    /// Returns the same time for every risk.
    pub fn all(timeout: Duration) -> Self {
        Self { medium: timeout, high: timeout }
    }

    fn of(self, risk: Risk) -> Duration {
        match risk {
            Risk::Low | Risk::Medium => self.medium,
            Risk::High => self.high,
        }
    }
}

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

/// What came of handing a call in.
#[derive(Debug)]
pub enum Submitted {
    /// It may run, once, now.
    Permitted(Box<Permit>),
    /// A person is to decide.
    Waiting(Box<Approval>),
    /// It is invalid or denied.
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
    channels: Arc<Channels>,
    waiting: Waiting,
    timeouts: Timeouts,
}

impl Gate {
    /// Opens the gate on a database file. Needs a runtime to keep deadlines on.
    pub fn open(
        file: &Path,
        clock: Arc<dyn Clock>,
        timeouts: Timeouts,
    ) -> Result<Self, StoreError> {
        Self::over(|on_commit| Store::open(file, on_commit), clock, timeouts)
    }

    /// Opens a gate that forgets everything when the process ends.
    pub fn in_memory(clock: Arc<dyn Clock>, timeouts: Timeouts) -> Result<Self, StoreError> {
        Self::over(Store::in_memory, clock, timeouts)
    }

    fn over(
        open: impl FnOnce(crate::store::OnCommit) -> Result<Store, StoreError>,
        clock: Arc<dyn Clock>,
        timeouts: Timeouts,
    ) -> Result<Self, StoreError> {
        let channels = Arc::new(Channels::default());
        let told = channels.clone();
        let store = open(Arc::new(move |project, seq| told.logged(project, seq)))?;
        let inner = Arc::new(Inner {
            store,
            clock,
            asked: Arc::new(Notify::new()),
            channels,
            waiting: Waiting::default(),
            timeouts,
        });
        tokio::spawn(deadlines::keep(Arc::downgrade(&inner)));
        Ok(Self { inner })
    }

    pub(crate) fn from_inner(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    pub(crate) fn inner(&self) -> &Inner {
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
        policy: &Policy,
    ) -> Result<Passage, StoreError> {
        match self.submit(call, planner, policy).await? {
            Submitted::Permitted(permit) => Ok(Passage::Permitted(permit)),
            Submitted::Refused(approval) => Ok(Passage::Refused(approval)),
            Submitted::Waiting(approval) => self.admission(approval.id).await,
        }
    }

    /// Waits for the decision on a request and starts the call if it was a yes.
    pub async fn admission(&self, id: ApprovalId) -> Result<Passage, StoreError> {
        let decided = self.wait(id).await?;
        if decided.status() != Status::Approved {
            return Ok(Passage::Refused(Box::new(decided)));
        }
        match self.start(id).await? {
            Ok(permit) => Ok(Passage::Permitted(Box::new(permit))),
            Err(NotStartable(stands)) => Ok(Passage::Refused(stands)),
        }
    }

    /// Hands a call in: plans it, judges it, and records what comes of that.
    pub async fn submit(
        &self,
        call: ToolCall,
        planner: Arc<dyn Planner>,
        policy: &Policy,
    ) -> Result<Submitted, StoreError> {
        let now = self.inner.clock.now();
        let (call, plan) = off_runtime(call, &planner, <dyn Planner>::plan).await;
        let plan = match plan {
            Ok(plan) => plan,
            Err(why) => return self.refuse(draft(call, now), "validation", why).await,
        };
        let risk = risk::assess(&plan.effects);
        let verdict = policy.verdict(&call, &plan.effects, risk);
        let outcome = verdict.outcome;
        let judged = judged(draft(call, now), plan, risk, verdict);
        match outcome {
            Outcome::Deny => {
                let why = judged.verdict.reasons.first().map(|reason| reason.text.clone());
                self.refuse(judged, "denied", format!("Denied: {}", why.unwrap_or_default())).await
            }
            Outcome::Allow => self.admit(judged, now).await,
            Outcome::Ask => self.ask(judged, planner, now).await,
        }
    }

    /// Records a call that is allowed and starts it in the same step.
    async fn admit(&self, judged: Approval, now: Timestamp) -> Result<Submitted, StoreError> {
        let allowed = judged.allow(now).map_err(unexpected)?;
        let (started, permit) = allowed.start(now).map_err(unexpected)?;
        // The permit leaves this function only after the start is on disk.
        self.inner.store.keep_approval(started, now).await?;
        Ok(Submitted::Permitted(Box::new(permit)))
    }

    /// Records a call that a person is to decide, with what they need to see.
    async fn ask(
        &self,
        judged: Approval,
        planner: Arc<dyn Planner>,
        now: Timestamp,
    ) -> Result<Submitted, StoreError> {
        let (call, shown) =
            off_runtime(judged.call.clone(), &planner, <dyn Planner>::preview).await;
        let preview = match shown {
            Ok(preview) => preview,
            Err(why) => return self.refuse(judged, "validation", why).await,
        };
        let shown = Approval {
            digest: Approval::digest_of(&call, Some(&preview)),
            preview: Some(preview),
            ..judged
        };
        let deadline = deadline(now, self.inner.timeouts.of(shown.risk));
        let asked = shown.ask(deadline).map_err(unexpected)?;
        self.inner.store.keep_approval(asked.clone(), now).await?;
        self.inner.asked.notify_waiters();
        Ok(Submitted::Waiting(Box::new(asked)))
    }

    async fn refuse(
        &self,
        judged: Approval,
        error_type: &str,
        error: String,
    ) -> Result<Submitted, StoreError> {
        let now = self.inner.clock.now();
        let failure = Failure { error_type: error_type.to_owned(), error };
        let refused = judged.refuse(failure, now).map_err(unexpected)?;
        self.inner.store.keep_approval(refused.clone(), now).await?;
        Ok(Submitted::Refused(Box::new(refused)))
    }

    /// Returns an approval once it no longer waits for a person.
    pub async fn wait(&self, id: ApprovalId) -> Result<Approval, StoreError> {
        loop {
            let place = self.inner.waiting.at(id);
            let changed = place.changed.notified();
            tokio::pin!(changed);
            // Registered before the look, so a decision between look and wait still wakes us.
            changed.as_mut().enable();
            match self.inner.store.approval(id).await? {
                Some(approval) if approval.status() != Status::AwaitingApproval => {
                    return Ok(approval);
                }
                Some(_) => changed.await,
                None => return Err(StoreError::corrupt("approval", format!("`{id}` is gone"))),
            }
        }
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
                handed.try_recv().map(Ok).map_err(|error| StoreError::corrupt("permit", error))
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
            if seen.is_some_and(|seen| seen != approval.digest) {
                return Err(DecideError::Drift(Box::new(approval)));
            }
            Ok(approval.settle(decision, now)?)
        };
        match self.transition(id, step).await? {
            Transition::Unknown => Err(DecideError::Unknown(id)),
            Transition::Made(approval) if approval.status() == wanted => Ok(*approval),
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
        let step = move |approval: Approval| match outcome {
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
        step: impl FnOnce(Approval) -> Result<Approval, E> + Send + 'static,
    ) -> Result<Transition<E>, StoreError> {
        let made = self.inner.store.transition(id, self.inner.clock.now(), step).await?;
        if matches!(made, Transition::Made(_)) {
            self.inner.waiting.wake(id);
        }
        Ok(made)
    }

    /// Begins a run; none if its conversation is in the middle of one.
    pub async fn begin_run(&self, run: NewRun) -> Result<Option<Journal>, StoreError> {
        let journal = Journal {
            store: self.inner.store.clone(),
            channels: self.inner.channels.clone(),
            clock: self.inner.clock.clone(),
            project: run.project.clone(),
            session: run.session.clone(),
            run: run.id,
        };
        let began = self.inner.store.begin_run(run, self.inner.clock.now()).await?;
        Ok(began.then_some(journal))
    }

    /// Follows a project's log after a number.
    pub async fn follow(&self, project: &ProjectId, after: u64) -> Result<Follow, StoreError> {
        let (signals, drafts) = self.inner.channels.listen(project);
        let store = self.inner.store.clone();
        let head = store.head(project).await?;
        Ok(Follow::new(store, project.clone(), signals, drafts, after, head))
    }

    /// Ends what a process that died left unfinished. To be called before anything else.
    ///
    /// What waited is taken back, since whoever asked is gone; what had started may or may not have
    /// happened, and says so.
    pub async fn recover(&self) -> Result<(), StoreError> {
        let now = self.inner.clock.now();
        for left in self.inner.store.unfinished().await? {
            let step = move |approval: Approval| match approval.state {
                State::Executing { .. } => approval.fail(interrupted(), now),
                _ => approval.cancel(now),
            };
            let _ = self.transition(left.id, step).await?;
        }
        for (project, session, run) in self.inner.store.running().await? {
            let event = Event::RunFailed {
                code: "interrupted".to_owned(),
                message: "the server stopped in the middle of this run".to_owned(),
                hint: Some("send a prompt to go on with the conversation".to_owned()),
            };
            self.inner.store.end_run(&project, &session, run, RunEnd::Failed, event, now).await?;
        }
        Ok(())
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

fn interrupted() -> Failure {
    Failure {
        error_type: "interrupted".to_owned(),
        error:
            "Interrupted: the server stopped while this ran. Whether it took effect is unknown; \
                look before trying again."
                .to_owned(),
    }
}

/// Asks a planner off the runtime. A planner that panics has said nothing, so the call is refused.
async fn off_runtime<T: Send + 'static>(
    call: ToolCall,
    planner: &Arc<dyn Planner>,
    ask: impl FnOnce(&dyn Planner, &ToolCall) -> Result<T, countersign_core::Invalid> + Send + 'static,
) -> (ToolCall, Result<T, String>) {
    let (planner, asked) = (planner.clone(), call.clone());
    let answer = tokio::task::spawn_blocking(move || ask(planner.as_ref(), &asked)).await;
    let answer = match answer {
        Ok(answer) => answer.map_err(|invalid| invalid.to_string()),
        Err(_) => {
            Err("The tool could not say what this call would do, so it was not run".to_owned())
        }
    };
    (call, answer)
}

/// A call nobody has judged yet: what it would do is unknown, so it counts as high.
fn draft(call: ToolCall, now: Timestamp) -> Approval {
    Approval {
        id: new_id(),
        digest: Approval::digest_of(&call, None::<&Preview>),
        summary: format!("Use `{}`", call.tool_name),
        call,
        effects: Vec::new(),
        risk: Risk::High,
        verdict: Verdict::from_reasons(Vec::new()),
        preview: None,
        created_at: now,
        state: State::Pending,
    }
}

fn judged(draft: Approval, plan: Plan, risk: Risk, verdict: Verdict) -> Approval {
    Approval { effects: plan.effects, summary: plan.summary, risk, verdict, ..draft }
}

/// A deadline in whole milliseconds, as the table holds it: both must agree on when it is over.
fn deadline(now: Timestamp, timeout: Duration) -> Timestamp {
    let deadline = after(now, timeout);
    deadline.round(TimestampRound::new().smallest(Unit::Millisecond)).unwrap_or(deadline)
}

fn wanted(decision: &Decision) -> Status {
    match decision {
        Decision::Approve { .. } => Status::Approved,
        Decision::Reject { .. } => Status::Rejected,
    }
}

/// Whether what stands is what was wanted: an approved call may have gone on meanwhile.
fn agrees(stands: &Approval, wanted: Status) -> bool {
    let approved = matches!(stands.status(), Status::Executing | Status::Completed);
    stands.status() == wanted || (wanted == Status::Approved && approved)
}

/// A transition of a value nobody else has seen cannot be refused; if it is, nothing runs.
fn unexpected(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::corrupt("state", error)
}
