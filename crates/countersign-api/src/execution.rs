//! A call over REST: the row of `tool_executions`, and what came of it.

use countersign_core::{
    Execution, ExecutionState, ExecutionStatus, Executor, VerdictAction, mask_input, mask_text,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::call_context::CallContext;
use crate::call_origin::CallOrigin;
use crate::call_status::CallStatus;
use crate::decision_record::DecisionRecord;
use crate::risk_level::RiskLevel;
use crate::run_mode::RunMode;

/// How much of a result lists show, in characters.
const SHORT: usize = 4096;

/// Whom an approved call waits for that is run elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitingFor {
    /// A client that listens to the project's stream.
    Client,
    /// Whoever made the call.
    Caller,
}

impl WaitingFor {
    pub fn for_status(status: ExecutionStatus, executor: Executor) -> Option<Self> {
        match executor {
            Executor::Client if status == ExecutionStatus::Approved => Some(Self::Client),
            Executor::Caller if status == ExecutionStatus::Approved => Some(Self::Caller),
            Executor::Local | Executor::Client | Executor::Caller | Executor::ClaudeCli => None,
        }
    }
}

/// A call, and what came of it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExecutionView {
    pub tool_id: String,
    /// The request for approval; left out where nobody was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub approval_id: Option<String>,
    pub tool_use_id: String,
    pub session_id: String,
    #[schema(required)]
    pub run_id: Option<String>,
    pub origin: CallOrigin,
    /// Who told of it after the fact, where it was not decided here (`hook`); else left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reported_by: Option<String>,
    /// The child agent that wants it, as a path such as `main/explore`; left out for the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub agent: Option<String>,
    #[serde(flatten)]
    pub context: CallContext,
    pub tool_name: String,
    /// The input, secrets masked; for a call that the asker runs, as it was approved.
    pub tool_input: Value,
    pub status: CallStatus,
    /// Whom it waits for, where it is approved and run elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub waiting_for: Option<WaitingFor>,
    pub risk_level: RiskLevel,
    /// Whether a person was to decide.
    pub requires_approval: bool,
    /// What it would do, in one sentence.
    pub summary: String,
    /// A command in the form in which it runs if nobody is asked; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub canonical: Option<String>,
    #[serde(flatten)]
    pub decided: DecisionRecord,
    #[serde(flatten)]
    pub outcome: CallOutcome,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// What came of a call, as far as it went.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct CallOutcome {
    /// What it gave back: a text, or the object that was reported.
    #[schema(required)]
    pub result: Option<Value>,
    /// What the asker is told instead.
    #[schema(required)]
    pub error: Option<String>,
    /// The kind of failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub error_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub execution_time_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime)]
    pub approved_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime)]
    pub completed_at: Option<Timestamp>,
}

impl CallOutcome {
    pub fn from_execution(call: &Execution) -> Self {
        let nothing = Self::default();
        let told = || call.to_tool_output().map(|answer| mask_text(&answer.content));
        match &call.state() {
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
                error_type: Some(failure.kind.to_string()),
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
    pub fn for_caller(approval: &Execution, context: CallContext) -> Self {
        let runs = approval.call().executor == Executor::Caller;
        let input = runs.then(|| approval.input_to_run().into_owned());
        let view = Self::new(approval, context);
        Self { tool_input: input.unwrap_or_else(|| view.tool_input.clone()), ..view }
    }

    /// Returns the same with no more of the result than a list shows.
    #[must_use]
    pub fn with_short_result(mut self) -> Self {
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
    pub fn new(approval: &Execution, context: CallContext) -> Self {
        let requires_approval = approval.verdict().outcome == VerdictAction::Ask;
        Self {
            tool_id: approval.call().id.to_string(),
            approval_id: requires_approval.then(|| approval.id().to_string()),
            tool_use_id: approval.call().tool_use_id.to_string(),
            session_id: approval.call().session.to_string(),
            run_id: approval.call().run.map(|run| run.to_string()),
            origin: CallOrigin::from_call(approval.call()),
            reported_by: approval.basis().reported_by.clone(),
            tool_input: mask_input(&approval.call().input),
            // Quoted word by word, a secret may not look like one: then the form is not shown.
            canonical: approval
                .canonical()
                .as_ref()
                .filter(|_| mask_input(&approval.call().input) == approval.call().input)
                .map(|it| mask_text(&it.text)),
            status: approval.status().into(),
            waiting_for: WaitingFor::for_status(approval.status(), approval.call().executor),
            risk_level: approval.risk().into(),
            requires_approval,
            decided: DecisionRecord::from_execution(approval),
            outcome: CallOutcome::from_execution(approval),
            created_at: approval.created_at(),
            agent: approval.call().agent.clone(),
            context,
            tool_name: approval.call().tool_name.clone(),
            summary: approval.summary().to_owned(),
        }
    }
}

/// A call that another agent wants to make.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"tool_name": "Bash", "tool_input": {"command": "npm test"}, "tool_use_id": "toolu_01ABC123", "session_id": "my-agent", "wait_seconds": 60}))]
pub struct NewCall {
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]+$",
        example = "Bash"
    )]
    pub tool_name: String,
    #[schema(value_type = Object, example = json!({"command": "npm test"}))]
    pub tool_input: Map<String, Value>,
    /// The folder relative paths start from, inside the project's root; the root unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The agent's own id of the call: handed in again in the same conversation it is the same call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")]
    pub tool_use_id: Option<String>,
    /// The agent's conversation; a new one unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")]
    pub session_id: Option<String>,
    /// The subagent that wants it, where it is not the agent itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")]
    pub agent: Option<String>,
    /// How long to wait for a decision, in seconds; not at all unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 300)]
    pub wait_seconds: Option<u64>,
    /// What becomes of the call if it would ask; as the rules say where it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<RunMode>,
}

/// One call.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct OneExecution {
    pub success: bool,
    #[serde(flatten)]
    pub execution: ExecutionView,
}

/// A page of calls, the latest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExecutionList {
    pub success: bool,
    pub executions: Vec<ExecutionView>,
    /// Where the next page begins; none after the last.
    #[schema(required)]
    pub next_cursor: Option<String>,
}
