//! One call run on its permit: kept for undo, run or its rehearsal kept, recorded.

use std::sync::Arc;

use countersign_core::{ApprovalId, ExecutionFailure, FailureKind, Permit, ToolOutput};
use countersign_gate::{DecideError, PermitUse};
use countersign_tools::{Tool, ToolError};
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

use crate::backup::BackupSession;
use crate::call::split_store_error;
use crate::call_error::CallError;
use crate::todo_events::TodoListEvent;
use crate::turn::{NOT_RUN, RunTurn};

impl RunTurn<'_> {
    /// Runs a call that may, and records what came of it.
    pub(crate) async fn execute(
        &self,
        permit: Permit,
        tool: Option<&Arc<dyn Tool>>,
    ) -> PermitUse<ToolOutput> {
        let (id, note) = (permit.approval(), TodoListEvent::from_permit(&permit));
        let outcome = match self.run_tool(permit, tool).await {
            Err(failure) if failure.kind == FailureKind::Drift => {
                return PermitUse::Drifted { stale: id, why: failure };
            }
            outcome => outcome,
        };
        let told = match &outcome {
            Ok(output) => output.clone(),
            Err(failure) => ToolOutput::error(failure.error.clone()),
        };
        if let Some(note) = note {
            self.record_todo_list(note, &told).await;
        }
        let gate = &self.run.runner.gate;
        let finish = || async { split_store_error(gate.finish(id, outcome.clone()).await) };
        let finished = match self.retry_recording("a result", finish).await {
            Ok(finished) => finished,
            Err(CallError::Suspended) => return PermitUse::Done(told),
            Err(CallError::Gate(error)) => {
                log_lost_result(id, &error);
                return PermitUse::Done(told);
            }
        };
        PermitUse::Done(match finished {
            Ok(stands) => stands.to_tool_output().unwrap_or(told),
            Err(DecideError::AlreadySettled(stands)) => stands.0.to_tool_output().unwrap_or(told),
            Err(error) => {
                log_lost_result(id, &error);
                told
            }
        })
    }

    async fn run_tool(
        &self,
        permit: Permit,
        tool: Option<&Arc<dyn Tool>>,
    ) -> Result<ToolOutput, ExecutionFailure> {
        let Some(tool) = tool.cloned() else {
            // The planner of a missing tool refuses every call: only one that was asked for when it
            // was still there can come here.
            return Err(ExecutionFailure::new(FailureKind::UnknownTool, "no such tool"));
        };
        if self.signals.cancel.is_cancelled() {
            return Err(ExecutionFailure::new(FailureKind::Interrupted, NOT_RUN));
        }
        let gate = &self.run.runner.gate;
        let staged = match permit.rehearsal() {
            Some(agreed) => {
                let staged =
                    self.rehearsals.take_for_permit(&permit, agreed, &tool, &self.signals.cancel);
                Some(staged.await.map_err(|error| failure(&error))?)
            }
            None => None,
        };
        let keep = self.run.runner.config.keep.as_ref();
        let keeping = BackupSession::begin(keep, gate, &permit, staged.as_ref()).await;
        // Between the start and this line the process may have been stopped for long.
        if let Err(hindered) = self.retry_recording("a call", || gate.ensure_not_fenced()).await {
            if let CallError::Gate(error) = hindered {
                let error: &dyn std::error::Error = &error;
                tracing::error!(error, "a call was not run: it is no longer this server's");
            }
            return Err(ExecutionFailure::new(FailureKind::Interrupted, NOT_RUN));
        }
        let cancel = self.signals.cancel.clone();
        // On a task of its own: a tool that panics must not take the other calls along.
        let running = match staged {
            Some(staged) => {
                let keeping = countersign_tools::keep_rehearsed(tool, permit, staged);
                tokio::spawn(keeping.in_current_span())
            }
            None => tokio::spawn(countersign_tools::run(tool, permit, cancel).in_current_span()),
        };
        let ran = AbortOnDropHandle::new(running).await.unwrap_or_else(|error| {
            tracing::error!(%error, "a tool panicked");
            Err(ToolError::Broken)
        });
        if let Some(keeping) = keeping {
            keeping.end().await;
        }
        ran.map_err(|error| failure(&error))
    }
}

fn log_lost_result(approval: ApprovalId, error: &(dyn std::error::Error + 'static)) {
    tracing::error!(error, %approval, "a result could not be recorded");
}

fn failure(error: &ToolError) -> ExecutionFailure {
    ExecutionFailure::new(error.kind(), error.to_string())
}
