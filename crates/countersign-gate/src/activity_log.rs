//! The lines and spans that tell whoever runs the server of runs, calls and decisions.
//!
//! They carry ids, names of tools and single words: never what a call was given or gave back, what a
//! person said, or who they are.

use std::time::Duration;

use countersign_core::{Execution, ExecutionState, FailureKind, ToolCall};
use jiff::Timestamp;
use tracing::Span;
use tracing::field::{Empty, display};

use crate::call_metrics::{record_decision_time, record_execution_time, verdict_word};
use crate::call_step::{CallStep, decider_word, decision_word};
use crate::prior_state::PriorCallState;
use crate::store::{RunEnd, RunKey};

/// The name under which the log tells of runs, calls and decisions: a line for each step.
pub const ACTIVITY: &str = "activity";

/// Returns the span of a call, for everything that is done on its way through the gate.
///
/// The gate fills in the verdict, the decision and the duration when it knows them.
pub fn call_span(call: Option<&ToolCall>) -> Span {
    tracing::info_span!(
        target: ACTIVITY,
        "call",
        execution_id = call.map(|call| display(call.id)),
        tool = call.map(|call| call.tool_name.as_str()),
        verdict = Empty,
        risk = Empty,
        decision = Empty,
        status = Empty,
        duration_ms = Empty,
    )
}

/// Tells the log and the metrics which step a call has taken.
pub(crate) fn log_call_step(prior: Option<PriorCallState>, execution: &Execution, now: Timestamp) {
    let Some(step) = CallStep::between(prior, execution.status()) else { return };
    let decision = decision_word(step, prior, execution);
    let waited = decision.map(|_| time_between(execution.created_at(), now));
    let ran = match step {
        CallStep::Executed => prior.and_then(|prior| prior.started_at),
        _ => None,
    };
    let ran = ran.map(|since| time_between(since, now));
    if let (Some(decision), Some(waited)) = (decision, waited) {
        record_decision_time(decision, waited);
    }
    // When somebody tells of a call after the fact, nobody knows how long it ran.
    if let (Some(ran), None) = (ran, &execution.basis().reported_by) {
        record_execution_time(execution, ran);
    }
    record_in_span(step, decision, execution, ran);
    write_line(step, decision, execution, waited.map(as_millis), ran.map(as_millis));
}

fn write_line(
    step: CallStep,
    decision: Option<&'static str>,
    execution: &Execution,
    waited_ms: Option<u64>,
    duration_ms: Option<u64>,
) {
    let call = execution.call();
    let error_type = match execution.state() {
        ExecutionState::Failed { failure, .. } => Some(failure.kind.as_str()),
        _ => None,
    };
    tracing::info!(
        target: ACTIVITY,
        tool = call.tool_name,
        verdict = find_verdict_word(execution),
        risk = %execution.risk(),
        status = execution.status().as_str(),
        decision,
        by = decider_word(execution.state()),
        error_type,
        waited_ms,
        duration_ms,
        execution_id = %call.id,
        approval_id = %execution.id(),
        run_id = call.run.map(display),
        session_id = call.session.as_str(),
        project_id = call.project.as_str(),
        "{}",
        step.message()
    );
}

/// Fills in what the span of the call leaves open. Another span has no such fields and stays as it is.
fn record_in_span(
    step: CallStep,
    decision: Option<&'static str>,
    execution: &Execution,
    ran: Option<Duration>,
) {
    let span = Span::current();
    if matches!(step, CallStep::Allowed | CallStep::Refused | CallStep::Asked) {
        span.record("verdict", find_verdict_word(execution));
        span.record("risk", display(execution.risk()));
    }
    if let Some(decision) = decision {
        span.record("decision", decision);
    }
    if execution.status().is_terminal() {
        span.record("status", execution.status().as_str());
    }
    if let Some(ran) = ran {
        span.record("duration_ms", as_millis(ran));
    }
}

/// Returns the verdict in one word. A call that cannot run as it was made has none.
fn find_verdict_word(execution: &Execution) -> &'static str {
    match execution.state() {
        ExecutionState::Failed { failure, by: None, .. }
            if failure.kind == FailureKind::Validation =>
        {
            "invalid"
        }
        _ => verdict_word(execution.verdict().outcome),
    }
}

/// Returns the span of a run.
pub(crate) fn run_span(run: &RunKey) -> Span {
    tracing::info_span!(
        target: ACTIVITY,
        "run",
        run_id = %run.run,
        session_id = run.session.as_str(),
        project_id = run.project.as_str(),
    )
}

/// Says that a run has begun, or goes on where another driver left it.
pub(crate) fn log_run_start(run: &RunKey, message: &'static str) {
    tracing::info!(
        target: ACTIVITY,
        run_id = %run.run,
        session_id = run.session.as_str(),
        project_id = run.project.as_str(),
        "{message}"
    );
}

/// Says how a run has ended and how long it was driven here; none if it was not.
pub(crate) fn log_run_end(run: &RunKey, end: RunEnd, took: Option<Duration>) {
    let outcome = match end {
        RunEnd::Done => "done",
        RunEnd::Failed => "failed",
        RunEnd::Cancelled => "cancelled",
    };
    tracing::info!(
        target: ACTIVITY,
        outcome,
        duration_ms = took.map(as_millis),
        run_id = %run.run,
        session_id = run.session.as_str(),
        project_id = run.project.as_str(),
        "run ended"
    );
}

/// Returns the time between two moments; nothing where a clock was set back meanwhile.
fn time_between(start: Timestamp, end: Timestamp) -> Duration {
    Duration::try_from(end.duration_since(start)).unwrap_or_default()
}

fn as_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
