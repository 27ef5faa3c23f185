//! Edited inputs: what a person changes is a new call, planned, judged and previewed like one.

use std::sync::Arc;

use countersign_core::{
    ApprovalId, ApprovedBy, Digest, EditedInput, Execution, ExecutionStatus, Planner,
    StateConflict, ToolCall, VerdictAction, holds_mask,
};
use serde_json::Value;

use crate::gate::{DecideError, Gate, check_seen_digest, count_decision, new_id};
use crate::rules::SubmitOptions;
use crate::store::Transition;
use crate::submit::{AskOptions, corrupt_state, deadline_after, denial_text, new_draft};

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
        asked = check_seen_digest(asked, edit.seen.as_ref())?;
        if holds_mask(&asked.call.input, &edit.input) {
            let why = "it holds `***`, which stands for a secret that was not shown: write it out";
            return Err(DecideError::Invalid(why.to_owned()));
        }
        let call = ToolCall { input: edit.input.clone(), ..asked.call.clone() };
        let look = self.look_at_client(&call).await;
        let planner = look.planner(&planner);
        let mut draft = new_draft(call, now);
        draft.basis.witness = look.witness();
        let judged = self.plan_and_judge(draft, &planner, terms, &AskOptions::default()).await;
        let judged = judged.map_err(DecideError::Invalid)?;
        if judged.verdict.outcome == VerdictAction::Deny {
            return Err(DecideError::Denied(denial_text(&judged.verdict)));
        }
        let shown = self.attach_preview(judged, &planner).await;
        let shown = shown.map_err(|(_, why)| DecideError::Invalid(why))?;
        let shown = look.add_unseen_reason(shown);
        if shown.risk > asked.risk {
            self.replace_request(&asked, shown).await
        } else {
            self.approve_as_edited(asked, shown, edit.by).await
        }
    }

    /// Approves the request as changed.
    async fn approve_as_edited(
        &self,
        asked: Execution,
        shown: Execution,
        by: ApprovedBy,
    ) -> Result<ApprovalEditOutcome, DecideError> {
        let now = self.inner().clock.now();
        let Execution { call, effects, commands, summary, risk, verdict, preview, basis, .. } =
            shown;
        let Some(preview) = preview else { return Err(DecideError::Drift(Box::new(asked))) };
        let (input, rules, witness) = (call.input, basis.rules, basis.witness);
        let edited = EditedInput {
            input,
            effects,
            commands,
            summary,
            risk,
            verdict,
            preview,
            rules,
            witness,
        };
        let step = move |stands: Execution| {
            // Between the look and the write somebody else may have changed it.
            let stands = check_seen_digest(stands, Some(&asked.digest))?;
            Ok(stands.settle_edited(edited.clone(), by.clone(), now)?)
        };
        match self.transition(asked.id, step).await? {
            Transition::Unknown => Err(DecideError::Unknown(asked.id)),
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
        shown: Execution,
    ) -> Result<ApprovalEditOutcome, DecideError> {
        let now = self.inner().clock.now();
        let original = asked.basis.edited_from.clone().unwrap_or(asked.call.input.clone());
        let mut next = Execution { id: new_id(), ..shown };
        next.call.id = new_id();
        next.basis.edited_from = Some(original);
        next.basis.submitted_by.clone_from(&asked.basis.submitted_by);
        next.basis.asked_again =
            Some(format!("what you made of it is {}, not {}", next.risk, asked.risk));
        let timeouts = self.timeouts(&next.call.project).await?;
        let until = deadline_after(now, timeouts.for_risk(next.risk));
        let next = next.with_updated_binding().ask(until).map_err(corrupt_state)?;
        let (old, heir) = (asked.id, next.id);
        let step = move |stands: Execution| stands.replace_with(heir, now);
        match self.inner().store.replace(old, next.clone(), now, step).await? {
            Transition::Unknown => Err(DecideError::Unknown(old)),
            Transition::Refused(settled) => Err(settled.into()),
            Transition::Made(_) => {
                self.wake_waiters(old);
                self.inner().asked.notify_waiters();
                Ok(ApprovalEditOutcome::AskedAgain(Box::new(next)))
            }
        }
    }
}
