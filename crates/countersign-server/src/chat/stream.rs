//! `GET …/chat/stream`: what happens in a project, as server-sent events.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use countersign_gate::TokenRole;
use futures_util::stream;
use serde::Deserialize;
use utoipa::IntoParams;

use super::executor_slot::ExecutingClient;
use super::listener::{self, StreamListener};
use crate::app::App;
use crate::caller::{AuthenticatedCaller, LeastRole};
use crate::error::ApiError;
use crate::error_responses::ReadErrorResponses;
use crate::path_params::{PathParams, session_id};
use crate::query::QueryParams;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// No proxy on the way may keep, pack or gather what is sent.
const HEADERS: [(HeaderName, HeaderValue); 3] = [
    (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform")),
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
];

/// What a listener wants to hear.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StreamQuery {
    /// Goes on after this number; `Last-Event-ID` goes before it. Without either it starts now.
    #[param(value_type = Option<u64>, minimum = 0)]
    after: Option<String>,
    /// Names one client process, for as long as it lives: it gets short leases (30 s) that it renews
    /// (`…/tools/{tool_id}/lease`), and hears again of what it was told to run when it comes back.
    /// Without it each connection is a client of its own, with a lease as long as the call may take.
    /// A new stream of the same client ends the one before.
    #[param(pattern = "^[A-Za-z0-9._-]{1,64}$")]
    client_id: Option<String>,
    /// `none` is a mere listener, which never runs calls. Any other word is the name of a client that
    /// does: of all that are connected the one that came first, and one with a name (this or
    /// `client_id`) before one without. `client` is no name. Who has to stand by hears
    /// `executor.role`. A viewer is a mere listener; an agent hears of nothing but the calls that are
    /// lent to it.
    #[param(pattern = "^[A-Za-z0-9._-]{1,64}$")]
    executor: Option<String>,
    /// `true` for a client with a name that answers `tool.preview_request` with what is on its machine
    /// (`…/tools/{tool_id}/preimage`), and that runs a call only if its files are still those in
    /// `preimages` of the signal.
    preimages: Option<bool>,
    /// Only what belongs to this conversation.
    session_id: Option<String>,
    /// A credential, where a browser cannot send one otherwise.
    #[expect(dead_code, reason = "read by the sign-in")]
    token: Option<String>,
}

/// `GET /my/projects/{project_id}/chat/stream`: what happens in a project, as server-sent events.
///
/// `id:` is the number in the project's log; a client that comes back with `Last-Event-ID` (as an
/// `EventSource` does by itself) misses nothing and sees nothing twice. What is live (`chat.delta`,
/// `chat.retry`, `tool.output`) has no number. A comment comes every 15 seconds. `StreamEvent` describes the events:
/// `event:` is its `event`, `data:` its `data`.
#[utoipa::path(get, operation_id = "stream", tag = "chat", path = "/my/projects/{project_id}/chat/stream", params(
    ("project_id" = String, Path),
    ("Last-Event-ID" = Option<String>, Header, description = "The number of the last event that was seen", pattern = "^[0-9]*$"),
    StreamQuery,
), responses(
    (status = 200, description = "Events until one side leaves.", body = String, content_type = "text/event-stream"),
    ReadErrorResponses,
))]
pub(crate) async fn listen(
    caller: AuthenticatedCaller,
    State(app): State<App>,
    PathParams(project): PathParams<String>,
    QueryParams(wish): QueryParams<StreamQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let after = cursor(&headers, wish.after.as_deref())?;
    let session = wish.session_id.map(session_id).transpose()?;
    let client = match wish.executor.as_deref() {
        // Whoever only looks runs nothing, and takes no call from those who would.
        None if caller.role == TokenRole::Viewer => None,
        Some("none") => None,
        named => {
            caller.check_role(LeastRole::Agent)?;
            let name = named.filter(|name| *name != "client").map(str::to_owned);
            let shows_files = wish.preimages.unwrap_or(false);
            Some(ExecutingClient::new(&caller, wish.client_id, name, shows_files)?)
        }
    };
    let wish = listener::ListenerOptions { session, after, client, caller };
    let listener = StreamListener::open(&app, &project.id, wish).await?;
    let listener = listener.ok_or_else(beyond)?;
    let sent = stream::unfold(listener, async |mut listener| {
        let piece = listener.next().await?;
        Some((Ok::<_, Infallible>(piece), listener))
    });
    Ok((HEADERS, Body::from_stream(sent)).into_response())
}

/// Reads after which number to go on: a client that comes back knows better than its address.
fn cursor(headers: &HeaderMap, after: Option<&str>) -> Result<Option<u64>, ApiError> {
    let last = headers.get(LAST_EVENT_ID).filter(|last| !last.is_empty());
    let last = last.map(|last| last.to_str().map_err(|_| beyond())).transpose()?;
    last.or(after).map(|number| number.trim().parse().map_err(|_| beyond())).transpose()
}

fn beyond() -> ApiError {
    ApiError::bad_request("bad_cursor", "`after` must be the number of an event that was sent")
}
