//! `POST …/tools/calls` and `GET …/tools/{tool_id}`: any other agent asks, waits, and runs it itself.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::{Extension, Json};
use countersign_core::{Approval, Executor, RunId, SessionId, Stance, Status, ToolCall};
use countersign_gate::{Question, StoreError, Submitted, Terms, new_id};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};

use super::view::ExecutionView;
use super::{keeping, own};
use crate::access::Caller;
use crate::app::App;
use crate::body::Body;
use crate::call_context::ContextLookup;
use crate::chat::session_id;
use crate::connections::Connection;
use crate::decide::planner_for;
use crate::error::ApiError;
use crate::in_time::judge_in_time;
use crate::projects::{Place, working_folder};
use crate::query::Query;
use crate::refusals::{Contested, Looking};
use crate::segments::{Segments, unknown_execution};

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
pub(crate) struct Wait {
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
    Contested,
))]
pub(crate) async fn hand_in(
    caller: Caller,
    State(app): State<App>,
    connection: Option<Extension<Arc<Connection>>>,
    Segments(project): Segments<String>,
    Body(wanted): Body<NewCall>,
) -> Result<Json<OneExecution>, ApiError> {
    let place = app.projects.get(&project).await?;
    let wait = wait(wanted.wait_seconds)?;
    let call = wanted.call(&place)?;
    let planner = planner_for(&app, &place.1, &call);
    let terms = Terms::from(Stance::Attended { auto_approve_read: true });
    let (gate, made) = (app.gate.clone(), call.clone());
    let question = Question { submitted_by: Some(caller.submitter_id()), ..Question::default() };
    let submitted = judge_in_time(planner, |planner| async move {
        gate.submit_with(made, planner, &terms, &question).await
    });
    let stands = match submitted.await? {
        Submitted::Waiting(stands) | Submitted::Approved(stands) | Submitted::Refused(stands) => {
            *stands
        }
        Submitted::Before(stands) if !caller.may_see(&stands) => {
            let why = "somebody else uses this `session_id` and `tool_use_id`: choose another";
            return Err(ApiError::conflict("other_call", why));
        }
        Submitted::Before(stands) if is_same(&stands, &call) => *stands,
        Submitted::Before(stands) => {
            let why = "another call was handed in under this `tool_use_id` in this conversation";
            return Err(ApiError::conflict("other_call", why).with_execution(*stands));
        }
        Submitted::Permitted(permit) => {
            let error = StoreError::corrupt("permit", permit.approval().to_string());
            return Err(error.into());
        }
    };
    let stands = heir(&app, stands).await?;
    let stands = if stands.status() == Status::AwaitingApproval {
        set_aside(connection);
        until_changed(&app, stands, wait).await?
    } else {
        stands
    };
    app.sign_ins.check_not_revoked(&caller).await?;
    keeping::before(&app, &stands).await;
    shown_to_caller(&app, stands).await
}

/// `GET /my/projects/{project_id}/tools/{tool_id}`: one call. With `wait_seconds` the answer comes
/// when it leaves the state it is in, or when the time is over. Where an edited input took its place,
/// that is the answer.
#[utoipa::path(get, operation_id = "get_execution", tag = "tools", path = "/my/projects/{project_id}/tools/{tool_id}", params(("project_id" = String, Path), ("tool_id" = String, Path), Wait), responses(
    (status = 200, body = OneExecution),
    Looking,
))]
pub(crate) async fn get(
    caller: Caller,
    State(app): State<App>,
    connection: Option<Extension<Arc<Connection>>>,
    Segments((project, tool)): Segments<(String, String)>,
    Query(query): Query<Wait>,
) -> Result<Json<OneExecution>, ApiError> {
    let place = app.projects.get(&project).await?;
    let wait = wait(query.wait_seconds)?;
    let asked = own(&app, &place, &tool).await?;
    if !caller.may_see(&asked) {
        return Err(unknown_execution(&tool));
    }
    let stands = heir(&app, asked).await?;
    set_aside(connection);
    let stands = until_changed(&app, stands, wait).await?;
    app.sign_ins.check_not_revoked(&caller).await?;
    keeping::before(&app, &stands).await;
    shown_to_caller(&app, stands).await
}

async fn shown_to_caller(app: &App, stands: Approval) -> Result<Json<OneExecution>, ApiError> {
    let context = ContextLookup::new(app.gate.store()).find(&stands).await?;
    let execution = ExecutionView::for_caller(stands, context);
    Ok(Json(OneExecution { success: true, execution }))
}

impl NewCall {
    fn call(self, place: &Place) -> Result<ToolCall, ApiError> {
        let project = &place.0;
        let cwd = working_folder(place, self.cwd.as_deref())?;
        let session = match self.session_id {
            Some(session) => session_id(session)?,
            None => SessionId::from(new_id::<RunId>().to_string()),
        };
        let tool_use_id = match self.tool_use_id {
            Some(id) => word("tool_use_id", id)?,
            None => new_id::<RunId>().to_string(),
        };
        Ok(ToolCall {
            id: new_id(),
            project: project.id.clone(),
            session,
            run: None,
            tool_use_id: tool_use_id.into(),
            tool_name: word("tool_name", self.tool_name)?,
            input: Value::Object(self.tool_input),
            cwd,
            executor: Executor::Caller,
            agent: self.agent.map(|agent| word("agent", agent)).transpose()?,
        })
    }
}

fn word(field: &str, text: String) -> Result<String, ApiError> {
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

fn wait(seconds: Option<u64>) -> Result<Duration, ApiError> {
    match seconds.unwrap_or_default() {
        seconds @ 0..=LONGEST_WAIT => Ok(Duration::from_secs(seconds)),
        _ => Err(ApiError::bad_request(
            "bad_wait",
            format!("`wait_seconds` is {LONGEST_WAIT} at the most"),
        )),
    }
}

/// Whether a call is what was handed in before; a person may have changed its input since.
fn is_same(stands: &Approval, call: &ToolCall) -> bool {
    let input = stands.basis.edited_from.as_ref().unwrap_or(&stands.call.input);
    stands.call.tool_name == call.tool_name && stands.keeps(input, &call.input)
}

/// Returns the call that took another's place, as far as that goes.
async fn heir(app: &App, mut stands: Approval) -> Result<Approval, StoreError> {
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
fn set_aside(connection: Option<Extension<Arc<Connection>>>) {
    if let Some(Extension(connection)) = connection {
        connection.set_aside();
    }
}

/// Waits until a call has left its state, the time is over or the server stops.
async fn until_changed(
    app: &App,
    stands: Approval,
    wait: Duration,
) -> Result<Approval, StoreError> {
    if wait.is_zero() || stands.status().is_terminal() {
        return Ok(stands);
    }
    let changed = timeout(wait, app.gate.changed(stands.id, stands.status()));
    tokio::select! {
        changed = changed => changed.unwrap_or(Ok(stands)),
        () = app.stopping.cancelled() => Ok(stands),
    }
}
