//! Submitting a call: planned, judged, and recorded as what came of that.
//!
//! A call that runs here and one that runs elsewhere are judged alike. What may come of them differs, so
//! there are two kinds of submission.

use std::time::Duration;

use countersign_core::{
    ApprovalId, DecisionContext, Execution, ExecutionDraft, ExecutionFailure, FailureKind, Permit,
    StartRejection, ToolCall, VerdictAction,
};
use jiff::Timestamp;

use crate::gate::Gate;
use crate::gate_error::GateError;
use crate::planner_task::{deadline_after, denial_text, new_draft};
use crate::store::InsertOutcome;
use crate::submit_options::CallTerms;

/// What came of submitting a call that runs here.
#[derive(Debug)]
pub enum LocalSubmission {
    /// It may run, once, now.
    Permitted(Box<Permit>),
    /// A person is to decide.
    Waiting(Box<Execution>),
    /// It is invalid or denied.
    Refused(Box<Execution>),
}

/// What came of submitting a call that runs elsewhere.
#[derive(Debug)]
pub enum RemoteSubmission {
    /// It may run, once, when somebody comes for it.
    Approved(Box<Execution>),
    /// A person is to decide.
    Waiting(Box<Execution>),
    /// It is invalid or denied.
    Refused(Box<Execution>),
    /// Its caller has submitted it before: this is the execution it is.
    Existing(Box<Execution>),
}

impl RemoteSubmission {
    /// Returns the execution, in whatever state it is.
    pub fn into_execution(self) -> Execution {
        match self {
            Self::Approved(execution)
            | Self::Waiting(execution)
            | Self::Refused(execution)
            | Self::Existing(execution) => *execution,
        }
    }
}

/// A judged call, before anything of it is recorded.
enum JudgedCall {
    Refused(ExecutionDraft, ExecutionFailure),
    Allowed(ExecutionDraft),
    Asks(ExecutionDraft),
}

impl Gate {
    /// Submits a call that runs here: plans it, judges it, and records what comes of that.
    pub async fn submit_local(
        &self,
        call: ToolCall,
        terms: &CallTerms,
    ) -> Result<LocalSubmission, GateError> {
        // Boxed, as wherever a call is submitted: what it takes is large, and callers hold it.
        Box::pin(self.submit_local_draft(self.draft(call, terms), terms)).await
    }

    /// Submits a call that runs elsewhere: plans it, judges it, and records what comes of that.
    pub async fn submit_remote(
        &self,
        call: ToolCall,
        terms: &CallTerms,
    ) -> Result<RemoteSubmission, GateError> {
        Box::pin(self.submit_remote_draft(self.draft(call, terms), terms)).await
    }

    /// Judges and records a call that runs here and may know already why it is asked again.
    pub(crate) async fn submit_local_draft(
        &self,
        draft: ExecutionDraft,
        terms: &CallTerms,
    ) -> Result<LocalSubmission, GateError> {
        if draft.call().executor.is_remote() {
            return Err(GateError::RunsElsewhere(draft.call().id));
        }
        let now = self.inner().clock.now();
        match self.judge(draft, terms).await {
            JudgedCall::Refused(draft, failure) => self.refuse_here(draft, failure).await,
            JudgedCall::Allowed(draft) => self.start_allowed(draft, now).await,
            JudgedCall::Asks(draft) => self.ask_here(draft, terms, now).await,
        }
    }

    /// Judges and records a call that runs elsewhere and may know already why it is asked again.
    pub(crate) async fn submit_remote_draft(
        &self,
        draft: ExecutionDraft,
        terms: &CallTerms,
    ) -> Result<RemoteSubmission, GateError> {
        if !draft.call().executor.is_remote() {
            return Err(GateError::RunsHere(draft.call().id));
        }
        let now = self.inner().clock.now();
        match self.judge(draft, terms).await {
            JudgedCall::Refused(draft, failure) => self.refuse_elsewhere(draft, failure).await,
            JudgedCall::Allowed(draft) => self.allow_elsewhere(draft, now).await,
            JudgedCall::Asks(draft) => self.ask_elsewhere(draft, terms, now).await,
        }
    }

    fn draft(&self, call: ToolCall, terms: &CallTerms) -> ExecutionDraft {
        let submitted_by = terms.question.submitted_by.clone();
        let basis = DecisionContext { submitted_by, ..DecisionContext::default() };
        new_draft(call, self.inner().clock.now()).with_context(basis)
    }

    /// Plans a call, judges it and, where a person is to decide, shows it.
    async fn judge(&self, draft: ExecutionDraft, terms: &CallTerms) -> JudgedCall {
        let look = self.look_at_client(draft.call()).await;
        let terms = CallTerms { planner: look.planner(&terms.planner), ..terms.clone() };
        let basis = DecisionContext { witness: look.witness(), ..draft.basis().clone() };
        let draft = draft.with_context(basis);
        let judged = match self.plan_and_judge(draft.clone(), &terms).await {
            Ok(judged) => judged,
            Err(why) => return JudgedCall::Refused(draft, invalid_failure(why)),
        };
        self.inner().history.record_call(&judged);
        match judged.verdict().outcome {
            VerdictAction::Deny => {
                let why = format!("Denied: {}", denial_text(judged.verdict()));
                JudgedCall::Refused(judged, ExecutionFailure::new(FailureKind::Denied, why))
            }
            VerdictAction::Allow => JudgedCall::Allowed(judged),
            VerdictAction::Ask => match self.attach_preview(judged, &terms.planner).await {
                Ok(shown) => JudgedCall::Asks(look.add_unseen_reason(shown)),
                Err((judged, why)) => JudgedCall::Refused(judged, invalid_failure(why)),
            },
        }
    }

