//! Keeping what a call changes, so that it can be undone.
//!
//! No call is held up or refused because of this: what could not be kept cannot be undone, and says so.

use countersign_core::{Approval, ApprovalId, Change, Effect, Permit, ToolCall};
use countersign_gate::{Gate, StoreError, Undo};
use countersign_tools::{Keep, Kept, Staged};

/// What was there before a call that is about to run.
pub struct Keeping {
    keep: Keep,
    kept: Kept,
    gate: Gate,
    approval: ApprovalId,
    call: ToolCall,
}

impl Keeping {
    /// Keeps what a call is about to change; none if it changes nothing. A rehearsal knows what that is
    /// better than the command says.
    pub(crate) async fn begin(
        keep: Option<&Keep>,
        gate: &Gate,
        permit: &Permit,
        staged: Option<&Staged>,
    ) -> Option<Self> {
        let effects = staged.map_or(permit.effects(), Staged::effects);
        let keeping = Self::look(keep, gate, permit.approval(), permit.call(), effects);
        let keeping = keeping.await?;
        keeping.record_before().await;
        Some(keeping)
    }

    /// Keeps what a call is about to change that somebody else runs, as it was approved.
    pub async fn of_approved(keep: Option<&Keep>, gate: &Gate, stands: &Approval) -> Option<Self> {
        let keeping = Self::look(keep, gate, stands.id, &stands.call, &stands.effects).await?;
        keeping.record_before().await;
        Some(keeping)
    }

    /// Returns what was kept before a call; none if there was nothing, or what it left is known.
    pub async fn of_record(keep: &Keep, gate: &Gate, stands: &Approval) -> Option<Self> {
        let of = Undo::Call(stands.call.id);
        let found = gate.store().changes(&stands.call.project, of).await;
        let found = found.inspect_err(|error| not_recorded(error, stands.id)).ok()?;
        let changes = found.into_iter().find(|it| it.approval == stands.id)?.changes;
        if changes.iter().all(|change| change.after.is_some()) {
            return None;
        }
        let kept = Kept::recorded(&stands.effects, changes);
        let (keep, gate, call) = (keep.clone(), gate.clone(), stands.call.clone());
        Some(Self { keep, kept, gate, approval: stands.id, call })
    }

    async fn look(
        keep: Option<&Keep>,
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
        let kept = off_the_runtime(move || keeper.before(&effects)).await??;
        Some(Self { keep, kept, gate: gate.clone(), approval, call: call.clone() })
    }

    /// Says that another call is about to change some of the same files.
    pub(crate) fn contend(&mut self, other: &mut Self) {
        self.kept.contend(&mut other.kept);
    }

    /// Records what the call has left.
    pub async fn end(self) {
        let (keep, kept) = (self.keep.clone(), self.kept.clone());
        if let Some(changes) = off_the_runtime(move || keep.after(kept)).await {
            self.record(&changes).await;
        }
    }

    /// Records that the call has not run, and is not going to.
    pub(crate) async fn drop_it(self) {
        self.record(&[]).await;
    }

    async fn record_before(&self) {
        let changes = self.kept.changes();
        let kept = self.gate.keep_before(self.approval, &self.call, changes).await;
        let _ = kept.inspect_err(|error| not_recorded(error, self.approval));
    }

    async fn record(&self, changes: &[Change]) {
        let kept = self.gate.keep_changes(self.approval, &self.call, changes).await;
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
