//! One call run on its permit: kept for undo, run or its rehearsal kept, recorded.

use std::sync::Arc;

use countersign_core::{ApprovalId, ExecutionFailure, Permit, ToolOutput};
use countersign_gate::DecideError;
use countersign_tools::{Tool, ToolError};
use tokio_util::task::AbortOnDropHandle;

use crate::backup::BackupSession;
use crate::call::{CallError, split_store_error};
use crate::todo_events::TodoListEvent;
use crate::turn::{NOT_RUN, RunTurn};

/// What came of running a call.
pub(crate) enum ToolRunOutcome {
    /// It has its answer.
    Done(ToolOutput),
    /// It would not have done what was approved, and did nothing.
    Moved { stale: ApprovalId, why: ExecutionFailure },
}

impl RunTurn<'_> {
    /// Runs a call that may, and records what came of it.
    pub(crate) async fn execute(
        &self,
        permit: Permit,
        tool: Option<&Arc<dyn Tool>>,
        may_ask_again: bool,
    ) -> ToolRunOutcome {
        let (id, note) = (permit.approval(), TodoListEvent::from_permit(&permit));
        let outcome = match self.run_tool(permit, tool).await {
            Err(failure) if failure.error_type == "drift" && may_ask_again => {
                return ToolRunOutcome::Moved { stale: id, why: failure };
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
            Err(CallError::Store(error)) => Err(error.into()),
            Err(CallError::Suspended) => return ToolRunOutcome::Done(told),
        };
        ToolRunOutcome::Done(match finished {
            Ok(stands) => stands.to_tool_output().unwrap_or(told),
            Err(DecideError::AlreadySettled(stands)) => stands.0.to_tool_output().unwrap_or(told),
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::error!(error, approval = %id, "a result could not be recorded");
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
            return Err(ExecutionFailure {
                error_type: "unknown_tool".into(),
                error: "no such tool".into(),
            });
        };
        if self.signals.cancel.is_cancelled() {
            return Err(ExecutionFailure {
                error_type: "interrupted".into(),
                error: NOT_RUN.into(),
            });
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
            if let CallError::Store(error) = hindered {
                let error: &dyn std::error::Error = &error;
                tracing::error!(error, "a call was not run: it is no longer this server's");
            }
            return Err(ExecutionFailure {
                error_type: "interrupted".into(),
                error: NOT_RUN.into(),
            });
        }
        let cancel = self.signals.cancel.clone();
        // On a task of its own: a tool that panics must not take the other calls along.
        let running = match staged {
            Some(staged) => tokio::spawn(countersign_tools::keep_rehearsed(tool, permit, staged)),
            None => tokio::spawn(countersign_tools::run(tool, permit, cancel)),
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

fn failure(error: &ToolError) -> ExecutionFailure {
    ExecutionFailure { error_type: error.kind().to_owned(), error: error.to_string() }
}
