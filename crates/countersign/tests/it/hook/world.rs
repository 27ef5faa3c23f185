//! A home, a workspace, and the hook as Claude Code starts it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;

use countersign_core::ProjectId;
use countersign_gate::{DatabaseUrl, Gate, GateSettings, Project, Rulebook, SystemClock};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{TOKEN, countersign};

pub(super) const SESSION: &str = "a-conversation";

pub(super) struct World {
    pub(super) home: TempDir,
    args: Vec<String>,
    env: Vec<(&'static str, String)>,
}

impl World {
    /// A world in which nothing serves.
    pub(super) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("work")).unwrap();
        Self { home, args: Vec::new(), env: vec![("COUNTERSIGN_TOKEN", TOKEN.to_owned())] }
    }

    /// The same with a server at an address.
    pub(super) fn at(server: &str) -> Self {
        Self::new().with(&["--server", server])
    }

    pub(super) fn with(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(ToString::to_string));
        self
    }

    pub(super) fn env(mut self, name: &'static str, value: &str) -> Self {
        self.env.push((name, value.to_owned()));
        self
    }

    /// The workspace, links resolved.
    pub(super) fn work(&self) -> PathBuf {
        self.home.path().join("work").canonicalize().unwrap()
    }

    pub(super) fn data(&self) -> PathBuf {
        self.home.path().join(".local/share/countersign")
    }

    pub(super) fn project(&self) -> ProjectId {
        Project::from_root(self.work().to_str().unwrap()).id
    }

    /// A gate on the database that the hook looks at, as a server holds it.
    pub(super) async fn gate(&self) -> Gate {
        std::fs::create_dir_all(self.data()).unwrap();
        let database = DatabaseUrl::Sqlite(self.data().join("countersign.db"));
        let rulebook = Arc::new(Rulebook::none());
        Gate::open(GateSettings::for_database(database), Arc::new(SystemClock), rulebook)
            .await
            .unwrap()
    }

    pub(super) fn event(&self, tool: &str, input: Value) -> Value {
        let mut event = json!({
            "session_id": SESSION,
            "transcript_path": "/nowhere.jsonl",
            "cwd": self.work(),
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_use_id": "toolu_1",
        });
        event["tool_input"] = input;
        event
    }

    /// A change that asks.
    pub(super) fn write(&self) -> Value {
        self.event("Write", json!({"file_path": "a.txt", "content": "one\n"}))
    }

    /// Runs the hook on what comes on stdin.
    pub(super) fn run(&self, stdin: &str, more: &[&str]) -> Output {
        let mut command = countersign(self.home.path());
        command.arg("hook").args(&self.args).args(more).envs(self.env.iter().map(|(k, v)| (k, v)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// Runs the hook on an event, off the runtime, and returns its answer; null for none.
    pub(super) async fn says(self: &Arc<Self>, event: Value) -> Value {
        let world = Arc::clone(self);
        let output = tokio::task::spawn_blocking(move || world.run(&event.to_string(), &[])).await;
        answer(&output.unwrap())
    }

    /// Returns the decision on a `PreToolUse` event and its reason.
    pub(super) fn decides(&self, event: &Value) -> (String, String) {
        decision(&answer(&self.run(&event.to_string(), &[])))
    }
}

/// Reads what was answered: one line of JSON or nothing, and never a failure.
pub(super) fn answer(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    if output.stdout.is_empty() {
        return Value::Null;
    }
    serde_json::from_slice(&output.stdout).unwrap()
}

pub(super) fn decision(answer: &Value) -> (String, String) {
    let said = &answer["hookSpecificOutput"];
    assert_eq!(said["hookEventName"], "PreToolUse", "{answer}");
    let text = |field: &str| said[field].as_str().unwrap_or_default().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

pub(super) fn folder(path: &Path) -> Vec<PathBuf> {
    let Ok(found) = std::fs::read_dir(path) else { return Vec::new() };
    found.map(|entry| entry.unwrap().path()).collect()
}
