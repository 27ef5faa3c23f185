//! A server on a free port, a workspace, a scripted model, and clients that speak plain JSON.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use countersign_agent::{Scenario, ScriptedModel};
use countersign_gate::{
    DatabaseUrl, Gate, GateSettings, Project, Rulebook, RulebookFiles, SystemClock, new_id,
};
use countersign_server::{ConnectionLimits, Credential, ModelSource, Server, ServerConfig};
use countersign_tools::{
    BackupLimits, BackupStore, Environment, PlannerCatalogue, Toolbox, Workspace,
};
use futures_util::{SinkExt, StreamExt};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::stream::Stream;

pub(crate) const TOKEN: &str = "a-token-for-tests";

pub(crate) struct World {
    pub(crate) address: String,
    pub(crate) root: PathBuf,
    scenario: String,
    process: Process,
    folder: TempDir,
    pub(crate) http: reqwest::Client,
}

/// What the server of a world takes.
#[derive(Clone, Copy)]
pub(crate) struct WorldLimits {
    pub(crate) body_patience: Duration,
    pub(crate) connections: ConnectionLimits,
}

impl Default for WorldLimits {
    fn default() -> Self {
        let body_patience = Duration::from_secs(30);
        Self { body_patience, connections: ConnectionLimits::default() }
    }
}

/// A server as if in a process of its own: what runs in it can be ended without a word.
struct Process {
    runtime: Option<Runtime>,
    gate: Gate,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

impl Process {
    async fn start(
        listener: TcpListener,
        config: impl Future<Output = ServerConfig> + Send + 'static,
        limits: WorldLimits,
    ) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (stop, stopped) = oneshot::channel();
        let config = runtime.spawn(config).await.unwrap();
        let gate = config.gate.clone();
        let listener = listener.into_std().unwrap();
        let serving = runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            let server = Server::new(config).with_body_patience(limits.body_patience);
            let server = server.with_connection_limits(limits.connections);
            server.run(listener, async { drop(stopped.await) }).await.unwrap();
        });
        Self { runtime: Some(runtime), gate, stop: Some(stop), serving: Some(serving) }
    }

    /// Ends it as a signal would.
    async fn stop(mut self) {
        drop(self.stop.take());
        self.serving.take().unwrap().await.unwrap();
    }

    /// Ends it as `kill -9` would.
    async fn kill(mut self) {
        let runtime = self.runtime.take().unwrap();
        let dying = move || runtime.shutdown_timeout(Duration::from_secs(10));
        tokio::task::spawn_blocking(dying).await.unwrap();
        // What was on its way to the disk has come there before the next one looks.
        self.gate.cancel(new_id()).await.unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl World {
    pub(crate) async fn playing(scenario: &str) -> Self {
        Self::with_limits(scenario, WorldLimits::default()).await
    }

    /// A world whose server takes no more than this.
    pub(crate) async fn with_limits(scenario: &str, limits: WorldLimits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("ws")).unwrap();
        Self::in_folder(folder, scenario, limits).await
    }

    async fn in_folder(folder: TempDir, scenario: &str, limits: WorldLimits) -> Self {
        let root = folder.path().join("ws").canonicalize().unwrap();
        let clock = Arc::new(SystemClock);
        let project = Project::from_root(root.to_str().unwrap());
        let rulebook = Arc::new(Rulebook::new(RulebookFiles {
            user: Some(folder.path().join("config.toml")),
            trust: Some(folder.path().join("trusted.json")),
            home: None,
        }));
        rulebook.add_project(project.id.clone(), root.clone());
        let workspace = Workspace::new([root.clone()]).unwrap();
        let model = ScriptedModel::new(Scenario::parse(scenario).unwrap(), clock.clone());
        let environment = Environment::from(vec![("PATH".into(), "/usr/bin:/bin".into())]);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let settings =
            GateSettings::for_database(DatabaseUrl::Sqlite(folder.path().join("gate.db")));
        let keep = BackupStore::open(&folder.path().join("kept"), BackupLimits::default()).unwrap();
        let config = async move {
            ServerConfig {
                gate: Gate::open(settings, clock, rulebook).await.unwrap(),
                workspaces: vec![(project, workspace)],
                catalogue: Arc::new({
                    let environment = environment.clone();
                    move |workspace| PlannerCatalogue::new(workspace.clone(), environment.clone())
                }),
                toolbox: Arc::new(move |workspace| Toolbox::coding(workspace, environment.clone())),
                model: ModelSource { model: Arc::new(model), name: "scripted".into(), demo: true },
                keep: Some(keep),
                claude: countersign_agent::ClaudeSetup::default(),
                approval_switch: countersign_server::ApprovalSwitch::Unset,
                sandbox: countersign_tools::Sandbox::off(),
                credential: Credential::Token(TOKEN.into()),
                metrics: Arc::new(String::new),
            }
        };
        let process = Process::start(listener, config, limits).await;
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { address, root, scenario: scenario.to_owned(), process, folder, http }
    }

    /// Stops the server as a signal would, and starts another one on the same data.
    pub(crate) async fn restarted(self) -> Self {
        self.process.stop().await;
        Self::in_folder(self.folder, &self.scenario, WorldLimits::default()).await
    }

    /// Kills the server where it stands, and starts another one on the same data.
    pub(crate) async fn killed(self) -> Self {
        self.killed_and(|_| ()).await
    }

    /// The same, and does something to the workspace in between.
    pub(crate) async fn killed_and(self, meanwhile: impl FnOnce(&Path)) -> Self {
        self.process.kill().await;
        meanwhile(&self.root);
        Self::in_folder(self.folder, &self.scenario, WorldLimits::default()).await
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.process.gate
    }

    /// Runs statements behind the server's back.
    pub(crate) fn sql(&self, sql: &str) {
        let database = rusqlite::Connection::open(self.folder.path().join("gate.db")).unwrap();
        database.busy_timeout(Duration::from_secs(10)).unwrap();
        database.execute_batch(sql).unwrap();
    }

    pub(crate) async fn client(&self) -> Client {
        self.client_with("").await
    }

    /// A client with more in the query of its address.
    pub(crate) async fn client_with(&self, query: &str) -> Client {
        let url = format!("ws://{}/api/terminal/ws/agent?token={TOKEN}{query}", self.address);
        Client { socket: connect_async(url).await.unwrap().0 }
    }

    /// Makes a project of a new folder in the root, and returns its id.
    pub(crate) async fn project(&self, folder: &str) -> String {
        std::fs::create_dir_all(self.root.join(folder)).unwrap();
        let (status, made) = self.post("/my/projects", json!({"root": folder})).await;
        assert!(status.is_success(), "{made}");
        made["project_id"].as_str().unwrap().to_owned()
    }

    /// Hands a call in to a project as another program would, and returns it.
    pub(crate) async fn hand_in(&self, project: &str, tool: &str, input: Value) -> Value {
        let body = json!({"tool_name": tool, "tool_input": input});
        let (status, call) = self.post(&format!("/my/projects/{project}/tools/calls"), body).await;
        assert!(status.is_success(), "{call}");
        call
    }

    /// What a path answers, status aside.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let asked = self.http.get(self.url(path)).bearer_auth(TOKEN);
        asked.send().await.unwrap().json().await.unwrap()
    }

    /// Sends a request, and returns status and body.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> (StatusCode, Value) {
        let mut request = self.http.request(method, self.url(path)).bearer_auth(TOKEN);
        if let Some(body) = body {
            // S2's client does not say that it sends JSON.
            request = request.body(body.to_string());
        }
        let answer = request.send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        (status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status} {text}")))
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        self.ask(Method::POST, path, Some(body)).await
    }

    /// Starts a run and returns its conversation.
    pub(crate) async fn say(&self, content: &str) -> String {
        let body = json!({"content": content, "executor": "local"});
        let (status, taken) = self.post("/my/projects/default/chat/messages", body).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{taken}");
        taken["session_id"].as_str().unwrap().to_owned()
    }

    /// Returns when a client is the one that runs the project's calls.
    pub(crate) async fn until_client(&self, name: &str) {
        let project = Project::from_root(self.root.to_str().unwrap()).id;
        while self.gate().store().connected_client(&project).await.unwrap().as_deref() != Some(name)
        {
            tokio::task::yield_now().await;
        }
    }

    /// Waits until some client runs the project's calls.
    pub(crate) async fn until_some_client(&self) {
        let project = Project::from_root(self.root.to_str().unwrap()).id;
        while self.gate().store().connected_client(&project).await.unwrap().is_none() {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Listens to the project's events, with a query.
    pub(crate) async fn stream(&self, query: &str) -> Stream {
        Stream::open(self, query, None).await
    }

    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.root.join(name)).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        Path::new(&self.root).join(name)
    }
}

