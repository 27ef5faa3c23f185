//! Asking a planner off the runtime, and small values that every submission needs.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{ExecutionDraft, InvalidCall, Planner, ToolCall, Verdict};
use countersign_seal::GateToken;
use jiff::{Timestamp, TimestampRound, Unit};

use crate::clock::time_after;
use crate::new_id::new_id;

/// Asks a planner off the runtime. A planner that panics has said nothing, so the call is refused.
pub(crate) async fn ask_planner<T: Send + 'static>(
    call: ToolCall,
    planner: &Arc<dyn Planner>,
    ask: impl FnOnce(&dyn Planner, &ToolCall) -> Result<T, InvalidCall> + Send + 'static,
) -> Result<T, String> {
    let planner = planner.clone();
    match tokio::task::spawn_blocking(move || ask(planner.as_ref(), &call)).await {
        Ok(answer) => answer.map_err(|invalid| invalid.to_string()),
        Err(_) => {
            Err("The tool could not say what this call would do, so it was not run".to_owned())
        }
    }
}

/// Returns a call that nobody has judged yet.
pub(crate) fn new_draft(call: ToolCall, now: Timestamp) -> ExecutionDraft {
    ExecutionDraft::new(new_id(), call, now, GateToken::for_gate())
}

/// Returns why a call is denied, for the model and for people.
pub(crate) fn denial_text(verdict: &Verdict) -> String {
    verdict.reasons.first().map(|reason| reason.text.clone()).unwrap_or_default()
}

/// A deadline in whole milliseconds, as the table holds it: both must agree on when it is over.
pub(crate) fn deadline_after(now: Timestamp, timeout: Duration) -> Timestamp {
    let deadline = time_after(now, timeout);
    deadline.round(TimestampRound::new().smallest(Unit::Millisecond)).unwrap_or(deadline)
}
