//! Asking again: a call that would no longer do what was approved is a new request.

use std::sync::Arc;

use countersign_core::{
    ApprovalId, CallPlan, DecisionContext, Execution, ExecutionFailure, ExecutionState, Planner,
    Supervision, ToolCall, VerdictAction,
};
use jiff::Timestamp;

use crate::gate::{Gate, new_id};
use crate::rules::SubmitOptions;
use crate::store::{StoreError, Transition};
use crate::submit::{AskOptions, Submission, ask_planner, denial_text, new_draft};

impl Gate {
    /// Ends an approved call that the rules have come to deny since it was asked for.
    ///
    /// What a person approved needs no second question, but no consent outlives a denial.
    pub(crate) async fn withdraw_if_denied(
        &self,
        approved: &Execution,
    ) -> Result<Option<Box<Execution>>, StoreError> {
        let Some(judged_by) = &approved.basis.rules else { return Ok(None) };
        let call = &approved.call;
        let rules = self.rules_or_ask(&call.project, &call.session).await;
        if rules.version() == judged_by {
            return Ok(None);
        }
        let now = self.inner().clock.now();
        let commands = approved.commands.clone();
        let plan = CallPlan { commands, ..CallPlan::new(approved.effects.clone(), "") };
        let policy = SubmitOptions::from(Supervision::Attended { auto_approve_read: true })
            .into_policy(rules);
        let verdict = policy.verdict(call, &plan, approved.risk, now).mask_secrets();
        if verdict.outcome != VerdictAction::Deny {
            return Ok(None);
        }
        let error = format!("Denied: {}", denial_text(&verdict));
        let failure = ExecutionFailure { error_type: "denied".to_owned(), error };
        let step = move |stands: Execution| stands.withdraw(failure.clone(), now);
        match self.transition(approved.id, step).await? {
            Transition::Made(withdrawn) => Ok(Some(withdrawn)),
            Transition::Refused(stands) => Ok(Some(stands.0)),
            Transition::Unknown => Ok(None),
        }
    }

    /// Ends a started call that had no effect, and hands it in anew: it moved under its approval, or
    /// its tool was broken off and only reads.
    ///
    /// The new request says why. Nothing of the old call may have had an effect.
    pub async fn resubmit(
        &self,
        stale: ApprovalId,
        why: ExecutionFailure,
        planner: Arc<dyn Planner>,
        terms: &SubmitOptions,
        question: &AskOptions,
    ) -> Result<Submission, StoreError> {
        let now = self.inner().clock.now();
        let Some(old) = self.store().approval(stale).await? else {
            return Err(StoreError::corrupt("approval", format!("`{stale}` is gone")));
        };
        let heir = new_id();
        let next = replacement_request(&old, heir, Some(why.error.clone()), now);
        let step = move |stands: Execution| stands.supersede(why.clone(), heir, now);
        if let Transition::Refused(stands) = self.transition(stale, step).await? {
            return Ok(Submission::Refused(stands.0));
        }
        Box::pin(self.submit_draft(next, planner, terms, question)).await
    }

    /// Returns whether a call would still do what was shown, with the files it was shown from.
    ///
    /// Where somebody else runs it, nobody looks again when it runs: so this is asked right before.
    pub async fn matches_preview(&self, shown: &Execution, planner: &Arc<dyn Planner>) -> bool {
        let plan = ask_planner(shown.call.clone(), planner, <dyn Planner>::plan).await;
        let preview = ask_planner(shown.call.clone(), planner, <dyn Planner>::preview).await;
        let (Ok(plan), Ok(preview), Some(before)) = (plan, preview, &shown.preview) else {
            return false;
        };
        plan.effects == shown.effects && preview.preimages() == before.preimages()
    }

    /// Hands in the request that was to take another's place, where nobody came to do it.
    pub async fn resubmit_replacement(
        &self,
        stale: &Execution,
        planner: Arc<dyn Planner>,
        terms: &SubmitOptions,
    ) -> Result<Submission, StoreError> {
        let now = self.inner().clock.now();
        let Some(heir) = stale.replaced_by() else {
            return Err(StoreError::corrupt("approval", format!("`{}` has no heir", stale.id)));
        };
        let why = match &stale.state {
            ExecutionState::Failed { failure, .. } => Some(failure.error.clone()),
            _ => None,
        };
        // Under the name it was promised by, so that what follows the old one finds it.
        let heir = replacement_request(stale, heir, why, now);
        Box::pin(self.submit_draft(heir, planner, terms, &AskOptions::default())).await
    }
}

/// Returns the request that takes the place of another: the same call, asked for again.
fn replacement_request(
    old: &Execution,
    id: ApprovalId,
    asked_again: Option<String>,
    now: Timestamp,
) -> Execution {
    let call = ToolCall { id: new_id(), ..old.call.clone() };
    let edited_from = old.basis.edited_from.clone();
    let submitted_by = old.basis.submitted_by.clone();
    let basis =
        DecisionContext { edited_from, asked_again, submitted_by, ..DecisionContext::default() };
    Execution { id, basis, ..new_draft(call, now) }.with_updated_binding()
}
