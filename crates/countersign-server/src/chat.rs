//! The conversation over REST: a message starts a run, the stream tells what comes of it.

pub(crate) mod event;
pub(crate) mod executor_slot;
pub(crate) mod hub;
mod listener;
pub(crate) mod stream;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_core::{Executor, SessionId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::error_responses::ConflictErrorResponses;
use crate::path_params::PathParams;
use crate::run_mode;
use crate::runs::{self, RunRequest};
use crate::sessions::messages::message_id;
use crate::sign_in::SignedInPerson;
use crate::socket::command::RunPermissionMode;

/// How long the id of a conversation may be.
const LONGEST_ID: usize = 200;

/// A message of a person, and how to run it.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"content": "Run the tests and fix what fails", "executor": "client"}))]
pub(crate) struct NewMessage {
    /// What the person asks.
    #[schema(min_length = 1, example = "Run the tests and fix what fails")]
    content: String,
    /// The conversation: one that is there goes on, another one begins under this id.
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")]
    session_id: Option<String>,
    /// Who runs the tools; as in the conversation's last run unless said, else `client`.
    executor: Option<ExecutorName>,
    /// How calls are decided; as the project's settings and the conversation's last run say unless
    /// given, `sdk` where they say nothing.
    permission_mode: Option<RunPermissionMode>,
    /// The model to ask.
    model: Option<String>,
    /// Added to the system prompt of the server's own loop; what the server was started with if left out.
    system_prompt: Option<String>,
    /// How long one answer of the model may be, in the server's own loop.
    #[schema(minimum = 1)]
    max_tokens: Option<u32>,
}

/// Who runs the tools of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ExecutorName {
    /// The server.
    Local,
    /// The client that listens to the project's stream.
    Client,
    /// The Claude Code CLI.
    ClaudeCli,
}

/// A run that began.
#[derive(Serialize, ToSchema)]
pub(crate) struct MessageTaken {
    success: bool,
    session_id: String,
    run_id: String,
    message_id: String,
}

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

impl From<ExecutorName> for Executor {
    fn from(name: ExecutorName) -> Self {
        match name {
            ExecutorName::Local => Self::Local,
            ExecutorName::Client => Self::Client,
            ExecutorName::ClaudeCli => Self::ClaudeCli,
        }
    }
}

/// Reads the id of a conversation that may not be there yet.
pub(crate) fn session_id(text: String) -> Result<SessionId, ApiError> {
    let is_one = !text.is_empty()
        && text.chars().count() <= LONGEST_ID
        && !text.chars().any(char::is_control);
    if is_one {
        Ok(SessionId::from(text))
    } else {
        let why = format!("`session_id` has 1 to {LONGEST_ID} characters, no control codes");
        Err(ApiError::bad_request("bad_session_id", why))
    }
}
