//! The server's side of the wire, scripted: a log that is streamed, and answers made up beforehand.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::world::TOKEN;

/// How long anything may take that a test waits for.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// A server that can be stopped and started again, at the same place and with the same log.
pub(crate) struct Fake {
    shared: Arc<Shared>,
    seen: Receiver<Seen>,
    address: SocketAddr,
    running: Option<Runtime>,
}

/// A request as it came.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) body: Value,
    pub(crate) last_event_id: Option<String>,
}

struct Shared {
    log: Mutex<Vec<String>>,
    grown: watch::Sender<usize>,
    /// What is answered to a path, by its end; used up from the front, the last one stays.
    answers: Mutex<HashMap<String, Vec<(u16, Value)>>>,
    saw: Mutex<Sender<Seen>>,
}

impl Fake {
    pub(crate) fn start() -> Self {
        let (saw, seen) = channel();
        let shared = Arc::new(Shared {
            log: Mutex::default(),
            grown: watch::channel(0).0,
            answers: Mutex::default(),
            saw: Mutex::new(saw),
        });
        let mut fake =
            Self { shared, seen, address: SocketAddr::from(([127, 0, 0, 1], 0)), running: None };
        fake.start_again();
        fake
    }

    /// Ends the server and every connection, at once.
    pub(crate) fn kill(&mut self) {
        self.running.take().unwrap().shutdown_timeout(LIMIT);
    }

    pub(crate) fn start_again(&mut self) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind(self.address)).unwrap();
        self.address = listener.local_addr().unwrap();
        let app = Router::new().fallback(serve).with_state(self.shared.clone());
        runtime.spawn(async move { axum::serve(listener, app).await.unwrap() });
        self.running = Some(runtime);
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds an entry to the log.
    pub(crate) fn say(&self, event: &str, data: &Value) {
        let mut log = self.shared.log.lock().unwrap();
        let number = log.len() + 1;
        log.push(format!("id: {number}\nevent: {event}\ndata: {data}\n\n"));
        self.shared.grown.send_replace(number);
    }

    /// Loses the log, as a server does whose database was put back.
    pub(crate) fn forget(&self) {
        self.shared.log.lock().unwrap().clear();
        self.shared.grown.send_replace(0);
    }

    /// Sets what is answered to whatever ends so.
    pub(crate) fn answers(&self, end: &str, answers: &[(u16, Value)]) {
        let mut kept = answers.to_vec();
        kept.reverse();
        self.shared.answers.lock().unwrap().insert(end.to_owned(), kept);
    }

    /// Returns the next request whose path ends so; others before it are passed over.
    pub(crate) fn next(&self, end: &str) -> Seen {
        loop {
            let seen = self.seen.recv_timeout(LIMIT);
            let seen = seen.unwrap_or_else(|_| panic!("nobody asked for `{end}`"));
            if seen.path.ends_with(end) {
                return seen;
            }
        }
    }

    /// Returns the next requests whose paths end so, in whichever order they come.
    pub(crate) fn next_two(&self, ends: [&str; 2]) -> [Seen; 2] {
        let mut found = [None, None];
        while found.iter().any(Option::is_none) {
            let seen = self.next("");
            if let Some(at) = ends.iter().position(|end| seen.path.ends_with(end)) {
                found[at].get_or_insert(seen);
            }
        }
        found.map(Option::unwrap)
    }

    /// Returns every request so far.
    pub(crate) fn all(&self) -> Vec<Seen> {
        self.seen.try_iter().collect()
    }
}

async fn serve(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let authorization = headers.get("authorization").and_then(|it| it.to_str().ok());
    if authorization != Some(&format!("Bearer {TOKEN}")) {
        return refusal(401, "not_signed_in", "this needs a credential");
    }
    let header = |name: &str| headers.get(name).map(|it| it.to_str().unwrap().to_owned());
    let last_event_id = header("last-event-id");
    let path = uri.path().to_owned();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let query = uri.query().unwrap_or_default().to_owned();
    let seen = Seen { path: path.clone(), query, body, last_event_id: last_event_id.clone() };
    let answer = shared.answer(&path);
    let _ = shared.saw.lock().unwrap().send(seen);
    if let Some((status, body)) = answer {
        return (StatusCode::from_u16(status).unwrap(), body.to_string()).into_response();
    }
    if path.ends_with("/chat/stream") {
        assert!(uri.query().unwrap().starts_with("client_id=client-"));
        return stream(&shared, last_event_id);
    }
    match (method, path.rsplit('/').next().unwrap()) {
        (Method::GET, "approvals") => json_body(&json!({"success": true, "approvals": []})),
        (_, "preimage") => json_body(&json!({"success": true})),
        (_, "lease") => json_body(&json!({"success": true, "status": "executing"})),
        (_, "result") => json_body(&json!({"success": true, "status": "completed"})),
        (_, "approve") => json_body(&json!({"success": true, "status": "approved"})),
        (_, "reject") => json_body(&json!({"success": true, "status": "rejected"})),
        _ => refusal(404, "not_found", "there is no such thing"),
    }
}

impl Shared {
    fn answer(&self, path: &str) -> Option<(u16, Value)> {
        let mut all = self.answers.lock().unwrap();
        let answers = all.iter_mut().find(|(end, _)| path.ends_with(end.as_str()))?.1;
        if answers.len() > 1 { answers.pop() } else { answers.last().cloned() }
    }
}

/// Streams the log from where the client was, or from now on.
fn stream(shared: &Arc<Shared>, last: Option<String>) -> Response {
    let now = shared.log.lock().unwrap().len();
    let from = last.map_or(now, |last| last.parse().unwrap());
    if from > now {
        return refusal(400, "bad_cursor", "the log does not go that far");
    }
    let state = (shared.clone(), shared.grown.subscribe(), from, true);
    let pieces =
        futures_util::stream::unfold(state, |(shared, mut grown, from, first)| async move {
            if first {
                let hello = ": hello\nretry: 1000\n\n".to_owned();
                return Some((Ok::<_, std::io::Error>(hello), (shared, grown, from, false)));
            }
            grown.wait_for(|length| *length > from).await.ok()?;
            let entry = shared.log.lock().unwrap()[from].clone();
            Some((Ok(entry), (shared, grown, from + 1, false)))
        });
    let headers = [("content-type", "text/event-stream")];
    (headers, Body::from_stream(pieces)).into_response()
}

fn json_body(value: &Value) -> Response {
    ([("content-type", "application/json")], value.to_string()).into_response()
}

fn refusal(status: u16, code: &str, message: &str) -> Response {
    let body = json!({"success": false, "error": {"code": code, "message": message}});
    (StatusCode::from_u16(status).unwrap(), body.to_string()).into_response()
}
