//! Handing a call in: planned, judged, and recorded as what came of that. Top to bottom.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{
    Approval, ApprovalId, Basis, CommandPreview, Digest, Failure, Invalid, Outcome, PartPreview,
    Permit, Plan, Planner, Preview, Proposal, Reason, Risk, State, ToolCall, Verdict, masked_text,
    risk,
};
use jiff::{Timestamp, TimestampRound, Unit};

use crate::clock::after;
use crate::gate::{Gate, log_state, new_id};
use crate::rules::Terms;
use crate::store::{Kept, StoreError};

/// What came of handing a call in.
#[derive(Debug)]
pub enum Submitted {
    /// It may run, once, now.
    Permitted(Box<Permit>),
    /// A person is to decide.
    Waiting(Box<Approval>),
    /// It may run elsewhere, once, when somebody comes for it.
    Approved(Box<Approval>),
    /// It is invalid or denied.
    Refused(Box<Approval>),
    /// Its caller has handed it in before: what stands.
    Before(Box<Approval>),
}

/// What whoever hands a call in has to say to it.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Why a person has to be asked, whatever the rules allow.
    pub must_ask: Option<String>,
    /// What "always" could mean, too, where it may be said.
    pub suggestions: Vec<Proposal>,
    /// How long a person has to decide; by risk where it is not given.
    pub timeout: Option<Duration>,
    /// The id of the token that the call was handed in with.
    pub submitted_by: Option<String>,
}

impl Gate {
    /// Hands a call in: plans it, judges it, and records what comes of that.
    pub async fn submit(
        &self,
        call: ToolCall,
        planner: Arc<dyn Planner>,
        terms: &Terms,
    ) -> Result<Submitted, StoreError> {
        self.submit_with(call, planner, terms, &Question::default()).await
    }

    /// Hands a call in that its asker has something to say to.
    pub async fn submit_with(
        &self,
        call: ToolCall,
        planner: Arc<dyn Planner>,
        terms: &Terms,
        question: &Question,
    ) -> Result<Submitted, StoreError> {
        let now = self.inner().clock.now();
        let mut draft = draft(call, now);
        draft.basis.submitted_by.clone_from(&question.submitted_by);
        // Boxed, as wherever a call is handed in: what it takes is large, and callers hold it.
        Box::pin(self.hand_in(draft.bound(), planner, terms, question)).await
    }

    /// Plans, judges and records a call that may know already why it is asked again.
    pub(crate) async fn hand_in(
        &self,
        draft: Approval,
        planner: Arc<dyn Planner>,
        terms: &Terms,
        question: &Question,
    ) -> Result<Submitted, StoreError> {
        let look = self.look_at_client(&draft.call).await;
        let planner = look.planner(&planner);
        let mut draft = draft;
        draft.basis.witness = look.witness();
        let now = self.inner().clock.now();
        let judged = match self.judged(draft.clone(), &planner, terms, question).await {
            Ok(judged) => judged,
            Err(why) => return self.refuse(draft, "validation", why).await,
        };
        self.inner().history.note(&judged);
        match judged.verdict.outcome {
            Outcome::Deny => {
                let why = denial(&judged.verdict);
                self.refuse(judged, "denied", format!("Denied: {why}")).await
            }
            Outcome::Allow if judged.call.executor.is_elsewhere() => self.allow(judged, now).await,
            Outcome::Allow => self.admit(judged, now).await,
            Outcome::Ask => {
                let shown = self.shown(judged, &planner).await;
                let shown = shown.map(|shown| look.told_with(shown));
                self.ask(shown, question.timeout, now).await
            }
        }
    }

