//! Rehearsals at the gate: whether a project wants them, and what they found, shown with the request.

use countersign_core::{
    ApprovalId, Execution, LockedExecution, ProjectId, RehearsalState, StateConflict,
};

use crate::gate::Gate;
use crate::store::StoreError;

impl Gate {
    /// Returns whether commands of a project are tried out while they wait.
    pub async fn is_rehearsal_enabled(&self, project: &ProjectId) -> Result<bool, StoreError> {
        Ok(self.project_settings(project).await?.rehearse.unwrap_or(false))
    }

    /// Shows with a request that waits how its rehearsal stands. One that is settled stays as it is.
    pub async fn show_rehearsal(
        &self,
        id: ApprovalId,
        rehearsal: RehearsalState,
    ) -> Result<(), StoreError> {
        let step = move |stands: LockedExecution| -> Result<Execution, StateConflict> {
            stands.record_rehearsal(rehearsal.clone())
        };
        self.transition(id, step).await.map(drop)
    }
}
