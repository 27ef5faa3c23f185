//! Keeping what a call changes, so that it can be undone.
//!
//! No call is held up or refused because of this: what could not be kept cannot be undone, and says so.

use countersign_core::{ApprovalId, Effect, Execution, FileChange, Permit, ToolCall};
use countersign_gate::{Gate, StoreError, UndoTarget};
use countersign_tools::{BackupStore, FileBackup, StagedRehearsal};

/// What was there before a call that is about to run.
pub struct BackupSession {
    keep: BackupStore,
    kept: FileBackup,
    gate: Gate,
    approval: ApprovalId,
    call: ToolCall,
}

impl BackupSession {
    /// Keeps what a call is about to change; none if it changes nothing. A rehearsal knows what that is
    /// better than the command says.
    pub(crate) async fn begin(
        keep: Option<&BackupStore>,
        gate: &Gate,
        permit: &Permit,
        staged: Option<&StagedRehearsal>,
    ) -> Option<Self> {
        let effects = staged.map_or(permit.effects(), StagedRehearsal::effects);
        let keeping = Self::capture_files(keep, gate, permit.approval(), permit.call(), effects);
        let keeping = keeping.await?;
        keeping.record_before().await;
        Some(keeping)
    }

    /// Keeps what a call is about to change that somebody else runs, as it was approved.
    pub async fn for_approved(
        keep: Option<&BackupStore>,
        gate: &Gate,
        stands: &Execution,
    ) -> Option<Self> {
        let keeping =
            Self::capture_files(keep, gate, stands.id(), stands.call(), stands.effects()).await?;
        keeping.record_before().await;
        Some(keeping)
    }

    /// Returns what was kept before a call; none if there was nothing, or what it left is known.
    pub async fn from_record(keep: &BackupStore, gate: &Gate, stands: &Execution) -> Option<Self> {
        let of = UndoTarget::Call(stands.call().id);
        let found = gate.store().changes(&stands.call().project, of).await;
        let found = found.inspect_err(|error| not_recorded(error, stands.id())).ok()?;
        let changes = found.into_iter().find(|it| it.approval == stands.id())?.changes;
        if changes.iter().all(|change| change.after.is_some()) {
            return None;
        }
        let kept = FileBackup::recorded(stands.effects(), changes);
        let (keep, gate, call) = (keep.clone(), gate.clone(), stands.call().clone());
        Some(Self { keep, kept, gate, approval: stands.id(), call })
    }

    async fn capture_files(
        keep: Option<&BackupStore>,
        gate: &Gate,
        approval: ApprovalId,
        call: &ToolCall,
        effects: &[Effect],
    ) -> Option<Self> {
        let keep = keep?.clone();
        if effects.iter().all(Effect::is_read_only) {
            return None;
        }
        let (keeper, effects) = (keep.clone(), effects.to_vec());
        let kept = off_the_runtime(move || keeper.back_up(&effects)).await??;
        Some(Self { keep, kept, gate: gate.clone(), approval, call: call.clone() })
    }

    /// Says that another call is about to change some of the same files.
    #[cfg(feature = "claude-code")]
    pub(crate) fn contend(&mut self, other: &mut Self) {
        self.kept.contend(&mut other.kept);
    }

    /// Records what the call has left.
    pub async fn end(self) {
        let (keep, kept) = (self.keep.clone(), self.kept.clone());
        if let Some(changes) = off_the_runtime(move || keep.collect_changes(kept)).await {
            self.record(&changes).await;
        }
    }

    /// Records that the call has not run, and is not going to.
    #[cfg(feature = "claude-code")]
    pub(crate) async fn discard(self) {
        self.record(&[]).await;
    }

    async fn record_before(&self) {
        let changes = self.kept.changes();
        let kept = self.gate.record_state_before(self.approval, &self.call, changes).await;
        let _ = kept.inspect_err(|error| not_recorded(error, self.approval));
    }

    async fn record(&self, changes: &[FileChange]) {
        let kept = self.gate.record_changes(self.approval, &self.call, changes).await;
        let _ = kept.inspect_err(|error| not_recorded(error, self.approval));
    }
}

fn not_recorded(error: &StoreError, approval: ApprovalId) {
    let error: &dyn std::error::Error = error;
    tracing::warn!(error, %approval, "what a call changes was not recorded");
}

async fn off_the_runtime<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.inspect_err(|error| tracing::error!(%error, "keeping what a call changes broke off")).ok()
}
