//! Asking again: a call that would no longer do what was approved is a new request.

use std::sync::Arc;

use countersign_core::{
    ApprovalId, CallPlan, DecisionContext, Execution, ExecutionDraft, ExecutionFailure,
    ExecutionState, FailureKind, LockedExecution, Planner, StateConflict, ToolCall, VerdictAction,
};
use countersign_seal::GateToken;
use jiff::Timestamp;

use crate::gate::Gate;
use crate::gate_error::GateError;
use crate::new_id::new_id;
use crate::planner_task::{ask_planner, denial_text};
use crate::store::{StoreError, Transition};
use crate::submit::{LocalSubmission, RemoteSubmission};
use crate::submit_options::{CallTerms, SubmitOptions};

impl Gate {
    /// Ends an approved call that the rules have come to deny since it was asked for.
    ///
    /// What a person approved needs no second question, but no consent outlives a denial.
    pub(crate) async fn withdraw_if_denied(
        &self,
        approved: &Execution,
    ) -> Result<Option<Box<Execution>>, StoreError> {
        let Some(judged_by) = &approved.basis().rules else { return Ok(None) };
        let call = approved.call();
        let rules = self.rules_or_ask(&call.project, &call.session).await;
        if rules.version() == judged_by {
            return Ok(None);
        }
        let now = self.inner().clock.now();
        let commands = approved.commands().to_vec();
        let plan = CallPlan { commands, ..CallPlan::new(approved.effects().to_vec(), "") };
        let policy = SubmitOptions::attended().into_policy(rules);
        let verdict = policy.verdict(call, &plan, approved.risk(), now).mask_secrets();
        if verdict.outcome != VerdictAction::Deny {
            return Ok(None);
        }
        let why = format!("Denied: {}", denial_text(&verdict));
        let failure = ExecutionFailure::new(FailureKind::Denied, why);
        let step = move |stands: LockedExecution| stands.withdraw(failure.clone(), now);
        match self.transition(approved.id(), step).await? {
            Transition::Made(withdrawn) => Ok(Some(withdrawn)),
            Transition::Refused(stands) => Ok(Some(stands.0)),
            Transition::Unknown => Ok(None),
        }
    }

    /// Ends a started call that runs here and had no effect, and submits it anew.
    ///
    /// The new request says why. Nothing of the old call may have had an effect.
    pub async fn resubmit_local(
        &self,
        stale: ApprovalId,
        why: ExecutionFailure,
        terms: &CallTerms,
    ) -> Result<LocalSubmission, GateError> {
        match self.supersede(stale, why).await? {
            Ok(next) => Box::pin(self.submit_local_draft(next, terms)).await,
            Err(StateConflict(stands)) => Ok(LocalSubmission::Refused(stands)),
        }
    }

    /// The same for a call that runs elsewhere.
    pub async fn resubmit_remote(
        &self,
        stale: ApprovalId,
        why: ExecutionFailure,
        terms: &CallTerms,
    ) -> Result<RemoteSubmission, GateError> {
        match self.supersede(stale, why).await? {
            Ok(next) => Box::pin(self.submit_remote_draft(next, terms)).await,
            Err(StateConflict(stands)) => Ok(RemoteSubmission::Refused(stands)),
        }
    }

    /// Ends a started call; returns the draft of the request that takes its place.
    async fn supersede(
        &self,
        stale: ApprovalId,
        why: ExecutionFailure,
    ) -> Result<Result<ExecutionDraft, StateConflict>, GateError> {
        let now = self.inner().clock.now();
        let old = self.store().approval(stale).await?.ok_or(GateError::Unknown(stale))?;
        let heir = new_id();
        let next = replacement_draft(&old, heir, Some(why.error.clone()), now);
        let step = move |stands: LockedExecution| stands.supersede(why.clone(), heir, now);
        match self.transition(stale, step).await? {
            Transition::Refused(stands) => Ok(Err(stands)),
            Transition::Made(_) => Ok(Ok(next)),
            Transition::Unknown => Err(GateError::Unknown(stale)),
        }
    }

    /// Returns whether a call would still do what was shown, with the files it was shown from.
    ///
    /// Where somebody else runs it, nobody looks again when it runs: so this is asked right before.
    pub(crate) async fn matches_preview(
        &self,
        shown: &Execution,
        planner: &Arc<dyn Planner>,
    ) -> bool {
        let call = shown.call();
        let plan = ask_planner(call.clone(), planner, <dyn Planner>::plan).await;
        let preview = ask_planner(call.clone(), planner, <dyn Planner>::preview).await;
        let (Ok(plan), Ok(preview), Some(before)) = (plan, preview, shown.preview()) else {
            return false;
        };
        plan.effects == shown.effects() && preview.preimages() == before.preimages()
    }

    /// Submits the request that was to take another's place, where nobody came to do it.
    pub async fn resubmit_local_replacement(
        &self,
        stale: &Execution,
        terms: &CallTerms,
    ) -> Result<LocalSubmission, GateError> {
        let heir = self.promised_draft(stale)?;
        Box::pin(self.submit_local_draft(heir, terms)).await
    }

    /// The same for a call that runs elsewhere.
    pub async fn resubmit_remote_replacement(
        &self,
        stale: &Execution,
        terms: &CallTerms,
    ) -> Result<RemoteSubmission, GateError> {
        let heir = self.promised_draft(stale)?;
        Box::pin(self.submit_remote_draft(heir, terms)).await
    }

    /// Returns the request that was promised, under the id it was promised by, so that whoever follows
    /// the old one finds it.
    fn promised_draft(&self, stale: &Execution) -> Result<ExecutionDraft, GateError> {
        let heir = stale.replaced_by().ok_or(GateError::NotReplaced(stale.id()))?;
        let why = match stale.state() {
            ExecutionState::Failed { failure, .. } => Some(failure.error.clone()),
            _ => None,
        };
        Ok(replacement_draft(stale, heir, why, self.inner().clock.now()))
    }
}

/// Returns the request that takes the place of another: the same call, asked for again.
fn replacement_draft(
    old: &Execution,
    id: ApprovalId,
    asked_again: Option<String>,
    now: Timestamp,
) -> ExecutionDraft {
    let call = ToolCall { id: new_id(), ..old.call().clone() };
    let edited_from = old.basis().edited_from.clone();
    let submitted_by = old.basis().submitted_by.clone();
    let basis =
        DecisionContext { edited_from, asked_again, submitted_by, ..DecisionContext::default() };
    ExecutionDraft::new(id, call, now, GateToken::for_gate()).with_context(basis)
}
