//! A scripted model, a folder to work in, and the CLI that has no other world than these.
#![expect(clippy::disallowed_methods, reason = "the CLI is what is tested")]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use countersign_agent::scripted::RecordedRequest;
use countersign_agent::{Scenario, ScriptedModel};
use countersign_claude::session::StoredSessions;
use countersign_claude::{ClaudeClient, Options};
use countersign_gate::SystemClock;
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::cell;

/// What the model says; see `docs/guide/scripted-model.md`.
const SCENARIO: &str = include_str!("scenario.toml");

pub(crate) struct World {
    home: TempDir,
    pub(crate) model: ScriptedModel,
    pub(crate) url: String,
    _shutdown: DropGuard,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(SCENARIO).await
    }

    /// A world whose model says other things.
    pub(crate) async fn with(scenario: &str) -> Self {
        let model = ScriptedModel::new(Scenario::parse(scenario).unwrap(), Arc::new(SystemClock));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shutdown = CancellationToken::new();
        let (serving, stop) = (model.clone(), shutdown.clone());
        tokio::spawn(async move { serving.serve(listener, stop).await });
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("work")).unwrap();
        Self { home, model, url, _shutdown: shutdown.drop_guard() }
    }

    /// The folder the CLI works in.
    pub(crate) fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    pub(crate) fn sessions(&self) -> StoredSessions {
        StoredSessions::from_config_dir(self.home.path().join(".claude"))
    }

    /// All the CLI has for an environment.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("HOME", self.home.path().display().to_string()),
            ("PATH", "/usr/bin:/bin".to_owned()),
            ("ANTHROPIC_API_KEY", "opens-nothing".to_owned()),
            ("ANTHROPIC_BASE_URL", self.url.clone()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ]
    }

    /// What the SDK starts the CLI with: nothing of our own environment.
    pub(crate) fn options(&self) -> Options {
        let options = Options::new().cli_path(cell::cli()).cwd(self.work()).clean_env();
        self.environment()
            .into_iter()
            .fold(options, |options, (name, value)| options.env(name, value))
    }

    pub(crate) async fn client(&self) -> ClaudeClient {
        ClaudeClient::connect(self.options()).await.unwrap()
    }

    /// What is in the folder the CLI works in.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.work()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The requests that asked the model for something.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let asked = |request: &RecordedRequest| request.path == "/v1/messages";
        self.model.recorded().filter(asked).into_iter().map(|request| request.body).collect()
    }

    /// Runs the CLI by itself, without the SDK, and returns its result, or what it said instead.
    pub(crate) async fn cli(&self, directory: &Path, args: &[&str]) -> Result<Value, String> {
        let mut command = tokio::process::Command::new(cell::cli());
        command.args(["--print", "--output-format=json"]).args(args);
        command.env_clear().envs(self.environment()).current_dir(directory);
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&said)
            .map_err(|_| format!("{said}{}", String::from_utf8_lossy(&output.stderr)))
    }

    /// The texts of the conversation that the model was sent last.
    pub(crate) fn last_conversation(&self) -> Vec<String> {
        let requests = self.requests();
        let messages = requests.last().unwrap()["messages"].as_array().cloned().unwrap();
        let spoken = messages.iter().filter(|message| message["role"] != "system");
        spoken.flat_map(|message| texts(&message["content"])).collect()
    }
}

/// What was typed and answered, without what the CLI adds for the model.
fn texts(content: &Value) -> Vec<String> {
    let blocks = match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| Some(block["text"].as_str()?.to_owned())).collect()
        }
        _ => Vec::new(),
    };
    blocks.into_iter().filter(|text| !text.starts_with('<')).collect()
}
