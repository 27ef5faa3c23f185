//! Waiting for an execution to change, and starting it once that is decided.

use countersign_core::{ApprovalId, Execution, ExecutionStatus, Permit, StartRejection};

use crate::gate::Gate;
use crate::gate_error::GateError;
use crate::prior_state::PriorCallState;
use crate::store::StartOutcome;

impl Gate {
    /// Returns an execution once it no longer waits for a person; where another request took its
    /// place, that one.
    pub async fn wait_for_decision(&self, id: ApprovalId) -> Result<Execution, GateError> {
        self.wait_for_change(id, ExecutionStatus::AwaitingApproval).await
    }

    /// Returns an execution once it is in another state than this one; where another took its place,
    /// that.
    pub async fn wait_for_change(
        &self,
        id: ApprovalId,
        from: ExecutionStatus,
    ) -> Result<Execution, GateError> {
        self.wait_until(id, |stands| stands.status() != from).await
    }

    /// Returns an execution once nothing can follow; where another took its place, that one.
    pub async fn wait_until_settled(&self, id: ApprovalId) -> Result<Execution, GateError> {
        self.wait_until(id, |stands| stands.status().is_terminal()).await
    }

    /// Starts an approved call: of all who try, one gets the permit.
    pub async fn start(&self, id: ApprovalId) -> Result<Result<Permit, StartRejection>, GateError> {
        match self.inner().store.start_execution(id, self.inner().clock.now()).await? {
            StartOutcome::Unknown => Err(GateError::Unknown(id)),
            StartOutcome::Refused(refused) => Ok(Err(refused)),
            StartOutcome::Started(started) => {
                let started_from = PriorCallState {
                    status: ExecutionStatus::Approved,
                    started_at: None,
                    was_edited: false,
                };
                self.notify_changed(Some(started_from), started.get().execution());
                Ok(Ok(Permit::from_committed(*started)))
            }
        }
    }

    async fn wait_until(
        &self,
        id: ApprovalId,
        done: impl Fn(&Execution) -> bool,
    ) -> Result<Execution, GateError> {
        let mut id = id;
        loop {
            let place = self.inner().waiting.register(id);
            let changed = place.changed.notified();
            tokio::pin!(changed);
            // Registered before the look, so a change between look and wait still wakes us.
            changed.as_mut().enable();
            let stands = self.inner().store.approval(id).await?.ok_or(GateError::Unknown(id))?;
            match stands.replaced_by() {
                Some(next) => id = next,
                None if done(&stands) => return Ok(stands),
                None => changed.await,
            }
        }
    }
}