    /// Plans a call and judges it; the error is why it cannot run as it was made.
    pub(crate) async fn judged(
        &self,
        draft: Approval,
        planner: &Arc<dyn Planner>,
        terms: &Terms,
        question: &Question,
    ) -> Result<Approval, String> {
        let now = self.inner().clock.now();
        let plan = off_runtime(draft.call.clone(), planner, <dyn Planner>::plan).await?;
        let risk = risk::assess(&plan.effects);
        let plan = Plan { summary: masked_text(&plan.summary), ..plan };
        let policy = self.policy(&draft.call, *terms).await;
        let verdict = policy.verdict(&draft.call, &plan, risk, now).masked();
        let verdict = question.put_to(verdict);
        let basis = match verdict.outcome {
            Outcome::Ask => {
                let basis = draft.basis.clone();
                let basis = self.basis(basis, &policy, &draft.call, &plan, &verdict).await;
                question.added_to(basis)
            }
            Outcome::Allow | Outcome::Deny => draft.basis.clone(),
        };
        let Plan { effects, summary, commands, sandboxed: _, canonical } = plan;
        let judged = Approval { effects, summary, commands, canonical, ..draft };
        Ok(Approval { risk, verdict, basis, ..judged }.bound())
    }

    /// Shows a judged call: what a person needs to see, bound to what it was computed from.
    pub(crate) async fn shown(
        &self,
        judged: Approval,
        planner: &Arc<dyn Planner>,
    ) -> Result<Approval, (Approval, String)> {
        let call = judged.call.clone();
        let preview = match off_runtime(call, planner, <dyn Planner>::preview).await {
            Ok(Preview::Command(command)) => {
                let parts = PartPreview::of(&judged.commands, &judged.verdict);
                let canonical = judged.canonical.as_ref().map(|it| it.text.clone());
                Preview::Command(CommandPreview { parts, canonical, ..command })
            }
            Ok(preview) => preview,
            Err(why) => return Err((judged, why)),
        };
        Ok(Approval { preview: Some(preview.masked()), ..judged }.bound())
    }

    /// Records a call that is allowed and starts it in the same step.
    async fn admit(&self, judged: Approval, now: Timestamp) -> Result<Submitted, StoreError> {
        let allowed = judged.allow(now).map_err(unexpected)?;
        let (started, permit) = allowed.start(now).map_err(unexpected)?;
        // The permit leaves this function only after the start is on disk.
        self.inner().store.keep_approval(started.clone(), u64::MAX, now).await?;
        log_state(&started);
        Ok(Submitted::Permitted(Box::new(permit)))
    }

    /// Records a call that is allowed and that somebody else is to start.
    async fn allow(&self, judged: Approval, now: Timestamp) -> Result<Submitted, StoreError> {
        let allowed = judged.allow(now).map_err(unexpected)?;
        match self.inner().store.keep_approval(allowed.clone(), u64::MAX, now).await? {
            Kept::Before(known) => self.known(known).await,
            Kept::New | Kept::TooMany => {
                self.moved(&allowed);
                Ok(Submitted::Approved(Box::new(allowed)))
            }
        }
    }

    async fn known(&self, id: ApprovalId) -> Result<Submitted, StoreError> {
        let Some(stands) = self.inner().store.approval(id).await? else {
            return Err(StoreError::corrupt("approval", format!("`{id}` is gone")));
        };
        Ok(Submitted::Before(Box::new(stands)))
    }

    /// Records a call that a person is to decide, with what they need to see.
    async fn ask(
        &self,
        shown: Result<Approval, (Approval, String)>,
        timeout: Option<Duration>,
        now: Timestamp,
    ) -> Result<Submitted, StoreError> {
        let shown = match shown {
            Ok(shown) => shown,
            Err((judged, why)) => return self.refuse(judged, "validation", why).await,
        };
        let timeout = match timeout {
            Some(timeout) => timeout,
            None => Box::pin(self.timeouts(&shown.call.project)).await?.of(shown.risk),
        };
        let deadline = deadline(now, timeout);
        let limit = self.inner().pending_limit;
        let asked = shown.clone().ask(deadline).map_err(unexpected)?;
        match self.inner().store.keep_approval(asked.clone(), limit, now).await? {
            Kept::Before(known) => self.known(known).await,
            Kept::TooMany => {
                let why = format!(
                    "Not asked: {limit} calls of this project wait for a decision already. Wait \
                     until some are decided, then try again"
                );
                self.refuse(shown, "too_many_pending", why).await
            }
            Kept::New => {
                self.moved(&asked);
                Ok(Submitted::Waiting(Box::new(asked)))
            }
        }
    }

