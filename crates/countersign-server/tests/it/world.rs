//! A server on a free port, a workspace, a scripted model, and clients that speak plain JSON.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_agent::{Scenario, ScriptedModel};
use countersign_gate::{Gate, Project, Rulebook, RulebookFiles, SystemClock, Timeouts};
use countersign_server::{Credential, ModelSource, Server, ServerConfig};
use countersign_tools::{Catalogue, Environment, Toolbox, Workspace};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

pub(crate) const TOKEN: &str = "a-token-for-tests";

pub(crate) struct World {
    pub(crate) address: String,
    pub(crate) root: PathBuf,
    scenario: String,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
    folder: TempDir,
}

impl World {
    pub(crate) async fn playing(scenario: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("ws")).unwrap();
        Self::in_folder(folder, scenario).await
    }

    async fn in_folder(folder: TempDir, scenario: &str) -> Self {
        let root = folder.path().join("ws").canonicalize().unwrap();
        let clock = Arc::new(SystemClock);
        let project = Project::of_root(root.to_str().unwrap());
        let rulebook = Arc::new(Rulebook::new(RulebookFiles {
            user: Some(folder.path().join("config.toml")),
            trust: Some(folder.path().join("trusted.json")),
            home: None,
        }));
        rulebook.add(project.id.clone(), root.clone());
        let database = folder.path().join("gate.db");
        let gate = Gate::open(&database, clock.clone(), Timeouts::default(), rulebook).unwrap();
        let workspace = Workspace::new([root.clone()]).unwrap();
        let model = ScriptedModel::new(Scenario::parse(scenario).unwrap(), clock);
        let environment = Environment::from(vec![("PATH".into(), "/usr/bin:/bin".into())]);
        let server = Server::new(ServerConfig {
            gate,
            workspaces: vec![(project, workspace)],
            catalogue: Arc::new({
                let environment = environment.clone();
                move |workspace| Catalogue::new(workspace.clone(), environment.clone())
            }),
            toolbox: Arc::new(move |workspace| Toolbox::coding(workspace, environment.clone())),
            model: ModelSource { model: Arc::new(model), name: "scripted".into(), demo: true },
            credential: Credential::Token(TOKEN.into()),
            metrics: Arc::new(String::new),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async move {
            server.run(listener, async { drop(stopped.await) }).await.unwrap();
        });
        let scenario = scenario.to_owned();
        Self { address, root, scenario, stop: Some(stop), serving, folder }
    }

    /// Stops the server as a signal would, and starts another one on the same data.
    pub(crate) async fn restarted(mut self) -> Self {
        drop(self.stop.take());
        self.serving.await.unwrap();
        Self::in_folder(self.folder, &self.scenario).await
    }

    pub(crate) async fn client(&self) -> Client {
        let url = format!("ws://{}/api/terminal/ws/agent?token={TOKEN}", self.address);
        Client { socket: connect_async(url).await.unwrap().0 }
    }

    /// What a path answers, status aside.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let asked = http.get(format!("http://{}{path}", self.address)).bearer_auth(TOKEN);
        asked.send().await.unwrap().json().await.unwrap()
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

    pub(crate) async fn next(&mut self) -> Value {
        loop {
            match self.socket.next().await.unwrap().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Close(frame) => panic!("closed: {frame:?}"),
                _ => {}
            }
        }
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
