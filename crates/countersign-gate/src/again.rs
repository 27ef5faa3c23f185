//! Asking again: a call that would no longer do what was approved is a new request.

use std::sync::Arc;

use countersign_core::{
    Approval, ApprovalId, Basis, Failure, Outcome, Plan, Planner, Stance, State, ToolCall,
};
use jiff::Timestamp;

use crate::gate::{Gate, new_id};
use crate::rules::Terms;
use crate::store::{StoreError, Transition};
use crate::submit::{Question, Submitted, denial, draft, off_runtime};

impl Gate {
    /// Ends an approved call that the rules have come to deny since it was asked for.
    ///
    /// What a person approved needs no second question, but no consent outlives a denial.
    pub(crate) async fn denied_meanwhile(
        &self,
        approved: &Approval,
    ) -> Result<Option<Box<Approval>>, StoreError> {
        let Some(judged_by) = &approved.basis.rules else { return Ok(None) };
        let call = &approved.call;
        let rules = self.rules_or_ask(&call.project, &call.session).await;
        if rules.version() == judged_by {
            return Ok(None);
        }
        let now = self.inner().clock.now();
        let commands = approved.commands.clone();
        let plan = Plan { commands, ..Plan::new(approved.effects.clone(), "") };
        let policy = Terms::from(Stance::Attended { auto_approve_read: true }).under(rules);
        let verdict = policy.verdict(call, &plan, approved.risk, now).masked();
        if verdict.outcome != Outcome::Deny {
            return Ok(None);
        }
        let error = format!("Denied: {}", denial(&verdict));
        let failure = Failure { error_type: "denied".to_owned(), error };
        let step = move |stands: Approval| stands.withdraw(failure.clone(), now);
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
    pub async fn ask_again(
        &self,
        stale: ApprovalId,
        why: Failure,
        planner: Arc<dyn Planner>,
        terms: &Terms,
        question: &Question,
    ) -> Result<Submitted, StoreError> {
        let now = self.inner().clock.now();
        let Some(old) = self.store().approval(stale).await? else {
            return Err(StoreError::corrupt("approval", format!("`{stale}` is gone")));
        };
        let heir = new_id();
        let next = heir_of(&old, heir, Some(why.error.clone()), now);
        let step = move |stands: Approval| stands.supersede(why.clone(), heir, now);
        if let Transition::Refused(stands) = self.transition(stale, step).await? {
            return Ok(Submitted::Refused(stands.0));
        }
        Box::pin(self.hand_in(next, planner, terms, question)).await
    }

    /// Returns whether a call would still do what was shown, with the files it was shown from.
    ///
    /// Where somebody else runs it, nobody looks again when it runs: so this is asked right before.
    pub async fn is_as_shown(&self, shown: &Approval, planner: &Arc<dyn Planner>) -> bool {
        let plan = off_runtime(shown.call.clone(), planner, <dyn Planner>::plan).await;
        let preview = off_runtime(shown.call.clone(), planner, <dyn Planner>::preview).await;
        let (Ok(plan), Ok(preview), Some(before)) = (plan, preview, &shown.preview) else {
            return false;
        };
        plan.effects == shown.effects && preview.preimages() == before.preimages()
    }

    /// Hands in the request that was to take another's place, where nobody came to do it.
    pub async fn ask_for_heir(
        &self,
        stale: &Approval,
        planner: Arc<dyn Planner>,
        terms: &Terms,
    ) -> Result<Submitted, StoreError> {
        let now = self.inner().clock.now();
        let Some(heir) = stale.replaced_by() else {
            return Err(StoreError::corrupt("approval", format!("`{}` has no heir", stale.id)));
        };
        let why = match &stale.state {
            State::Failed { failure, .. } => Some(failure.error.clone()),
            _ => None,
        };
        // Under the name it was promised by, so that what follows the old one finds it.
        let heir = heir_of(stale, heir, why, now);
        Box::pin(self.hand_in(heir, planner, terms, &Question::default())).await
    }
}

/// Returns the request that takes the place of another: the same call, asked for again.
fn heir_of(
    old: &Approval,
    id: ApprovalId,
    asked_again: Option<String>,
    now: Timestamp,
) -> Approval {
    let call = ToolCall { id: new_id(), ..old.call.clone() };
    let edited_from = old.basis.edited_from.clone();
    let submitted_by = old.basis.submitted_by.clone();
    let basis = Basis { edited_from, asked_again, submitted_by, ..Basis::default() };
    Approval { id, basis, ..draft(call, now) }.bound()
}