    async fn refuse(
        &self,
        judged: Approval,
        error_type: &str,
        error: String,
    ) -> Result<Submitted, StoreError> {
        let now = self.inner().clock.now();
        let failure = Failure { error_type: error_type.to_owned(), error };
        let refused = judged.refuse(failure, now).map_err(unexpected)?;
        match self.inner().store.keep_approval(refused.clone(), u64::MAX, now).await? {
            Kept::Before(known) => self.known(known).await,
            Kept::New | Kept::TooMany => {
                log_state(&refused);
                Ok(Submitted::Refused(Box::new(refused)))
            }
        }
    }
}

impl Question {
    fn put_to(&self, verdict: Verdict) -> Verdict {
        match &self.must_ask {
            Some(why) => {
                let reason = Reason::new(Outcome::Ask, masked_text(why));
                Verdict::from_reasons(verdict.reasons.into_iter().chain([reason]).collect())
            }
            None => verdict,
        }
    }

    /// Adds what the asker suggests to what we propose. Where we propose nothing, "always" may not
    /// be said, whoever suggests it.
    fn added_to(&self, mut basis: Basis) -> Basis {
        if !basis.proposals.is_empty() {
            for suggestion in &self.suggestions {
                if !basis.proposals.iter().any(|known| known.rules == suggestion.rules) {
                    basis.proposals.push(suggestion.clone());
                }
            }
        }
        basis
    }
}

/// Asks a planner off the runtime. A planner that panics has said nothing, so the call is refused.
pub(crate) async fn off_runtime<T: Send + 'static>(
    call: ToolCall,
    planner: &Arc<dyn Planner>,
    ask: impl FnOnce(&dyn Planner, &ToolCall) -> Result<T, Invalid> + Send + 'static,
) -> Result<T, String> {
    let planner = planner.clone();
    match tokio::task::spawn_blocking(move || ask(planner.as_ref(), &call)).await {
        Ok(answer) => answer.map_err(|invalid| invalid.to_string()),
        Err(_) => {
            Err("The tool could not say what this call would do, so it was not run".to_owned())
        }
    }
}

/// Returns why a call is denied, for the model and for people.
pub(crate) fn denial(verdict: &Verdict) -> String {
    verdict.reasons.first().map(|reason| reason.text.clone()).unwrap_or_default()
}

/// A call nobody has judged yet: what it would do is unknown, so it counts as high.
pub(crate) fn draft(call: ToolCall, now: Timestamp) -> Approval {
    Approval {
        id: new_id(),
        digest: Digest::of(&[]),
        summary: format!("Use `{}`", call.tool_name),
        call,
        effects: Vec::new(),
        commands: Vec::new(),
        canonical: None,
        basis: Basis::default(),
        risk: Risk::High,
        verdict: Verdict::from_reasons(Vec::new()),
        preview: None,
        created_at: now,
        state: State::Pending,
    }
    .bound()
}

/// A deadline in whole milliseconds, as the table holds it: both must agree on when it is over.
pub(crate) fn deadline(now: Timestamp, timeout: Duration) -> Timestamp {
    let deadline = after(now, timeout);
    deadline.round(TimestampRound::new().smallest(Unit::Millisecond)).unwrap_or(deadline)
}

/// A transition of a value nobody else has seen cannot be refused; if it is, nothing runs.
pub(crate) fn unexpected(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::corrupt("state", error)
}
