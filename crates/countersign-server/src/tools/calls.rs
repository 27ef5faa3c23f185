//! `POST …/tools/calls` and `GET …/tools/{tool_id}`: any other agent asks, waits, and runs it itself.

use countersign_api::call_status::CallStatus;
use countersign_api::execution::{ExecutionView, NewCall, OneExecution};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::{Extension, Json};
use countersign_core::{
    Execution, ExecutionStatus, Executor, PermissionMode, RunId, SessionId, ToolCall,
};
use countersign_gate::{
    AskOptions, CallTerms, GateError, RemoteSubmission, StoreError, SubmitOptions, call_span,
    new_id,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;
use tracing::Instrument;
use utoipa::IntoParams;

use super::{call_backups, find_execution};
use crate::app::App;
use crate::body::JsonBody;
use crate::call_context::ContextLookup;
use crate::caller::AuthenticatedCaller;
use crate::connections::HttpConnection;
use crate::decide::planner_for;
use crate::error::ApiError;
use crate::error_responses::{ConflictErrorResponses, ReadErrorResponses};
use crate::path_params::{PathParams, session_id, unknown_execution};
use crate::project_registry::{ProjectHandle, working_folder};
use crate::query::QueryParams;
use crate::with_deadline::judge_with_deadline;

/// How long anybody may wait for an answer.
const LONGEST_WAIT: u64 = 300;

/// How long the name of a tool, or an agent's own id of a call, may be.
const LONGEST_NAME: usize = 200;

/// How long to wait.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitQuery {
    /// Waits until the call leaves the state it is in, so many seconds at the most.
    #[param(maximum = 300)]
    wait_seconds: Option<u64>,
    /// The status that whoever asks has seen. If the call has another one by now, the answer comes at once:
    /// a decision may have come just before the question.
    #[param(value_type = Option<CallStatus>)]
    known_status: Option<CallStatus>,
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
    let mode = wanted.mode.map(PermissionMode::from);
    let call = tool_call(wanted, &place)?;
    let planner = planner_for(&app, &place.1, &call);
    let (gate, submitted_call) = (app.gate.clone(), call.clone());
    let question =
        AskOptions { submitted_by: Some(caller.submitter_id()), ..AskOptions::default() };
    let submitted = judge_with_deadline(planner, |planner| async move {
        let terms = CallTerms::new(planner, SubmitOptions::attended().in_mode(mode))
            .with_question(question);
        let span = call_span(Some(&submitted_call));
        gate.submit_remote(submitted_call, &terms).instrument(span).await
    });
    let stands = match submitted.await? {
        RemoteSubmission::Waiting(stands)
        | RemoteSubmission::Approved(stands)
        | RemoteSubmission::Refused(stands) => *stands,
        RemoteSubmission::Existing(stands) if !caller.may_see(&stands) => {
            let why = "somebody else uses this `session_id` and `tool_use_id`: choose another";
            return Err(ApiError::conflict("other_call", why));
        }
        RemoteSubmission::Existing(stands) if is_same(&stands, &call) => *stands,
        RemoteSubmission::Existing(stands) => {
            let why = "another call was handed in under this `tool_use_id` in this conversation";
            return Err(ApiError::conflict("other_call", why).with_execution(*stands));
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
    let is_news = query.known_status.is_some_and(|known| known != stands.status().into());
    let wait = if is_news { Duration::ZERO } else { wait };
    set_aside(connection);
    let stands = wait_for_change(&app, stands, wait).await?;
    app.sign_ins.check_not_revoked(&caller).await?;
    call_backups::back_up_before_run(&app, &stands).await;
    execution_response(&app, stands).await
}

async fn execution_response(app: &App, stands: Execution) -> Result<Json<OneExecution>, ApiError> {
    let context = ContextLookup::new(app.gate.store()).find(&stands).await?;
    let execution = ExecutionView::for_caller(&stands, context);
    Ok(Json(OneExecution { success: true, execution }))
}

fn tool_call(wanted: NewCall, place: &ProjectHandle) -> Result<ToolCall, ApiError> {
    let project = &place.0;
    let cwd = working_folder(place, wanted.cwd.as_deref())?;
    let session = match wanted.session_id {
        Some(session) => session_id(session)?,
        None => SessionId::from(new_id::<RunId>().to_string()),
    };
    let tool_use_id = match wanted.tool_use_id {
        Some(id) => check_name("tool_use_id", id)?,
        None => new_id::<RunId>().to_string(),
    };
    Ok(ToolCall {
        id: new_id(),
        project: project.id.clone(),
        session,
        run: None,
        tool_use_id: tool_use_id.into(),
        tool_name: check_name("tool_name", wanted.tool_name)?,
        input: Value::Object(wanted.tool_input),
        cwd,
        executor: Executor::Caller,
        agent: wanted.agent.map(|agent| check_name("agent", agent)).transpose()?,
    })
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
    let input = stands.basis().edited_from.as_ref().unwrap_or(&stands.call().input);
    stands.call().tool_name == call.tool_name && stands.matches_stored_input(input, &call.input)
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
) -> Result<Execution, GateError> {
    if wait.is_zero() || stands.status().is_terminal() {
        return Ok(stands);
    }
    let changed = timeout(wait, app.gate.wait_for_change(stands.id(), stands.status()));
    tokio::select! {
        changed = changed => changed.unwrap_or(Ok(stands)),
        () = app.stopping.cancelled() => Ok(stands),
    }
}
