//! Changes at the gate: what calls did to files, kept so that a person can undo it.

use countersign_core::{ApprovalId, Change, ProjectId, ToolCall};

use crate::gate::Gate;
use crate::store::{ChangedFiles, StoreError};

impl Gate {
    /// Keeps what a call does to files: what is there before it runs, then what it has left.
    pub async fn keep_changes(
        &self,
        approval: ApprovalId,
        call: &ToolCall,
        changes: &[Change],
    ) -> Result<(), StoreError> {
        let now = self.inner().clock.now();
        self.store().keep_changes(approval, call, changes, now).await
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
