//! Calls that run in the CLI: under which approval, and what they change.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_core::{Approval, ApprovalId, Failure, ToolOutput};
use countersign_gate::Gate;
use countersign_tools::Keep;

use crate::keeping::Keeping;

/// What became of calls, by the model's ids of them.
pub(super) struct Running {
    gate: Gate,
    /// Where what they change is kept.
    keep: Option<Keep>,
    known: Mutex<HashMap<String, Known>>,
}

enum Known {
    /// It runs in the CLI; what it changes is kept.
    Runs(ApprovalId, Option<Box<Keeping>>),
    /// The gate has told what came of it.
    Answered,
}

impl Known {
    fn keeping(&mut self) -> Option<&mut Keeping> {
        match self {
            Self::Runs(_, keeping) => keeping.as_deref_mut(),
            Self::Answered => None,
        }
    }
}

impl Running {
    pub(super) fn new(gate: Gate, keep: Option<Keep>) -> Self {
        Self { gate, keep, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call that may run, and keeps what it is about to change: the CLI has not heard of it yet.
    pub(super) async fn begins(&self, tool_use: String, allowed: &Approval) {
        let mut keeping = Keeping::of_approved(self.keep.as_ref(), &self.gate, allowed).await;
        let mut known = self.known();
        if let Some(ours) = &mut keeping {
            for other in known.values_mut().filter_map(Known::keeping) {
                ours.contend(other);
            }
        }
        known.insert(tool_use, Known::Runs(allowed.id, keeping.map(Box::new)));
    }

    /// Notes a call that must not run: its answer is in the log.
    pub(super) fn was_answered(&self, tool_use: String) {
        self.known().insert(tool_use, Known::Answered);
    }

    /// Takes back that a call runs, if it was let pass: the CLI asks for it, so it has not begun.
    pub(super) async fn did_not_begin(&self, tool_use: &str) -> Option<ApprovalId> {
        let known = self.known().remove(tool_use);
        let Some(Known::Runs(earlier, keeping)) = known else { return None };
        if let Some(keeping) = keeping {
            keeping.drop_it().await;
        }
        Some(earlier)
    }

    /// Records what a call gave back; returns whether the log tells of it already.
    pub(super) async fn finished(&self, tool_use: &str, output: ToolOutput) -> bool {
        let known = self.known().remove(tool_use);
        let (id, keeping) = match known {
            Some(Known::Answered) => return true,
            Some(Known::Runs(id, keeping)) => (id, keeping),
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
            if let Known::Runs(_, Some(keeping)) = known {
                keeping.end().await;
            }
        }
    }

    /// Settles calls of which nobody told what came of them, and will not: the session has ended.
    pub(super) async fn give_up(&self) {
        let known = std::mem::take(&mut *self.known());
        for known in known.into_values() {
            let Known::Runs(id, keeping) = known else { continue };
            if let Some(keeping) = keeping {
                keeping.end().await;
            }
            let failure = Failure {
                error_type: "unreported".to_owned(),
                error: "The session ended before it was told what came of this call: whether it \
                        took effect is unknown"
                    .to_owned(),
            };
            if let Err(error) = self.gate.finish(id, Err(failure)).await {
                let error: &dyn std::error::Error = &error;
                tracing::error!(error, approval = %id, "a call could not be settled");
            }
        }
    }
}
