//! The server's side of a call, as the contract has it, with answers that a test chooses.

use std::sync::{Arc, Mutex};

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::world::TOKEN;

pub(super) const TOOL_ID: &str = "0190d3c4-0000-7000-8000-000000000001";

/// What the fake says to a call that is handed in.
#[derive(Clone)]
pub(super) enum Say {
    /// This status, with these fields.
    Status(&'static str, Value),
    /// That a person is to decide; what they say comes later.
    Waits,
    /// This instead of an execution.
    Raw(StatusCode, &'static str),
}

#[derive(Clone)]
struct Desk {
    say: Say,
    seen: Arc<Mutex<Vec<(String, Value)>>>,
    decided: watch::Sender<Option<Value>>,
}

pub(super) struct Fake {
    pub(super) url: String,
    desk: Desk,
    /// Its own, so that every connection can be ended with it.
    runtime: Option<Runtime>,
}

impl Fake {
    pub(super) async fn that(say: Say) -> Self {
        let desk = Desk { say, seen: Arc::default(), decided: watch::Sender::new(None) };
        let router = Router::new()
            .route("/my/projects/{project}/tools/calls", post(calls))
            .route("/my/projects/{project}/tools/{tool}", get(look))
            .route("/my/projects/{project}/tools/{tool}/result", post(result))
            .with_state(desk.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let listener = listener.into_std().unwrap();
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            axum::serve(listener, router).await.unwrap();
        });
        Self { url, desk, runtime: Some(runtime) }
    }

    /// What came so far: where, and what.
    pub(super) fn seen(&self) -> Vec<(String, Value)> {
        self.desk.seen.lock().unwrap().clone()
    }

    /// Decides what waits.
    pub(super) fn decide(&self, fields: Value) {
        self.desk.decided.send_replace(Some(fields));
    }

    /// Returns once somebody waits for a decision.
    pub(super) async fn is_asked(&self) {
        let waits = |path: &String| path.starts_with("GET");
        while !self.seen().iter().any(|(path, _)| waits(path)) {
            tokio::task::yield_now().await;
        }
    }

    /// Ends the server and every connection to it.
    pub(super) fn dies(self) {
        drop(self);
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Desk {
    fn note(&self, what: String, body: Value) {
        self.seen.lock().unwrap().push((what, body));
    }
}

fn admitted(headers: &HeaderMap) -> bool {
    headers.get("authorization").is_some_and(|it| it == format!("Bearer {TOKEN}").as_str())
}

fn execution(status: &str, input: &Value, more: &Value) -> Response {
    let mut body = json!({
        "success": true, "tool_id": TOOL_ID, "approval_id": "a", "status": status,
        "risk_level": "MEDIUM", "tool_input": input,
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    Json(body).into_response()
}

async fn calls(
    State(desk): State<Desk>,
    Path(project): Path<String>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    if !admitted(&headers) {
        let error = json!({"success": false, "error": {"code": "unauthorized", "message": "no"}});
        return (StatusCode::UNAUTHORIZED, Json(error)).into_response();
    }
    let input = body["tool_input"].clone();
    desk.note(format!("POST {project}/calls"), body);
    match &desk.say {
        Say::Status(status, more) => execution(status, &input, more),
        Say::Waits => execution("awaiting_approval", &input, &json!({})),
        Say::Raw(status, text) => (*status, *text).into_response(),
    }
}

async fn look(
    State(desk): State<Desk>,
    Path((project, tool)): Path<(String, String)>,
    Query(query): Query<Value>,
) -> Response {
    desk.note(format!("GET {project}/{tool}"), query.clone());
    let wait = query["wait_seconds"].as_str().unwrap().parse().unwrap();
    let mut decided = desk.decided.subscribe();
    let deciding = decided.wait_for(Option::is_some);
    let waiting = tokio::time::timeout(std::time::Duration::from_secs(wait), deciding).await;
    match waiting {
        Ok(said) => {
            let said = said.unwrap().clone().unwrap();
            execution(said["status"].as_str().unwrap(), &Value::Null, &said)
        }
        Err(_) => execution("awaiting_approval", &Value::Null, &json!({})),
    }
}

async fn result(
    State(desk): State<Desk>,
    Path((project, tool)): Path<(String, String)>,
    Json(body): Json<Value>,
) -> Json<Value> {
    desk.note(format!("POST {project}/{tool}/result"), body);
    Json(json!({"success": true, "tool_id": tool, "status": "completed"}))
}
