//! The scripted model over HTTP, for any client of the Messages API.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use countersign_gate::Clock;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::answer::tokens;
use super::checks::ScriptedApiError;
use super::paced_stream::{self, PacedAnswer};
use super::player::{ScenarioPlayer, ScenarioResponse};
use super::request_log::RecordedRequest;

/// As much as the real API takes.
const LONGEST_BODY: usize = 32 * 1024 * 1024;

/// What the handlers need.
#[derive(Clone)]
pub(super) struct ScriptedServer {
    pub(super) player: Arc<ScenarioPlayer>,
    pub(super) clock: Arc<dyn Clock>,
    /// Ends the answers that are on their way.
    pub(super) shutdown: CancellationToken,
}

impl ScriptedServer {
    pub(super) fn router(self) -> Router {
        Router::new()
            .route("/", get(alive))
            .route("/v1/messages", post(messages))
            .route("/v1/messages/count_tokens", post(count_tokens))
            .route("/requests", get(requests))
            .fallback(nowhere)
            .layer(DefaultBodyLimit::max(LONGEST_BODY))
            .with_state(self)
    }
}

/// `HEAD /`: shows that somebody is there.
async fn alive() -> &'static str {
    "This is a scripted model. Ask at POST /v1/messages.\n"
}

/// `POST /v1/messages`: the next answer.
async fn messages(
    State(server): State<ScriptedServer>,
    request: Request,
) -> Result<Response, ScriptedApiError> {
    let AdmittedRequest { path, body } = read(&server, request).await?;
    let is_streamed = body.get("stream") == Some(&Value::Bool(true));
    match server.player.play(&path, body, server.clock.now()) {
        ScenarioResponse::Refused(error) => Err(error),
        ScenarioResponse::Answer(performance) => {
            tokio::select! {
                () = server.clock.sleep(performance.delay) => Ok(server.answer(performance, is_streamed)),
                () = server.shutdown.cancelled() => Err(closing()),
            }
        }
    }
}

/// `POST /v1/messages/count_tokens`: about how long a request is.
async fn count_tokens(
    State(server): State<ScriptedServer>,
    request: Request,
) -> Result<Json<Value>, ScriptedApiError> {
    let AdmittedRequest { path, body } = read(&server, request).await?;
    let count = tokens(body.to_string().len());
    server.record(path, 200, body);
    Ok(Json(json!({"input_tokens": count})))
}

/// `GET /requests`: what came so far.
async fn requests(State(server): State<ScriptedServer>) -> Json<Value> {
    Json(json!({"requests": server.player.recorded().all()}))
}

fn closing() -> ScriptedApiError {
    ScriptedApiError::new(503, "api_error", "The server is shutting down")
}

async fn nowhere() -> ScriptedApiError {
    ScriptedApiError::new(404, "not_found_error", "Not found")
}

/// A request that may ask.
struct AdmittedRequest {
    path: String,
    body: Value,
}

/// Reads a request, and keeps a record of it even if it cannot be read.
async fn read(
    server: &ScriptedServer,
    request: Request,
) -> Result<AdmittedRequest, ScriptedApiError> {
    let path = request.uri().path().to_owned();
    let headers = request.headers().clone();
    let (body, error) = match (body(request).await, admit(server, &headers)) {
        (Ok(body), Ok(())) => return Ok(AdmittedRequest { path, body }),
        (Ok(body), Err(error)) => (body, error),
        (Err(error), Ok(())) | (Err(_), Err(error)) => (Value::Null, error),
    };
    server.record(path, error.status, body);
    Err(error)
}

fn admit(server: &ScriptedServer, headers: &HeaderMap) -> Result<(), ScriptedApiError> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let key = text("x-api-key").or_else(|| bearer?.strip_prefix("Bearer "));
    if !server.player.admits(key) {
        let message = match key {
            None => "x-api-key header is required",
            Some(_) => "invalid x-api-key",
        };
        return Err(ScriptedApiError::new(401, "authentication_error", message));
    }
    match text("anthropic-version") {
        Some(_) => Ok(()),
        None => Err(ScriptedApiError::invalid("anthropic-version: header is required")),
    }
}

async fn body(request: Request) -> Result<Value, ScriptedApiError> {
    let bytes = Bytes::from_request(request, &()).await.map_err(|_| {
        ScriptedApiError::new(413, "request_too_large", "Request exceeds the maximum size")
    })?;
    serde_json::from_slice(&bytes).map_err(|error| {
        ScriptedApiError::invalid(format!("The request body is not valid JSON: {error}"))
    })
}

impl ScriptedServer {
    fn answer(self, performance: PacedAnswer, is_streamed: bool) -> Response {
        let id = [("request-id", request_id())];
        if !is_streamed {
            return (id, Json(performance.whole)).into_response();
        }
        let stop = self.shutdown.cancelled_owned();
        let bytes = paced_stream::stream(performance, self.clock).take_until(Box::pin(stop));
        let kind = [(CONTENT_TYPE, "text/event-stream; charset=utf-8")];
        (id, kind, Body::from_stream(bytes)).into_response()
    }

    fn record(&self, path: String, status: u16, body: Value) {
        let at = self.clock.now();
        let length = body.to_string().len();
        let request = RecordedRequest { at, path, status, place: None, body };
        self.player.recorded().push(request, length);
    }
}

impl IntoResponse for ScriptedApiError {
    fn into_response(self) -> Response {
        let id = request_id();
        let mut body = self.body();
        if let Some(fields) = body.as_object_mut() {
            fields.insert("request_id".into(), id.clone().into());
        }
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_REQUEST);
        let mut response = (status, [("request-id", id)], Json(body)).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}

fn request_id() -> String {
    format!("req_{}", Uuid::now_v7().simple())
}
