//! Keeping what callers change: before they hear that they may, and when they say what came of it.
//!
//! Whoever runs its own calls on another machine leaves nothing here to be undone: the files that the
//! server sees are as they were.

use countersign_agent::BackupSession;
use countersign_core::{Execution, ExecutionStatus, Executor};
use countersign_gate::UndoTarget;

use crate::app::App;

/// Keeps what an approved call would change, unless that was done when its caller last asked.
pub(super) async fn back_up_before_run(app: &App, stands: &Execution) {
    let may_run =
        stands.call().executor == Executor::Caller && stands.status() == ExecutionStatus::Approved;
    if !may_run || stands.is_read_only() || app.keep.is_none() {
        return;
    }
    let known =
        app.gate.store().changes(&stands.call().project, UndoTarget::Call(stands.call().id)).await;
    if known.is_ok_and(|known| known.is_empty()) {
        BackupSession::for_approved(app.keep.as_ref(), &app.gate, stands).await;
    }
}

/// Looks at what a call has left, the first time its caller says that it has run.
pub(super) async fn record_after_run(app: &App, stands: &Execution) {
    let (Some(keep), Executor::Caller) = (&app.keep, stands.call().executor) else { return };
    if let Some(keeping) = BackupSession::from_record(keep, &app.gate, stands).await {
        keeping.end().await;
    }
}
