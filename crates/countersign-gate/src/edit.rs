//! Edited inputs: what a person changes is a new call, planned, judged and previewed like one.

use std::sync::Arc;

use countersign_core::{
    ApprovalId, ApprovedBy, DecisionContext, Digest, Execution, ExecutionDraft, ExecutionStatus,
    LockedExecution, Planner, StateConflict, ToolCall, VerdictAction, holds_mask,
};
use serde_json::Value;

use crate::call_metrics::count_decision;
use crate::decide::{DecideError, check_seen_digest};
use crate::gate::Gate;
use crate::new_id::new_id;
use crate::planner_task::{deadline_after, denial_text, new_draft};
use crate::prior_state::PriorStateProbe;
use crate::store::Transition;
use crate::submit_options::{CallTerms, SubmitOptions};

/// A person's yes to a request, with the input as they changed it.
#[derive(Clone, Debug)]
pub struct ApprovalWithEdit {
    /// The whole input.
    pub input: Value,
    /// Who changed it.
    pub by: ApprovedBy,
    /// The digest of what they saw.
    pub seen: Option<Digest>,
}

/// What came of a changed input.
#[derive(Debug)]
pub enum ApprovalEditOutcome {
    /// It runs as changed.
    Approved(Box<Execution>),
    /// It is riskier than what was asked: a new request waits in the old one's place.
    AskedAgain(Box<Execution>),
}

impl Gate {
    /// Approves a request with another input, if that input may be approved here.
    ///
    /// An input that is denied, or that no tool can run, leaves the request as it is. One that is
    /// riskier than what was asked becomes a request of its own.
    pub async fn approve_edited(
        &self,
        id: ApprovalId,
        edit: ApprovalWithEdit,
        planner: Arc<dyn Planner>,
        terms: &SubmitOptions,
    ) -> Result<ApprovalEditOutcome, DecideError> {
        let now = self.inner().clock.now();
        let Some(mut asked) = self.store().approval(id).await? else {
            return Err(DecideError::Unknown(id));
        };
        if asked.status() != ExecutionStatus::AwaitingApproval {
            return Err(StateConflict(Box::new(asked)).into());
        }
        if let Some(seen) = &edit.seen {
            asked = asked.restore_seen_version(seen).map_err(DecideError::Drift)?;
        }
        if holds_mask(&asked.call().input, &edit.input) {
            let why = "it holds `***`, which stands for a secret that was not shown: write it out";
            return Err(DecideError::Invalid(why.to_owned()));
        }
        let call = ToolCall { input: edit.input.clone(), ..asked.call().clone() };
        let look = self.look_at_client(&call).await;
        let planner = look.planner(&planner);
        let basis = DecisionContext { witness: look.witness(), ..DecisionContext::default() };
        let draft = new_draft(call, now).with_context(basis);
        let judged = self.plan_and_judge(draft, &CallTerms::new(planner.clone(), *terms)).await;
        let judged = judged.map_err(DecideError::Invalid)?;
        if judged.verdict().outcome == VerdictAction::Deny {
            return Err(DecideError::Denied(denial_text(judged.verdict())));
        }
        let shown = self.attach_preview(judged, &planner).await;
        let shown = shown.map_err(|(_, why)| DecideError::Invalid(why))?;
        let shown = look.add_unseen_reason(shown);
        if shown.risk() > asked.risk() {
            self.replace_request(&asked, shown).await
        } else {
            self.approve_as_edited(asked, shown, edit.by).await
        }
    }

    /// Approves the request as changed.
    async fn approve_as_edited(
        &self,
        asked: Execution,
        shown: ExecutionDraft,
        by: ApprovedBy,
    ) -> Result<ApprovalEditOutcome, DecideError> {
        let now = self.inner().clock.now();
        let Some(edited) = shown.into_edited_input() else {
            return Err(DecideError::Drift(Box::new(asked)));
        };
        let (id, seen) = (asked.id(), asked.digest().clone());
        let step = move |stands: LockedExecution| {
            // Between the look and the write somebody else may have changed it.
            let stands = check_seen_digest(stands, Some(&seen))?;
            Ok(stands.settle_edited(edited.clone(), by.clone(), now)?)
        };
        match self.transition(id, step).await? {
            Transition::Unknown => Err(DecideError::Unknown(id)),
            Transition::Refused(refused) => Err(refused),
            Transition::Made(approval) if approval.status() == ExecutionStatus::Approved => {
                count_decision(&approval);
                Ok(ApprovalEditOutcome::Approved(approval))
            }
            Transition::Made(late) => Err(StateConflict(late).into()),
        }
    }

    /// Puts the changed call before a person in the place of the one they changed.
    async fn replace_request(
        &self,
        asked: &Execution,
        shown: ExecutionDraft,
    ) -> Result<ApprovalEditOutcome, DecideError> {
        let now = self.inner().clock.now();
        let original = asked.basis().edited_from.clone().unwrap_or(asked.call().input.clone());
        let again = format!("what you made of it is {}, not {}", shown.risk(), asked.risk());
        let basis = DecisionContext {
            edited_from: Some(original),
            submitted_by: asked.basis().submitted_by.clone(),
            asked_again: Some(again),
            ..shown.basis().clone()
        };
        let next = shown.with_ids(new_id(), new_id()).with_context(basis);
        let timeouts = self.timeouts(&next.call().project).await?;
        let until = deadline_after(now, timeouts.for_risk(next.risk()));
        let next = next.ask(until);
        let (old, heir) = (asked.id(), next.id());
        let probe = PriorStateProbe::default();
        let step = probe.watch(move |stands: LockedExecution| stands.replace_with(heir, now));
        match self.inner().store.replace(old, next.clone(), now, step).await? {
            Transition::Unknown => Err(DecideError::Unknown(old)),
            Transition::Refused(settled) => Err(settled.into()),
            Transition::Made(replaced) => {
                self.notify_changed(probe.prior_state(), &replaced);
                self.notify_changed(None, &next);
                Ok(ApprovalEditOutcome::AskedAgain(Box::new(next)))
            }
        }
    }
}