    /// Records a call that is allowed and its start in the same commit, which earns the permit.
    async fn start_allowed(
        &self,
        draft: ExecutionDraft,
        now: Timestamp,
    ) -> Result<LocalSubmission, GateError> {
        match self.inner().store.insert_started(draft, now).await? {
            Ok(started) => {
                self.log_step(None, started.get().execution());
                Ok(LocalSubmission::Permitted(Box::new(Permit::from_committed(started))))
            }
            Err(StartRejection(stands)) => Err(GateError::RunsElsewhere(stands.call().id)),
        }
    }

    async fn refuse_here(
        &self,
        draft: ExecutionDraft,
        failure: ExecutionFailure,
    ) -> Result<LocalSubmission, GateError> {
        let now = self.inner().clock.now();
        let refused = draft.refuse(failure, now);
        self.inner().store.insert_execution(refused.clone(), now).await?;
        self.log_step(None, &refused);
        Ok(LocalSubmission::Refused(Box::new(refused)))
    }

    async fn ask_here(
        &self,
        draft: ExecutionDraft,
        terms: &CallTerms,
        now: Timestamp,
    ) -> Result<LocalSubmission, GateError> {
        let limit = self.inner().pending_limit;
        let asked = draft.clone().ask(self.deadline(&draft, terms.question.timeout, now).await?);
        if !self.inner().store.insert_request(asked.clone(), limit, now).await? {
            return self.refuse_here(draft, too_many_failure(limit)).await;
        }
        self.notify_changed(None, &asked);
        Ok(LocalSubmission::Waiting(Box::new(asked)))
    }

    /// Records a call that is allowed and that somebody else is to start.
    async fn allow_elsewhere(
        &self,
        draft: ExecutionDraft,
        now: Timestamp,
    ) -> Result<RemoteSubmission, GateError> {
        let allowed = draft.allow(now);
        match self.inner().store.insert_submitted(allowed.clone(), u64::MAX, now).await? {
            InsertOutcome::Before(known) => self.existing_submission(known).await,
            InsertOutcome::New | InsertOutcome::TooMany => {
                self.notify_changed(None, &allowed);
                Ok(RemoteSubmission::Approved(Box::new(allowed)))
            }
        }
    }

    async fn refuse_elsewhere(
        &self,
        draft: ExecutionDraft,
        failure: ExecutionFailure,
    ) -> Result<RemoteSubmission, GateError> {
        let now = self.inner().clock.now();
        let refused = draft.refuse(failure, now);
        match self.inner().store.insert_submitted(refused.clone(), u64::MAX, now).await? {
            InsertOutcome::Before(known) => self.existing_submission(known).await,
            InsertOutcome::New | InsertOutcome::TooMany => {
                self.log_step(None, &refused);
                Ok(RemoteSubmission::Refused(Box::new(refused)))
            }
        }
    }

    async fn ask_elsewhere(
        &self,
        draft: ExecutionDraft,
        terms: &CallTerms,
        now: Timestamp,
    ) -> Result<RemoteSubmission, GateError> {
        let limit = self.inner().pending_limit;
        let asked = draft.clone().ask(self.deadline(&draft, terms.question.timeout, now).await?);
        match self.inner().store.insert_submitted(asked.clone(), limit, now).await? {
            InsertOutcome::Before(known) => self.existing_submission(known).await,
            InsertOutcome::TooMany => self.refuse_elsewhere(draft, too_many_failure(limit)).await,
            InsertOutcome::New => {
                self.notify_changed(None, &asked);
                Ok(RemoteSubmission::Waiting(Box::new(asked)))
            }
        }
    }

    async fn existing_submission(&self, id: ApprovalId) -> Result<RemoteSubmission, GateError> {
        let stands = self.inner().store.approval(id).await?.ok_or(GateError::Unknown(id))?;
        Ok(RemoteSubmission::Existing(Box::new(stands)))
    }

    async fn deadline(
        &self,
        draft: &ExecutionDraft,
        timeout: Option<Duration>,
        now: Timestamp,
    ) -> Result<Timestamp, GateError> {
        let timeout = match timeout {
            Some(timeout) => timeout,
            None => Box::pin(self.timeouts(&draft.call().project)).await?.for_risk(draft.risk()),
        };
        Ok(deadline_after(now, timeout))
    }
}

fn invalid_failure(why: String) -> ExecutionFailure {
    ExecutionFailure::new(FailureKind::Validation, why)
}

fn too_many_failure(limit: u64) -> ExecutionFailure {
    let why = format!(
        "Not asked: {limit} calls of this project wait for a decision already. Wait until some are \
         decided, then try again"
    );
    ExecutionFailure::new(FailureKind::TooManyPending, why)
}
