//! `POST …/tools/calls` and `GET …/tools/{tool_id}`: any other agent asks, waits, and runs it itself.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::{Extension, Json};
use countersign_core::{
    Execution, ExecutionStatus, Executor, RunId, SessionId, Supervision, ToolCall,
};
use countersign_gate::{AskOptions, StoreError, Submission, SubmitOptions, new_id};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};

use super::view::ExecutionView;
use super::{call_backups, find_execution};
use crate::access::AuthenticatedCaller;
use crate::app::App;
use crate::body::JsonBody;
use crate::call_context::ContextLookup;
use crate::chat::session_id;
use crate::connections::HttpConnection;
use crate::decide::planner_for;
use crate::error::ApiError;
use crate::error_responses::{ConflictErrorResponses, ReadErrorResponses};
use crate::path_params::{PathParams, unknown_execution};
use crate::projects::{ProjectHandle, working_folder};
use crate::query::QueryParams;
use crate::with_deadline::judge_with_deadline;

/// How long anybody may wait for an answer.
const LONGEST_WAIT: u64 = 300;

/// How long the name of a tool, or an agent's own id of a call, may be.
const LONGEST_NAME: usize = 200;

/// A call that another agent wants to make.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"tool_name": "Bash", "tool_input": {"command": "npm test"}, "tool_use_id": "toolu_01ABC123", "session_id": "my-agent", "wait_seconds": 60}))]
pub(crate) struct NewCall {
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]+$",
        example = "Bash"
    )]
    tool_name: String,
    #[schema(value_type = Object, example = json!({"command": "npm test"}))]
    tool_input: Map<String, Value>,
    /// The folder relative paths start from, inside the project's root; the root unless said.
    cwd: Option<String>,
    /// The agent's own id of the call: handed in again in the same conversation it is the same call.
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")]
    tool_use_id: Option<String>,
    /// The agent's conversation; a new one unless said.
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")]
    session_id: Option<String>,
    /// The subagent that wants it, where it is not the agent itself.
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")]
    agent: Option<String>,
    /// How long to wait for a decision, in seconds; not at all unless said.
    #[schema(maximum = 300)]
    wait_seconds: Option<u64>,
}

/// One call.
#[derive(Serialize, ToSchema)]
pub(crate) struct OneExecution {
    success: bool,
    #[serde(flatten)]
    execution: ExecutionView,
}

/// How long to wait.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitQuery {
    /// Waits until the call leaves the state it is in, so many seconds at the most.
    #[param(maximum = 300)]
    wait_seconds: Option<u64>,
}

/// `POST /my/projects/{project_id}/tools/calls`: hands a call in. The server judges it, and asks a
/// person where need be; it never runs it. `approved` means that the caller may, once, with the input
/// as it stands here, and then reports the result. The same `session_id` and `tool_use_id` again is
/// the same call; with another input it is 409.
#[utoipa::path(post, operation_id = "hand_in_call", tag = "tools", path = "/my/projects/{project_id}/tools/calls", params(("project_id" = String, Path)), request_body = NewCall, responses(
    (status = 200, body = OneExecution),
    ConflictErrorResponses,
))]
pub(crate) async fn hand_in(
    caller: AuthenticatedCaller,
    State(app): State<App>,
    connection: Option<Extension<Arc<HttpConnection>>>,
    PathParams(project): PathParams<String>,
    JsonBody(wanted): JsonBody<NewCall>,
) -> Result<Json<OneExecution>, ApiError> {
    let place = app.projects.get(&project).await?;
    let wait = parse_wait(wanted.wait_seconds)?;
    let call = wanted.into_tool_call(&place)?;
    let planner = planner_for(&app, &place.1, &call);
    let terms = SubmitOptions::from(Supervision::Attended { auto_approve_read: true });
    let (gate, made) = (app.gate.clone(), call.clone());
    let question =
        AskOptions { submitted_by: Some(caller.submitter_id()), ..AskOptions::default() };
    let submitted = judge_with_deadline(planner, |planner| async move {
        gate.submit_with(made, planner, &terms, &question).await
    });
    let stands = match submitted.await? {
        Submission::Waiting(stands)
        | Submission::Approved(stands)
        | Submission::Refused(stands) => *stands,
        Submission::Before(stands) if !caller.may_see(&stands) => {
            let why = "somebody else uses this `session_id` and `tool_use_id`: choose another";
            return Err(ApiError::conflict("other_call", why));
        }
        Submission::Before(stands) if is_same(&stands, &call) => *stands,
        Submission::Before(stands) => {
            let why = "another call was handed in under this `tool_use_id` in this conversation";
            return Err(ApiError::conflict("other_call", why).with_execution(*stands));
        }
        Submission::Permitted(permit) => {
            let error = StoreError::corrupt("permit", permit.approval().to_string());
            return Err(error.into());
        }
    };
    let stands = latest_replacement(&app, stands).await?;
    let stands = if stands.status() == ExecutionStatus::AwaitingApproval {
        set_aside(connection);
        wait_for_change(&app, stands, wait).await?
    } else {
        stands
    };
    app.sign_ins.check_not_revoked(&caller).await?;
    call_backups::back_up_before_run(&app, &stands).await;
    execution_response(&app, stands).await
}

