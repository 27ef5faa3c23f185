//! Handing a call in: planned, judged, and recorded as what came of that. Top to bottom.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{
    ApprovalId, CallPlan, CommandPreview, DecisionContext, Digest, Execution, ExecutionFailure,
    ExecutionState, GrantProposal, InvalidCall, PartPreview, Permit, Planner, Preview, Risk,
    ToolCall, Verdict, VerdictAction, VerdictReason, mask_text, risk,
};
use jiff::{Timestamp, TimestampRound, Unit};

use crate::clock::time_after;
use crate::gate::{Gate, log_state, new_id};
use crate::rules::SubmitOptions;
use crate::store::{InsertOutcome, StoreError};

/// What came of handing a call in.
#[derive(Debug)]
pub enum Submission {
    /// It may run, once, now.
    Permitted(Box<Permit>),
    /// A person is to decide.
    Waiting(Box<Execution>),
    /// It may run elsewhere, once, when somebody comes for it.
    Approved(Box<Execution>),
    /// It is invalid or denied.
    Refused(Box<Execution>),
    /// Its caller has handed it in before: what stands.
    Before(Box<Execution>),
}

/// What whoever hands a call in has to say to it.
#[derive(Clone, Debug, Default)]
pub struct AskOptions {
    /// Why a person has to be asked, whatever the rules allow.
    pub must_ask: Option<String>,
    /// What "always" could mean, too, where it may be said.
    pub suggestions: Vec<GrantProposal>,
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
        terms: &SubmitOptions,
    ) -> Result<Submission, StoreError> {
        self.submit_with(call, planner, terms, &AskOptions::default()).await
    }

    /// Hands a call in that its asker has something to say to.
    pub async fn submit_with(
        &self,
        call: ToolCall,
        planner: Arc<dyn Planner>,
        terms: &SubmitOptions,
        question: &AskOptions,
    ) -> Result<Submission, StoreError> {
        let now = self.inner().clock.now();
        let mut draft = new_draft(call, now);
        draft.basis.submitted_by.clone_from(&question.submitted_by);
        // Boxed, as wherever a call is handed in: what it takes is large, and callers hold it.
        Box::pin(self.submit_draft(draft.with_updated_binding(), planner, terms, question)).await
    }

    /// Plans, judges and records a call that may know already why it is asked again.
    pub(crate) async fn submit_draft(
        &self,
        draft: Execution,
        planner: Arc<dyn Planner>,
        terms: &SubmitOptions,
        question: &AskOptions,
    ) -> Result<Submission, StoreError> {
        let look = self.look_at_client(&draft.call).await;
        let planner = look.planner(&planner);
        let mut draft = draft;
        draft.basis.witness = look.witness();
        let now = self.inner().clock.now();
        let judged = match self.plan_and_judge(draft.clone(), &planner, terms, question).await {
            Ok(judged) => judged,
            Err(why) => return self.refuse(draft, "validation", why).await,
        };
        self.inner().history.record_call(&judged);
        match judged.verdict.outcome {
            VerdictAction::Deny => {
                let why = denial_text(&judged.verdict);
                self.refuse(judged, "denied", format!("Denied: {why}")).await
            }
            VerdictAction::Allow if judged.call.executor.is_remote() => {
                self.allow(judged, now).await
            }
            VerdictAction::Allow => self.admit(judged, now).await,
            VerdictAction::Ask => {
                let shown = self.attach_preview(judged, &planner).await;
                let shown = shown.map(|shown| look.add_unseen_reason(shown));
                self.ask(shown, question.timeout, now).await
            }
        }
    }

    /// Plans a call and judges it; the error is why it cannot run as it was made.
    pub(crate) async fn plan_and_judge(
        &self,
        draft: Execution,
        planner: &Arc<dyn Planner>,
        terms: &SubmitOptions,
        question: &AskOptions,
    ) -> Result<Execution, String> {
        let now = self.inner().clock.now();
        let plan = ask_planner(draft.call.clone(), planner, <dyn Planner>::plan).await?;
        let risk = risk::assess(&plan.effects);
        let plan = CallPlan { summary: mask_text(&plan.summary), ..plan };
        let policy = self.policy(&draft.call, *terms).await;
        let verdict = policy.verdict(&draft.call, &plan, risk, now).mask_secrets();
        let verdict = question.apply_to_verdict(verdict);
        let basis = match verdict.outcome {
            VerdictAction::Ask => {
                let basis = draft.basis.clone();
                let basis =
                    self.fill_decision_context(basis, &policy, &draft.call, &plan, &verdict).await;
                question.add_suggestions(basis)
            }
            VerdictAction::Allow | VerdictAction::Deny => draft.basis.clone(),
        };
        let CallPlan { effects, summary, commands, sandboxed: _, canonical } = plan;
        let judged = Execution { effects, summary, commands, canonical, ..draft };
        Ok(Execution { risk, verdict, basis, ..judged }.with_updated_binding())
    }

    /// Shows a judged call: what a person needs to see, bound to what it was computed from.
    pub(crate) async fn attach_preview(
        &self,
        judged: Execution,
        planner: &Arc<dyn Planner>,
    ) -> Result<Execution, (Execution, String)> {
        let call = judged.call.clone();
        let preview = match ask_planner(call, planner, <dyn Planner>::preview).await {
            Ok(Preview::Command(command)) => {
                let parts = PartPreview::for_commands(&judged.commands, &judged.verdict);
                let canonical = judged.canonical.as_ref().map(|it| it.text.clone());
                Preview::Command(CommandPreview { parts, canonical, ..command })
            }
            Ok(preview) => preview,
            Err(why) => return Err((judged, why)),
        };
        Ok(Execution { preview: Some(preview.mask_secrets()), ..judged }.with_updated_binding())
    }

    /// Records a call that is allowed and starts it in the same step.
    async fn admit(&self, judged: Execution, now: Timestamp) -> Result<Submission, StoreError> {
        let allowed = judged.allow(now).map_err(corrupt_state)?;
        let (started, permit) = allowed.start(now).map_err(corrupt_state)?;
        // The permit leaves this function only after the start is on disk.
        self.inner().store.insert_execution(started.clone(), u64::MAX, now).await?;
        log_state(&started);
        Ok(Submission::Permitted(Box::new(permit)))
    }

    /// Records a call that is allowed and that somebody else is to start.
    async fn allow(&self, judged: Execution, now: Timestamp) -> Result<Submission, StoreError> {
        let allowed = judged.allow(now).map_err(corrupt_state)?;
        match self.inner().store.insert_execution(allowed.clone(), u64::MAX, now).await? {
            InsertOutcome::Before(known) => self.existing_submission(known).await,
            InsertOutcome::New | InsertOutcome::TooMany => {
                self.notify_changed(&allowed);
                Ok(Submission::Approved(Box::new(allowed)))
            }
        }
    }

    async fn existing_submission(&self, id: ApprovalId) -> Result<Submission, StoreError> {
        let Some(stands) = self.inner().store.approval(id).await? else {
            return Err(StoreError::corrupt("approval", format!("`{id}` is gone")));
        };
        Ok(Submission::Before(Box::new(stands)))
    }

    /// Records a call that a person is to decide, with what they need to see.
    async fn ask(
        &self,
        shown: Result<Execution, (Execution, String)>,
        timeout: Option<Duration>,
        now: Timestamp,
    ) -> Result<Submission, StoreError> {
        let shown = match shown {
            Ok(shown) => shown,
            Err((judged, why)) => return self.refuse(judged, "validation", why).await,
        };
        let timeout = match timeout {
            Some(timeout) => timeout,
            None => Box::pin(self.timeouts(&shown.call.project)).await?.for_risk(shown.risk),
        };
        let deadline = deadline_after(now, timeout);
        let limit = self.inner().pending_limit;
        let asked = shown.clone().ask(deadline).map_err(corrupt_state)?;
        match self.inner().store.insert_execution(asked.clone(), limit, now).await? {
            InsertOutcome::Before(known) => self.existing_submission(known).await,
            InsertOutcome::TooMany => {
                let why = format!(
                    "Not asked: {limit} calls of this project wait for a decision already. Wait \
                     until some are decided, then try again"
                );
                self.refuse(shown, "too_many_pending", why).await
            }
            InsertOutcome::New => {
                self.notify_changed(&asked);
                Ok(Submission::Waiting(Box::new(asked)))
            }
        }
    }

    async fn refuse(
        &self,
        judged: Execution,
        error_type: &str,
        error: String,
    ) -> Result<Submission, StoreError> {
        let now = self.inner().clock.now();
        let failure = ExecutionFailure { error_type: error_type.to_owned(), error };
        let refused = judged.refuse(failure, now).map_err(corrupt_state)?;
        match self.inner().store.insert_execution(refused.clone(), u64::MAX, now).await? {
            InsertOutcome::Before(known) => self.existing_submission(known).await,
            InsertOutcome::New | InsertOutcome::TooMany => {
                log_state(&refused);
                Ok(Submission::Refused(Box::new(refused)))
            }
        }
    }
}

