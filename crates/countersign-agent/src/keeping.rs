//! Keeping what a call changes, so that it can be undone.
//!
//! No call is held up or refused because of this: what could not be kept cannot be undone, and says so.

use countersign_core::{ApprovalId, Change, Permit, ToolCall};
use countersign_gate::Gate;
use countersign_tools::{Keep, Kept};

/// What was there before a call that is about to run.
pub(crate) struct Keeping {
    keep: Keep,
    kept: Kept,
    gate: Gate,
    approval: ApprovalId,
    call: ToolCall,
}

impl Keeping {
    /// Keeps what a call is about to change; none if it changes nothing.
    pub(crate) async fn begin(keep: Option<&Keep>, gate: &Gate, permit: &Permit) -> Option<Self> {
        let keep = keep?.clone();
        if permit.effects().iter().all(countersign_core::Effect::is_read_only) {
            return None;
        }
        let (keeper, effects) = (keep.clone(), permit.effects().to_vec());
        let kept = off_the_runtime(move || keeper.before(&effects)).await??;
        let (gate, approval, call) = (gate.clone(), permit.approval(), permit.call().clone());
        let keeping = Self { keep, kept, gate, approval, call };
        keeping.record(keeping.kept.changes()).await;
        Some(keeping)
    }

    /// Records what the call has left.
    pub(crate) async fn end(self) {
        let (keep, kept) = (self.keep.clone(), self.kept.clone());
        if let Some(changes) = off_the_runtime(move || keep.after(kept)).await {
            self.record(&changes).await;
        }
    }

    async fn record(&self, changes: &[Change]) {
        if let Err(error) = self.gate.keep_changes(self.approval, &self.call, changes).await {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, approval = %self.approval, "what a call changes was not recorded");
        }
    }
}

async fn off_the_runtime<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.inspect_err(|error| tracing::error!(%error, "keeping what a call changes broke off")).ok()
}
