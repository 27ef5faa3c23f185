//! Trying a command out while its request waits, and holding on to what it did until somebody decides.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::{ApprovalId, Digest, Execution, Executor, Permit, RehearsalState};
use countersign_gate::Gate;
use countersign_tools::{RehearsalError, StagedRehearsal, Tool, ToolError};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// How many commands are tried out at a time: each may use all that the machine gives.
static ROOM: Semaphore = Semaphore::const_new(2);

/// A rehearsal that is under way or over. Dropped, it is broken off, and what it did is gone.
pub(crate) struct RehearsalTask(AbortOnDropHandle<Option<StagedRehearsal>>);

impl RehearsalTask {
    /// Begins to try a call out that waits; none where its project has not chosen that, or its tool
    /// has no way to.
    pub(crate) async fn begin(
        gate: &Gate,
        tool: Option<&Arc<dyn Tool>>,
        asked: &Execution,
    ) -> Option<Self> {
        let tool = tool.filter(|tool| tool.rehearses())?.clone();
        let is_ours = matches!(asked.call().executor, Executor::Local | Executor::ClaudeCli);
        // Whoever cannot say whether it is wanted does without.
        if !is_ours || !gate.is_rehearsal_enabled(&asked.call().project).await.unwrap_or(false) {
            return None;
        }
        let (gate, asked) = (gate.clone(), asked.clone());
        Some(Self(AbortOnDropHandle::new(tokio::spawn(rehearse(gate, tool, asked)))))
    }

    async fn staged(self) -> Option<StagedRehearsal> {
        self.0.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a rehearsal broke off");
            None
        })
    }
}

async fn rehearse(gate: Gate, tool: Arc<dyn Tool>, asked: Execution) -> Option<StagedRehearsal> {
    let show = async |rehearsal: RehearsalState| {
        if let Err(error) = gate.show_rehearsal(asked.id(), rehearsal).await {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, approval = %asked.id(), "a rehearsal could not be shown");
        }
    };
    // What an earlier driver of the run has shown stands until there is something else to show.
    if asked.kept_rehearsal().is_none() {
        show(RehearsalState::Running).await;
    }
    let _place = ROOM.acquire().await;
    match tool.rehearse(asked.call(), CancellationToken::new()).await {
        Ok(staged) => {
            let mut shown = staged.rehearsal_result().clone();
            if asked.call().executor != Executor::Local {
                shown.runs_again = Some("Claude Code runs its commands itself".to_owned());
            }
            show(RehearsalState::Done(Box::new(shown))).await;
            Some(staged)
        }
        Err(RehearsalError(why)) => {
            show(RehearsalState::Impossible { why }).await;
            None
        }
    }
}

/// The rehearsals of calls that somebody has said yes to.
#[derive(Default)]
pub(crate) struct HeldRehearsals(Mutex<HashMap<ApprovalId, RehearsalTask>>);

impl HeldRehearsals {
    /// Holds on to the rehearsal of a call until it is kept.
    pub(crate) fn hold(&self, approval: ApprovalId, rehearsing: RehearsalTask) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(approval, rehearsing);
    }

    /// Returns the rehearsal that a permit was given for, as it still holds.
    ///
    /// Where something has moved since, or nobody has it any more, the command is tried out once more:
    /// if it does the very same, that is what was agreed to.
    pub(crate) async fn take_for_permit(
        &self,
        permit: &Permit,
        agreed: &Digest,
        tool: &Arc<dyn Tool>,
        cancel: &CancellationToken,
    ) -> Result<StagedRehearsal, ToolError> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&permit.approval());
        if let Some(held) = held
            && let Some(staged) = held.staged().await
            && let Some(staged) = unmoved(staged, agreed).await
        {
            return Ok(staged);
        }
        let again = tool.rehearse(permit.call(), cancel.clone()).await;
        let again = again.map_err(|_| ToolError::OutOfDate)?;
        unmoved(again, agreed).await.ok_or(ToolError::OutOfDate)
    }
}

/// Returns a rehearsal if it is the one that was agreed to and nothing has moved since.
async fn unmoved(staged: StagedRehearsal, agreed: &Digest) -> Option<StagedRehearsal> {
    if staged.rehearsal_result().digest != *agreed {
        return None;
    }
    let looking = tokio::task::spawn_blocking(move || (!staged.has_moved()).then_some(staged));
    looking.await.ok().flatten()
}
