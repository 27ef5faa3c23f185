//! Changes at the gate: what calls did to files, kept so that a person can undo it.

use countersign_core::{ApprovalId, FileChange, ProjectId, ToolCall};

use crate::gate::Gate;
use crate::store::{ChangedFiles, StoreError};

impl Gate {
    /// Keeps what is there before a call runs. Of several looks the first holds: by the next the call may
    /// be running.
    pub async fn record_state_before(
        &self,
        approval: ApprovalId,
        call: &ToolCall,
        changes: &[FileChange],
    ) -> Result<(), StoreError> {
        let now = self.inner().clock.now();
        self.store().record_state_before(approval, call, changes, now).await
    }

    /// Keeps what a call has left, in place of what was known of it.
    pub async fn record_changes(
        &self,
        approval: ApprovalId,
        call: &ToolCall,
        changes: &[FileChange],
    ) -> Result<(), StoreError> {
        let now = self.inner().clock.now();
        self.store().record_changes(approval, call, changes, now).await
    }

    /// Records that somebody has undone calls of one conversation, and how many files that put back.
    pub async fn record_undo(
        &self,
        project: &ProjectId,
        undone: &[ChangedFiles],
        files: u64,
        by: &str,
    ) -> Result<(), StoreError> {
        let now = self.inner().clock.now();
        self.store().record_undo(project, undone, files, by, now).await
    }
}