/// `GET /my/projects/{project_id}/tools/{tool_id}`: one call. With `wait_seconds` the answer comes
/// when it leaves the state it is in, or when the time is over. Where an edited input took its place,
/// that is the answer.
#[utoipa::path(get, operation_id = "get_execution", tag = "tools", path = "/my/projects/{project_id}/tools/{tool_id}", params(("project_id" = String, Path), ("tool_id" = String, Path), WaitQuery), responses(
    (status = 200, body = OneExecution),
    ReadErrorResponses,
))]
pub(crate) async fn get(
    caller: AuthenticatedCaller,
    State(app): State<App>,
    connection: Option<Extension<Arc<HttpConnection>>>,
    PathParams((project, tool)): PathParams<(String, String)>,
    QueryParams(query): QueryParams<WaitQuery>,
) -> Result<Json<OneExecution>, ApiError> {
    let place = app.projects.get(&project).await?;
    let wait = parse_wait(query.wait_seconds)?;
    let asked = find_execution(&app, &place, &tool).await?;
    if !caller.may_see(&asked) {
        return Err(unknown_execution(&tool));
    }
    let stands = latest_replacement(&app, asked).await?;
    set_aside(connection);
    let stands = wait_for_change(&app, stands, wait).await?;
    app.sign_ins.check_not_revoked(&caller).await?;
    call_backups::back_up_before_run(&app, &stands).await;
    execution_response(&app, stands).await
}

async fn execution_response(app: &App, stands: Execution) -> Result<Json<OneExecution>, ApiError> {
    let context = ContextLookup::new(app.gate.store()).find(&stands).await?;
    let execution = ExecutionView::for_caller(stands, context);
    Ok(Json(OneExecution { success: true, execution }))
}

impl NewCall {
    fn into_tool_call(self, place: &ProjectHandle) -> Result<ToolCall, ApiError> {
        let project = &place.0;
        let cwd = working_folder(place, self.cwd.as_deref())?;
        let session = match self.session_id {
            Some(session) => session_id(session)?,
            None => SessionId::from(new_id::<RunId>().to_string()),
        };
        let tool_use_id = match self.tool_use_id {
            Some(id) => check_name("tool_use_id", id)?,
            None => new_id::<RunId>().to_string(),
        };
        Ok(ToolCall {
            id: new_id(),
            project: project.id.clone(),
            session,
            run: None,
            tool_use_id: tool_use_id.into(),
            tool_name: check_name("tool_name", self.tool_name)?,
            input: Value::Object(self.tool_input),
            cwd,
            executor: Executor::Caller,
            agent: self.agent.map(|agent| check_name("agent", agent)).transpose()?,
        })
    }
}

fn check_name(field: &str, text: String) -> Result<String, ApiError> {
    let is_one = !text.is_empty()
        && text.chars().count() <= LONGEST_NAME
        && !text.chars().any(char::is_control);
    if is_one {
        Ok(text)
    } else {
        let why = format!("`{field}` has 1 to {LONGEST_NAME} characters, no control codes");
        Err(ApiError::bad_request("bad_request", why))
    }
}

fn parse_wait(seconds: Option<u64>) -> Result<Duration, ApiError> {
    match seconds.unwrap_or_default() {
        seconds @ 0..=LONGEST_WAIT => Ok(Duration::from_secs(seconds)),
        _ => Err(ApiError::bad_request(
            "bad_wait",
            format!("`wait_seconds` is {LONGEST_WAIT} at the most"),
        )),
    }
}

/// Whether a call is what was handed in before; a person may have changed its input since.
fn is_same(stands: &Execution, call: &ToolCall) -> bool {
    let input = stands.basis.edited_from.as_ref().unwrap_or(&stands.call.input);
    stands.call.tool_name == call.tool_name && stands.matches_stored_input(input, &call.input)
}

/// Returns the call that took another's place, as far as that goes.
async fn latest_replacement(app: &App, mut stands: Execution) -> Result<Execution, StoreError> {
    while let Some(next) = stands.replaced_by() {
        match app.gate.store().approval(next).await? {
            Some(heir) => stands = heir,
            // It was promised, and is not there yet.
            None => break,
        }
    }
    Ok(stands)
}

/// Lets a connection wait without taking a place among those that count.
fn set_aside(connection: Option<Extension<Arc<HttpConnection>>>) {
    if let Some(Extension(connection)) = connection {
        connection.set_aside();
    }
}

/// Waits until a call has left its state, the time is over or the server stops.
async fn wait_for_change(
    app: &App,
    stands: Execution,
    wait: Duration,
) -> Result<Execution, StoreError> {
    if wait.is_zero() || stands.status().is_terminal() {
        return Ok(stands);
    }
    let changed = timeout(wait, app.gate.wait_for_change(stands.id, stands.status()));
    tokio::select! {
        changed = changed => changed.unwrap_or(Ok(stands)),
        () = app.stopping.cancelled() => Ok(stands),
    }
}