pub(crate) struct Client {
    pub(crate) socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Client {
    pub(crate) async fn send(&mut self, command: Value) {
        self.socket.send(Message::text(command.to_string())).await.unwrap();
    }

    pub(crate) async fn run(&mut self, prompt: &str) {
        self.send(json!({
            "command": "run",
            "prompt": prompt,
            "continue": false,
            "permission_mode": "sdk",
            "auto_approve_safe": true
        }))
        .await;
    }

    pub(crate) async fn decide(&mut self, request: &Value, approved: bool, feedback: Option<&str>) {
        let mut response = json!({
            "command": "tool_approval_response",
            "request_id": request["request_id"],
            "approved": approved
        });
        if let Some(feedback) = feedback {
            response["feedback"] = feedback.into();
        }
        self.send(response).await;
    }

    /// Approves what is listed, as it was shown.
    pub(crate) async fn approve_all(&mut self, requests: &[&Value]) {
        let seen = |it: &&Value| json!({"request_id": it["request_id"], "digest": it["digest"]});
        let requests: Vec<_> = requests.iter().map(seen).collect();
        self.send(json!({"command": "approve_all", "requests": requests})).await;
    }

    pub(crate) async fn next(&mut self) -> Value {
        loop {
            match self.socket.next().await.unwrap().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Close(frame) => panic!("closed: {frame:?}"),
                _ => {}
            }
        }
    }

    /// Returns when the server has said goodbye.
    pub(crate) async fn until_closed(&mut self) {
        while !matches!(self.socket.next().await.unwrap().unwrap(), Message::Close(_)) {}
    }

    /// Returns the next message of a type (and subtype), passing over others.
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        self.gather(kind).await.pop().unwrap()
    }

    /// Returns all messages up to and with the first of a type (and subtype).
    pub(crate) async fn gather(&mut self, kind: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let message = self.next().await;
            let found = name(&message) == kind || message["type"] == kind;
            let ended = message["type"] == "result";
            seen.push(message);
            if found {
                return seen;
            }
            assert!(!ended, "the run ended before `{kind}` came: {seen:#?}");
        }
    }
}

/// `type/subtype`, or the type where there is no subtype.
pub(crate) fn name(message: &Value) -> String {
    let kind = message["type"].as_str().unwrap();
    match message["subtype"].as_str() {
        Some(subtype) => format!("{kind}/{subtype}"),
        None => kind.to_owned(),
    }
}
