//! The WebSocket `/api/terminal/ws/agent`: S1's words, read from the gate's log.

mod approve_all;
pub(crate) mod command;
mod connection;
mod dispatch;
mod inbox;
mod message;
mod watched_sessions;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use tracing::{Instrument, Span};

use self::connection::SocketConnection;
use self::inbox::InboxReach;
use crate::app::App;
use crate::caller::AuthenticatedCaller;
use crate::error::ApiError;

/// The protocol that a page asks for.
const PROTOCOL: &str = "countersign";

/// The largest command: a prompt with a few pasted files.
const COMMAND_LIMIT: usize = 4 * 1024 * 1024;

#[derive(Deserialize)]
pub(crate) struct ProjectQuery {
    project: Option<String>,
    inbox: Option<String>,
}

/// `GET /api/terminal/ws/agent`: becomes a WebSocket.
pub(crate) async fn upgrade(
    caller: AuthenticatedCaller,
    State(app): State<App>,
    Query(query): Query<ProjectQuery>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, ApiError> {
    let project = query.project.as_deref().filter(|id| !id.is_empty()).unwrap_or("default");
    let project = app.projects.get(project).await?.0.id.clone();
    let reach = match query.inbox.as_deref() {
        None | Some("") => InboxReach::OwnProject,
        Some("all") => InboxReach::AllProjects,
        Some(other) => {
            let why = format!("`inbox` is `all` or left out, not `{other}`");
            return Err(ApiError::bad_request("bad_query", why));
        }
    };
    let connection = SocketConnection::open(app.clone(), project, caller, reach).await?;
    // The page offers a second one that holds its secret: that one is not said back.
    let upgrade = upgrade.protocols([PROTOCOL]);
    // What comes over the socket belongs to the request that opened it.
    let request = Span::current();
    Ok(upgrade.max_message_size(COMMAND_LIMIT).max_frame_size(COMMAND_LIMIT).on_upgrade(|socket| {
        async move {
            metrics::gauge!("countersign_sockets").increment(1.0);
            Box::pin(connection.serve(socket)).await;
            metrics::gauge!("countersign_sockets").decrement(1.0);
        }
        .instrument(request)
    }))
}
