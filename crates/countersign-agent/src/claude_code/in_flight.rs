//! Calls that run in the CLI: under which approval, and what they change.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_core::{ApprovalId, Execution, ExecutionFailure, FailureKind, ToolOutput};
use countersign_gate::Gate;
use countersign_tools::BackupStore;

use crate::backup::BackupSession;

/// What became of calls, by the model's ids of them.
pub(super) struct InFlightCalls {
    gate: Gate,
    /// Where what they change is kept.
    keep: Option<BackupStore>,
    known: Mutex<HashMap<String, TrackedCall>>,
}

enum TrackedCall {
    /// It runs in the CLI; what it changes is kept.
    Runs(ApprovalId, Option<Box<BackupSession>>),
    /// The gate has told what came of it.
    Answered,
}

impl TrackedCall {
    fn keeping(&mut self) -> Option<&mut BackupSession> {
        match self {
            Self::Runs(_, keeping) => keeping.as_deref_mut(),
            Self::Answered => None,
        }
    }
}

impl InFlightCalls {
    pub(super) fn new(gate: Gate, keep: Option<BackupStore>) -> Self {
        Self { gate, keep, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, TrackedCall>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call that may run, and keeps what it is about to change: the CLI has not heard of it yet.
    pub(super) async fn track_allowed(&self, tool_use: String, allowed: &Execution) {
        let mut keeping =
            BackupSession::for_approved(self.keep.as_ref(), &self.gate, allowed).await;
        let mut known = self.known();
        if let Some(ours) = &mut keeping {
            for other in known.values_mut().filter_map(TrackedCall::keeping) {
                ours.contend(other);
            }
        }
        known.insert(tool_use, TrackedCall::Runs(allowed.id(), keeping.map(Box::new)));
    }

    /// Notes a call that must not run: its answer is in the log.
    pub(super) fn track_answered(&self, tool_use: String) {
        self.known().insert(tool_use, TrackedCall::Answered);
    }

    /// Takes back that a call runs, if it was let pass: the CLI asks for it, so it has not begun.
    pub(super) async fn withdraw_call(&self, tool_use: &str) -> Option<ApprovalId> {
        let known = self.known().remove(tool_use);
        let Some(TrackedCall::Runs(earlier, keeping)) = known else { return None };
        if let Some(keeping) = keeping {
            keeping.discard().await;
        }
        Some(earlier)
    }

    /// Records what a call gave back; returns whether the log tells of it already.
    pub(super) async fn record_result(&self, tool_use: &str, output: ToolOutput) -> bool {
        let known = self.known().remove(tool_use);
        let (id, keeping) = match known {
            Some(TrackedCall::Answered) => return true,
            Some(TrackedCall::Runs(id, keeping)) => (id, keeping),
            None => return false,
        };
        if let Some(keeping) = keeping {
            keeping.end().await;
        }
        match self.gate.finish(id, Ok(output)).await {
            Ok(_) => true,
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::error!(error, approval = %id, "a result could not be recorded");
                false
            }
        }
    }

    /// Looks at what was left by calls that gave nothing back: the CLI is gone, and they with it.
    pub(super) async fn close(&self) {
        let known = std::mem::take(&mut *self.known());
        for known in known.into_values() {
            if let TrackedCall::Runs(_, Some(keeping)) = known {
                keeping.end().await;
            }
        }
    }

    /// Settles calls of which nobody told what came of them, and will not: the session has ended.
    pub(super) async fn settle_unreported(&self) {
        let known = std::mem::take(&mut *self.known());
        for known in known.into_values() {
            let TrackedCall::Runs(id, keeping) = known else { continue };
            if let Some(keeping) = keeping {
                keeping.end().await;
            }
            let why = "The session ended before it was told what came of this call: whether it took \
                       effect is unknown";
            let failure = ExecutionFailure::new(FailureKind::Unreported, why);
            if let Err(error) = self.gate.finish(id, Err(failure)).await {
                let error: &dyn std::error::Error = &error;
                tracing::error!(error, approval = %id, "a call could not be settled");
            }
        }
    }
}
