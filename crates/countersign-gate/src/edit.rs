//! Edited inputs: what a person changes is a new call, planned, judged and previewed like one.

use std::sync::Arc;

use countersign_core::{
    AlreadySettled, Approval, ApprovalId, By, Digest, Edited, Outcome, Planner, Status, ToolCall,
    holds_mask,
};
use serde_json::Value;

use crate::gate::{DecideError, Gate, as_seen, count_decision, new_id};
use crate::rules::Terms;
use crate::store::Transition;
use crate::submit::{Question, deadline, denial, draft, unexpected};

/// A person's yes to a request, with the input as they changed it.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The whole input.
    pub input: Value,
    /// Who changed it.
    pub by: By,
    /// The digest of what they saw.
    pub seen: Option<Digest>,
}

/// What came of a changed input.
#[derive(Debug)]
pub enum Amended {
    /// It runs as changed.
    Approved(Box<Approval>),
    /// It is riskier than what was asked: a new request waits in the old one's place.
    AskedAgain(Box<Approval>),
}

impl Gate {
    /// Approves a request with another input, if that input may be approved here.
    ///
    /// An input that is denied, or that no tool can run, leaves the request as it is. One that is
    /// riskier than what was asked becomes a request of its own.
    pub async fn approve_edited(
        &self,
        id: ApprovalId,
        edit: Edit,
        planner: Arc<dyn Planner>,
        terms: &Terms,
    ) -> Result<Amended, DecideError> {
        let now = self.inner().clock.now();
        let Some(mut asked) = self.store().approval(id).await? else {
            return Err(DecideError::Unknown(id));
        };
        if asked.status() != Status::AwaitingApproval {
            return Err(AlreadySettled(Box::new(asked)).into());
        }
        asked = as_seen(asked, edit.seen.as_ref())?;
        if holds_mask(&asked.call.input, &edit.input) {
            let why = "it holds `***`, which stands for a secret that was not shown: write it out";
            return Err(DecideError::Invalid(why.to_owned()));
        }
        let call = ToolCall { input: edit.input.clone(), ..asked.call.clone() };
        let look = self.look_at_client(&call).await;
        let planner = look.planner(&planner);
        let mut draft = draft(call, now);
        draft.basis.witness = look.witness();
        let judged = self.judged(draft, &planner, terms, &Question::default()).await;
        let judged = judged.map_err(DecideError::Invalid)?;
        if judged.verdict.outcome == Outcome::Deny {
            return Err(DecideError::Denied(denial(&judged.verdict)));
        }
        let shown = self.shown(judged, &planner).await;
        let shown = shown.map_err(|(_, why)| DecideError::Invalid(why))?;
        let shown = look.told_with(shown);
        if shown.risk > asked.risk {
            self.replace(&asked, shown).await
        } else {
            self.amend(asked, shown, edit.by).await
        }
    }

    /// Approves the request as changed.
    async fn amend(
        &self,
        asked: Approval,
        shown: Approval,
        by: By,
    ) -> Result<Amended, DecideError> {
        let now = self.inner().clock.now();
        let Approval { call, effects, commands, summary, risk, verdict, preview, basis, .. } =
            shown;
        let Some(preview) = preview else { return Err(DecideError::Drift(Box::new(asked))) };
        let (input, rules, witness) = (call.input, basis.rules, basis.witness);
        let edited =
            Edited { input, effects, commands, summary, risk, verdict, preview, rules, witness };
        let step = move |stands: Approval| {
            // Between the look and the write somebody else may have changed it.
            let stands = as_seen(stands, Some(&asked.digest))?;
            Ok(stands.settle_edited(edited.clone(), by.clone(), now)?)
        };
        match self.transition(asked.id, step).await? {
            Transition::Unknown => Err(DecideError::Unknown(asked.id)),
            Transition::Refused(refused) => Err(refused),
            Transition::Made(approval) if approval.status() == Status::Approved => {
                count_decision(&approval);
                Ok(Amended::Approved(approval))
            }
            Transition::Made(late) => Err(AlreadySettled(late).into()),
        }
    }

    /// Puts the changed call before a person in the place of the one they changed.
    async fn replace(&self, asked: &Approval, shown: Approval) -> Result<Amended, DecideError> {
        let now = self.inner().clock.now();
        let original = asked.basis.edited_from.clone().unwrap_or(asked.call.input.clone());
        let mut next = Approval { id: new_id(), ..shown };
        next.call.id = new_id();
        next.basis.edited_from = Some(original);
        next.basis.submitted_by.clone_from(&asked.basis.submitted_by);
        next.basis.asked_again =
            Some(format!("what you made of it is {}, not {}", next.risk, asked.risk));
        let timeouts = self.timeouts(&next.call.project).await?;
        let until = deadline(now, timeouts.of(next.risk));
        let next = next.bound().ask(until).map_err(unexpected)?;
        let (old, heir) = (asked.id, next.id);
        let step = move |stands: Approval| stands.give_way(heir, now);
        match self.inner().store.replace(old, next.clone(), now, step).await? {
            Transition::Unknown => Err(DecideError::Unknown(old)),
            Transition::Refused(settled) => Err(settled.into()),
            Transition::Made(_) => {
                self.wake(old);
                self.inner().asked.notify_waiters();
                Ok(Amended::AskedAgain(Box::new(next)))
            }
        }
    }
}