impl AskOptions {
    fn apply_to_verdict(&self, verdict: Verdict) -> Verdict {
        match &self.must_ask {
            Some(why) => {
                let reason = VerdictReason::new(VerdictAction::Ask, mask_text(why));
                Verdict::from_reasons(verdict.reasons.into_iter().chain([reason]).collect())
            }
            None => verdict,
        }
    }

    /// Adds what the asker suggests to what we propose. Where we propose nothing, "always" may not
    /// be said, whoever suggests it.
    fn add_suggestions(&self, mut basis: DecisionContext) -> DecisionContext {
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
pub(crate) async fn ask_planner<T: Send + 'static>(
    call: ToolCall,
    planner: &Arc<dyn Planner>,
    ask: impl FnOnce(&dyn Planner, &ToolCall) -> Result<T, InvalidCall> + Send + 'static,
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
pub(crate) fn denial_text(verdict: &Verdict) -> String {
    verdict.reasons.first().map(|reason| reason.text.clone()).unwrap_or_default()
}

/// A call nobody has judged yet: what it would do is unknown, so it counts as high.
pub(crate) fn new_draft(call: ToolCall, now: Timestamp) -> Execution {
    Execution {
        id: new_id(),
        digest: Digest::for_bytes(&[]),
        summary: format!("Use `{}`", call.tool_name),
        call,
        effects: Vec::new(),
        commands: Vec::new(),
        canonical: None,
        basis: DecisionContext::default(),
        risk: Risk::High,
        verdict: Verdict::from_reasons(Vec::new()),
        preview: None,
        created_at: now,
        state: ExecutionState::Pending,
    }
    .with_updated_binding()
}

/// A deadline in whole milliseconds, as the table holds it: both must agree on when it is over.
pub(crate) fn deadline_after(now: Timestamp, timeout: Duration) -> Timestamp {
    let deadline = time_after(now, timeout);
    deadline.round(TimestampRound::new().smallest(Unit::Millisecond)).unwrap_or(deadline)
}

/// A transition of a value nobody else has seen cannot be refused; if it is, nothing runs.
pub(crate) fn corrupt_state(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::corrupt("state", error)
}
