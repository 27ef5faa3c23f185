//! A call as REST clients see it: the row of `tool_executions`, and what came of it.

use countersign_core::{
    Execution, ExecutionState, ExecutionStatus, Executor, ToolCall, VerdictAction as Said,
    mask_input, mask_text,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::approvals::view::DecisionRecord;
use crate::call_context::CallContext;
use crate::socket::request::RiskLevel;
use crate::status::CallStatus;

/// How much of a result lists show, in characters.
const SHORT: usize = 4096;

/// Who made a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CallOrigin {
    /// Our own agent, which runs its tools here.
    Agent,
    /// Our own agent, whose tools a client runs.
    Client,
    /// Another program, which runs the call itself.
    Api,
    /// The Claude Code CLI, which runs its own tools.
    ClaudeCli,
}

impl CallOrigin {
    pub(crate) fn from_call(call: &ToolCall) -> Self {
        call.executor.into()
    }
}

impl From<Executor> for CallOrigin {
    fn from(executor: Executor) -> Self {
        match executor {
            Executor::Local => Self::Agent,
            Executor::Client => Self::Client,
            Executor::Caller => Self::Api,
            Executor::ClaudeCli => Self::ClaudeCli,
        }
    }
}

/// Whom an approved call waits for that is run elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WaitingFor {
    /// A client that listens to the project's stream.
    Client,
    /// Whoever made the call.
    Caller,
}

impl WaitingFor {
    pub(crate) fn for_status(status: ExecutionStatus, executor: Executor) -> Option<Self> {
        match executor {
            Executor::Client if status == ExecutionStatus::Approved => Some(Self::Client),
            Executor::Caller if status == ExecutionStatus::Approved => Some(Self::Caller),
            Executor::Local | Executor::Client | Executor::Caller | Executor::ClaudeCli => None,
        }
    }
}

/// A call, and what came of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExecutionView {
    tool_id: String,
    /// The request for approval; left out where nobody was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    approval_id: Option<String>,
    tool_use_id: String,
    session_id: String,
    #[schema(required)]
    run_id: Option<String>,
    origin: CallOrigin,
    /// Who told of it after the fact, where it was not decided here (`hook`); else left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reported_by: Option<String>,
    /// The child agent that wants it, as a path such as `main/explore`; left out for the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    agent: Option<String>,
    #[serde(flatten)]
    context: CallContext,
    tool_name: String,
    /// The input, secrets masked; for a call that the asker runs, as it was approved.
    tool_input: Value,
    status: CallStatus,
    /// Whom it waits for, where it is approved and run elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    waiting_for: Option<WaitingFor>,
    risk_level: RiskLevel,
    /// Whether a person was to decide.
    requires_approval: bool,
    /// What it would do, in one sentence.
    summary: String,
    /// A command in the form in which it runs if nobody is asked; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    canonical: Option<String>,
    #[serde(flatten)]
    decided: DecisionRecord,
    #[serde(flatten)]
    outcome: CallOutcome,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// What came of a call, as far as it went.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct CallOutcome {
    /// What it gave back: a text, or the object that was reported.
    #[schema(required)]
    pub(crate) result: Option<Value>,
    /// What the asker is told instead.
    #[schema(required)]
    pub(crate) error: Option<String>,
    /// The kind of failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) error_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) execution_time_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime)]
    pub(crate) approved_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime)]
    pub(crate) completed_at: Option<Timestamp>,
}

impl CallOutcome {
    pub(crate) fn from_execution(call: &Execution) -> Self {
        let nothing = Self::default();
        let told = || call.to_tool_output().map(|answer| mask_text(&answer.content));
        match &call.state {
            ExecutionState::Pending | ExecutionState::AwaitingApproval { .. } => nothing,
            ExecutionState::Approved { at, .. } => Self { approved_at: Some(*at), ..nothing },
            ExecutionState::Executing { approved_at, .. } => {
                Self { approved_at: Some(*approved_at), ..nothing }
            }
            ExecutionState::Completed { approved_at, since, at, result, reported, .. } => Self {
                result: Some(if *reported { report_to_json(result) } else { text_to_json(result) }),
                execution_time_ms: u64::try_from(at.duration_since(*since).as_millis()).ok(),
                approved_at: Some(*approved_at),
                completed_at: Some(*at),
                ..nothing
            },
            ExecutionState::Failed { at, failure, .. } => Self {
                error: Some(mask_text(&failure.error)),
                error_type: Some(failure.error_type.clone()),
                completed_at: Some(*at),
                ..nothing
            },
            ExecutionState::Rejected { at, .. }
            | ExecutionState::Timeout { at }
            | ExecutionState::Cancelled { at, .. } => {
                Self { error: told(), completed_at: Some(*at), ..nothing }
            }
        }
    }
}

fn text_to_json(result: &str) -> Value {
    Value::String(mask_text(result))
}

/// What was reported is an object; what cannot be read is shown as it stands.
fn report_to_json(result: &str) -> Value {
    serde_json::from_str(result).map_or_else(|_| text_to_json(result), |report| mask_input(&report))
}

impl ExecutionView {
    /// Returns the view for whoever runs the call: with the input as it was approved.
    pub(crate) fn for_caller(approval: Execution, context: CallContext) -> Self {
        let runs = approval.call.executor == Executor::Caller;
        let input = runs.then(|| approval.input_to_run().into_owned());
        let view = Self::new(approval, context);
        Self { tool_input: input.unwrap_or_else(|| view.tool_input.clone()), ..view }
    }

    /// Returns the same with no more of the result than a list shows.
    pub(crate) fn with_short_result(mut self) -> Self {
        match &mut self.outcome.result {
            Some(Value::Object(report)) => report.values_mut().for_each(shorten),
            Some(result) => shorten(result),
            None => {}
        }
        self
    }
}

fn shorten(value: &mut Value) {
    if let Value::String(text) = value
        && let Some((at, _)) = text.char_indices().nth(SHORT)
    {
        text.truncate(at);
        text.push('…');
    }
}

impl ExecutionView {
    pub(crate) fn new(approval: Execution, context: CallContext) -> Self {
        let requires_approval = approval.verdict.outcome == Said::Ask;
        Self {
            tool_id: approval.call.id.to_string(),
            approval_id: requires_approval.then(|| approval.id.to_string()),
            tool_use_id: approval.call.tool_use_id.to_string(),
            session_id: approval.call.session.to_string(),
            run_id: approval.call.run.map(|run| run.to_string()),
            origin: CallOrigin::from_call(&approval.call),
            reported_by: approval.basis.reported_by.clone(),
            tool_input: mask_input(&approval.call.input),
            // Quoted word by word, a secret may not look like one: then the form is not shown.
            canonical: approval
                .canonical
                .as_ref()
                .filter(|_| mask_input(&approval.call.input) == approval.call.input)
                .map(|it| mask_text(&it.text)),
            status: approval.status().into(),
            waiting_for: WaitingFor::for_status(approval.status(), approval.call.executor),
            risk_level: approval.risk.into(),
            requires_approval,
            decided: DecisionRecord::from_execution(&approval),
            outcome: CallOutcome::from_execution(&approval),
            created_at: approval.created_at,
            agent: approval.call.agent,
            context,
            tool_name: approval.call.tool_name,
            summary: approval.summary,
        }
    }
}
