//! Asking again: a call that would no longer do what was approved is a new request.

use std::sync::Arc;

use countersign_core::{Approval, ApprovalId, Basis, Failure, Planner, Policy, ToolCall};

use crate::gate::{Gate, new_id};
use crate::store::{StoreError, Transition};
use crate::submit::{Submitted, draft};

impl Gate {
    /// Ends a started call that moved under its approval, and hands it in anew.
    ///
    /// The new request says what moved. Nothing of the old call may have had an effect.
    pub async fn ask_again(
        &self,
        stale: ApprovalId,
        moved: String,
        planner: Arc<dyn Planner>,
        policy: &Policy,
    ) -> Result<Submitted, StoreError> {
        let now = self.inner().clock.now();
        let Some(old) = self.store().approval(stale).await? else {
            return Err(StoreError::corrupt("approval", format!("`{stale}` is gone")));
        };
        let call = ToolCall { id: new_id(), ..old.call.clone() };
        let basis = Basis {
            edited_from: old.basis.edited_from.clone(),
            asked_again: Some(moved.clone()),
            ..Basis::default()
        };
        let next = Approval { basis, ..draft(call, now) }.bound();
        let (heir, failure) = (next.id, Failure { error_type: "drift".to_owned(), error: moved });
        let step = move |stands: Approval| stands.supersede(failure, heir, now);
        if let Transition::Refused(stands) = self.transition(stale, step).await? {
            return Ok(Submitted::Refused(stands.0));
        }
        self.hand_in(next, planner, policy).await
    }
}
