//! How long verdicts, decisions and executions take, for `/metrics`. Labels have few values.

use std::time::Duration;

use countersign_core::{Execution, ExecutionStatus, VerdictAction};

/// Counts a verdict and the time it took; none is a call that no tool can plan.
pub(crate) fn record_verdict(verdict: Option<VerdictAction>, took: Duration) {
    let verdict = verdict.map_or("invalid", verdict_word);
    metrics::histogram!("countersign_verdict_seconds", "verdict" => verdict).record(took);
}

/// Counts how long a request waited for its decision.
pub(crate) fn record_decision_time(decision: &'static str, waited: Duration) {
    metrics::histogram!("countersign_decision_seconds", "decision" => decision).record(waited);
}

/// Counts how long a call ran.
pub(crate) fn record_execution_time(executed: &Execution, took: Duration) {
    let has_failed = executed.status() == ExecutionStatus::Failed;
    let status = if has_failed { "failed" } else { "completed" };
    metrics::histogram!("countersign_execution_seconds", "status" => status).record(took);
}

/// Counts a decision that was recorded; the same one said again is none.
pub(crate) fn count_decision(settled: &Execution) {
    let status =
        if settled.status() == ExecutionStatus::Rejected { "rejected" } else { "approved" };
    metrics::counter!("countersign_decisions_total", "status" => status).increment(1);
}

/// Returns a verdict in one word.
pub(crate) fn verdict_word(verdict: VerdictAction) -> &'static str {
    match verdict {
        VerdictAction::Allow => "allow",
        VerdictAction::Ask => "ask",
        VerdictAction::Deny => "deny",
    }
}
