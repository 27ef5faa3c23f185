//! The conversation over REST: a message starts a run, the stream tells what comes of it.

pub(crate) mod event;
pub(crate) mod executor_slot;
pub(crate) mod hub;
mod listener;
pub(crate) mod stream;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_api::chat::{MessageTaken, NewMessage};

use crate::app::App;
use crate::body::JsonBody;
use crate::caller::SignedInPerson;
use crate::error::ApiError;
use crate::error_responses::ConflictErrorResponses;
use crate::path_params::{PathParams, session_id};
use crate::run_mode;
use crate::runs::{self, RunRequest};
use crate::sessions::messages::message_id;

/// `POST /my/projects/{project_id}/chat/messages`: the agent starts on a task. What comes of it is
/// told by the stream.
#[utoipa::path(post, operation_id = "send_message", tag = "chat", path = "/my/projects/{project_id}/chat/messages", params(("project_id" = String, Path)), request_body = NewMessage, responses(
    (status = 202, body = MessageTaken),
    ConflictErrorResponses,
))]
pub(crate) async fn send(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams(project): PathParams<String>,
    JsonBody(message): JsonBody<NewMessage>,
) -> Result<(StatusCode, Json<MessageTaken>), ApiError> {
    let place = app.projects.get(&project).await?;
    let wish = run_mode::choice_from_names(message.executor, message.permission_mode)?;
    if message.content.contains('\0') {
        return Err(ApiError::bad_request("bad_request", "`content` holds a NUL character"));
    }
    let session = message.session_id.map(session_id).transpose()?;
    let project = &place.0.id;
    let way = app.resolve_run_mode(project, session.as_ref(), wish).await?;
    let wanted = RunRequest {
        prompt: message.content,
        session,
        auto_approve_read: true,
        way,
        cwd: None,
        model: message.model,
        system_prompt: message.system_prompt,
        max_tokens: message.max_tokens,
    };
    let begun = runs::start(&app, &place, wanted).await?;
    let first = app.gate.store().first_message(project, &begun.session, begun.run).await?;
    let taken = MessageTaken {
        success: true,
        session_id: begun.session.to_string(),
        run_id: begun.run.to_string(),
        message_id: message_id(begun.run, first.unwrap_or_default()),
    };
    Ok((StatusCode::ACCEPTED, Json(taken)))
}
