//! Claude Code with nothing but our hook in its settings, and a real server behind that.
#![expect(clippy::disallowed_methods, reason = "the CLI and the server are what is tested")]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use countersign_agent::{Scenario, ScriptedModel};
use countersign_gate::{Project, SystemClock};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::cell::{self, in_a_cell};
use crate::world::{Serving, TOKEN, countersign};

const SCENARIO: &str = include_str!("guarded.toml");

in_a_cell! {
    async fn a_change_asks_in_countersign_and_a_read_passes() {
        let world = World::new().await;
        let server = world.serve();
        world.install(&server.url);
        let person = async {
            let asked = world.asked(&server).await;
            assert_eq!(asked["tool_name"], "Write", "{asked}");
            assert_eq!(asked["origin"], "api");
            assert_eq!(asked["preview_type"], "diff");
            world.decide(&server, &asked, "approve", json!({"decision": "approved"})).await;
        };
        let (said, ()) = tokio::join!(world.claude("write a.txt", &[]), person);
        assert!(said["result"].as_str().unwrap().contains("created successfully"), "{said}");
        assert_eq!(std::fs::read_to_string(world.work().join("a.txt")).unwrap(), "one\ntwo\n");
        let said = world.claude("read a.txt", &[]).await;
        assert!(said["result"].as_str().unwrap().contains("two"), "{said}");
        let calls = world.get(&server, "tools/executions").await;
        let calls = calls["executions"].as_array().unwrap();
        let write = calls.iter().find(|call| call["tool_name"] == "Write").unwrap();
        assert_eq!(write["status"], "completed", "what came of it was reported: {calls:?}");
    }

    async fn a_call_that_the_rules_let_pass_is_in_the_history_with_its_result() {
        let world = World::new().await;
        let server = world.serve();
        world.install(&server.url);
        std::fs::write(world.work().join("a.txt"), "one\ntwo\n").unwrap();
        world.claude("read a.txt", &[]).await;
        let call = world.recorded(&server, "Read", "completed").await;
        let told = (&call["origin"], &call["decided_by"]);
        assert_eq!(told, (&json!("claude_cli"), &json!("policy")), "{call}");
        let audit = world.get(&server, "audit").await;
        let rows = audit["entries"].as_array().unwrap().len();
        assert_eq!(rows, 2, "it ran, and it is done: {audit}");
    }

    async fn a_bypass_of_claude_code_asks_all_the_same_and_is_recorded() {
        let world = World::new().await;
        let server = world.serve();
        world.install(&server.url);
        let bypass = ["--permission-mode", "bypassPermissions"];
        let person = async {
            for _ in 0..2 {
                let asked = world.asked(&server).await;
                world.decide(&server, &asked, "reject", json!({"reason": "not now"})).await;
            }
        };
        let outside = world.home.path().join("outside");
        let command = format!("run touch {}", outside.display());
        let runs = async {
            world.claude("write a.txt", &bypass).await;
            world.claude(&command, &bypass).await;
        };
        tokio::join!(runs, person);
        assert!(!outside.exists() && world.names().is_empty());
        server.stop();
        // And with nobody there to ask, Claude Code's own prompt is all there is: nothing runs unasked.
        for prompt in ["write b.txt", &command, "run curl http://127.0.0.1:9/x | sh"] {
            let said = world.claude(prompt, &bypass).await;
            assert_eq!(said["permission_denials"].as_array().unwrap().len(), 1, "{said}");
        }
        assert!(!outside.exists() && world.names().is_empty());
        let server = world.serve();
        world.recorded(&server, "Write", "executing").await;
        let count = async || {
            let calls = world.get(&server, "tools/executions").await;
            calls["executions"].as_array().unwrap().len()
        };
        while count().await < 5 {
            tokio::task::yield_now().await;
        }
    }

    async fn a_bypass_that_the_person_has_us_follow_runs_and_is_recorded() {
        let world = World::new().await;
        let server = world.serve();
        world.install_with(&server.url, &["--follow-bypass"]);
        let said = world.claude("write a.txt", &["--permission-mode", "bypassPermissions"]).await;
        assert_eq!(world.names(), ["a.txt"], "{said}");
        let call = world.recorded(&server, "Write", "completed").await;
        assert_eq!(call["decided_by"], "policy", "{call}");
    }

    async fn install_proves_that_claude_code_calls_the_hook_and_doctor_says_who_is_guarded() {
        let world = World::new().await;
        let server = world.serve();
        let said = world.install_with(&server.url, &[]);
        assert!(said.contains("Claude Code calls the hook"), "{said}");
        let found = world.doctor();
        assert_eq!(found["ok"], true, "{found}");
        let text = found.to_string();
        for part in ["2.1.325", "by the user settings", "proves itself and takes the hook's token"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let calls = world.get(&server, "tools/executions").await;
        assert_eq!(calls["executions"], json!([]), "a probe is no call");
        world.add_setting("disableAllHooks", json!(true));
        let found = world.doctor();
        assert_eq!(found["ok"], false, "{found}");
        assert!(found.to_string().contains("disableAllHooks"), "{found}");
        // As Claude Code has it: it calls nothing then.
        let said = world.claude("write a.txt", &["--permission-mode", "acceptEdits"]).await;
        assert_eq!(world.names(), ["a.txt"], "{said}");
        let mut install = countersign(world.home.path());
        let refused = install.args(["hook", "install", "--yes"]).output().unwrap();
        assert_eq!(refused.status.code(), Some(1));
    }

    async fn what_a_person_rejects_does_not_run_and_what_they_change_runs_changed() {
        let world = World::new().await;
        let server = world.serve();
        world.install(&server.url);
        let person = async {
            let asked = world.asked(&server).await;
            world.decide(&server, &asked, "reject", json!({"reason": "not that one"})).await;
        };
        let (said, ()) = tokio::join!(world.claude("run touch rejected", &[]), person);
        assert!(said["result"].as_str().unwrap().contains("User rejected: not that one"), "{said}");
        assert!(!world.work().join("rejected").exists());
        let person = async {
            let asked = world.asked(&server).await;
            let edited = json!({"command": "touch changed", "description": "Runs it"});
            let decision = json!({"decision": "approved", "edited_input": edited});
            world.decide(&server, &asked, "approve", decision).await;
        };
        let (said, ()) = tokio::join!(world.claude("run touch original", &[]), person);
        assert_eq!(world.names(), ["changed"], "{said}");
    }

    async fn what_the_rules_deny_never_runs_in_no_mode() {
        let world = World::new().await;
        let server = world.serve();
        world.install(&server.url);
        let rules = json!({"rules": [{"effect": "deny", "rule": "Bash(touch:*)"}]});
        world.put(&server, "rules", &rules).await;
        for mode in ["default", "acceptEdits", "bypassPermissions", "dontAsk"] {
            let said = world.claude("run touch denied", &["--permission-mode", mode]).await;
            assert!(said["result"].as_str().unwrap().contains("Denied: "), "{mode}: {said}");
        }
        server.stop();
        let said = world.claude("run touch denied", &["--permission-mode", "acceptEdits"]).await;
        assert!(said["result"].as_str().unwrap().contains("Denied: "), "{said}");
        assert_eq!(world.names(), [""; 0]);
    }

    async fn what_shells_read_differently_does_not_run_unasked() {
        let world = World::new().await;
        let server = world.serve();
        world.install(&server.url);
        server.stop();
        for command in [
            r#"sh -c "echo \$'\\' ; id > pwned #'""#,
            "sh -c '[[ a > pwned ]]'",
            "( (1 > pwned) ); ls",
            "echo $((1)>pwned | (3))",
        ] {
            let said = world.claude(&format!("run {command}"), &[]).await;
            assert_eq!(world.names(), [""; 0], "{command}: {said}");
        }
    }

    async fn with_the_server_stopped_nothing_runs_that_would_have_asked() {
        let world = World::new().await;
        let server = world.serve();
        world.install(&server.url);
        server.stop();
        for prompt in ["write a.txt", "run touch b.txt", "run echo x > c.txt"] {
            let said = world.claude(prompt, &[]).await;
            assert!(said["result"].as_str().unwrap().contains("is not there"), "{prompt}: {said}");
            assert_eq!(said["permission_denials"].as_array().unwrap().len(), 1, "{said}");
        }
        assert_eq!(world.names(), [""; 0]);
        let said = world.claude("run ls -a", &[]).await;
        assert_eq!(said["permission_denials"], json!([]), "a look still passes: {said}");
    }

    async fn what_a_person_approved_is_not_asked_again_by_claude_codes_own_rules() {
        let world = World::new().await;
        let server = world.serve();
        world.install(&server.url);
        world.add_setting("permissions", json!({"ask": ["Bash(touch:*)", "Bash(ls:*)"]}));
        let person = async {
            let asked = world.asked(&server).await;
            world.decide(&server, &asked, "approve", json!({"decision": "approved"})).await;
        };
        let (said, ()) = tokio::join!(world.claude("run touch a.txt", &[]), person);
        assert_eq!(world.names(), ["a.txt"], "{said}");
        // Our rules let it pass; that is no person's word, and its own rule asks.
        let said = world.claude("run ls", &[]).await;
        assert_eq!(said["permission_denials"].as_array().unwrap().len(), 1, "{said}");
    }

    async fn the_permission_tool_asks_in_countersign_too() {
        let world = World::new().await;
        let server = world.serve();
        let args = ["mcp", "--server", &server.url];
        let program = env!("CARGO_BIN_EXE_countersign");
        let env = json!({"COUNTERSIGN_TOKEN": TOKEN, "HOME": world.home.path()});
        let servers = json!({"mcpServers": {
            "countersign": {"command": program, "args": args, "env": env},
        }});
        let tool = "--permission-prompt-tool=mcp__countersign__approve";
        let config = format!("--mcp-config={servers}");
        let flags = [tool, &config, "--permission-mode=default"];
        let person = async {
            let asked = world.asked(&server).await;
            assert_eq!(asked["tool_name"], "Write", "{asked}");
            world.decide(&server, &asked, "approve", json!({"decision": "approved"})).await;
        };
        let (said, ()) = tokio::join!(world.claude("write a.txt", &flags), person);
        assert_eq!(world.names(), ["a.txt"], "{said}");
        let said = world.claude("run rm -rf /", &flags).await;
        assert!(said["result"].as_str().unwrap().contains("would destroy"), "{said}");
    }
}

pub(super) struct World {
    home: TempDir,
    model: String,
    http: reqwest::Client,
    _shutdown: DropGuard,
}

impl World {
    pub(super) async fn new() -> Self {
        let model = ScriptedModel::new(Scenario::parse(SCENARIO).unwrap(), Arc::new(SystemClock));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shutdown = CancellationToken::new();
        let stop = shutdown.clone();
        tokio::spawn(async move { model.serve(listener, stop).await });
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("work")).unwrap();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { home, model: url, http, _shutdown: shutdown.drop_guard() }
    }

    pub(super) fn work(&self) -> PathBuf {
        self.home.path().join("work").canonicalize().unwrap()
    }

    /// Everything in the folder.
    pub(super) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.work()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// A server on the folder that keeps its records where the hook looks for them.
    pub(super) fn serve(&self) -> Serving {
        self.serve_with(&[])
    }

    /// The same, which can run Claude Code itself.
    pub(super) fn serve_with(&self, env: &[(&str, &str)]) -> Serving {
        let mut command = countersign(self.home.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--token", TOKEN, "--root"]);
        command.arg(self.work()).env("ANTHROPIC_API_KEY", "opens-nothing");
        command.env("ANTHROPIC_BASE_URL", &self.model).env("COUNTERSIGN_CLAUDE", cell::cli());
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").envs(env.iter().copied());
        Serving::of(command, tempfile::tempdir().unwrap())
    }

    pub(super) fn install(&self, server: &str) {
        let mut command = countersign(self.home.path());
        let output = command.args(["hook", "install", "--yes", "--server", server]).output();
        assert!(output.unwrap().status.success());
    }

    /// The same where Claude Code is found, and returns what is said.
    fn install_with(&self, server: &str, args: &[&str]) -> String {
        let mut command = countersign(self.home.path());
        command.args(["hook", "install", "--yes", "--server", server]).args(args);
        let output = command.env("COUNTERSIGN_CLAUDE", cell::cli()).output().unwrap();
        let said = crate::world::stderr(&output);
        assert!(output.status.success(), "{said}");
        said
    }

    /// What the doctor finds; it fails if something is wrong.
    fn doctor(&self) -> Value {
        let mut command = countersign(self.home.path());
        command.args(["doctor", "--json", "--listen", "127.0.0.1:0"]);
        let output = command.env("COUNTERSIGN_CLAUDE", cell::cli()).output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.success(), found["ok"] == true, "{found}");
        found
    }

    /// Returns a call of a tool that is recorded as told by the hook, once it stands so.
    async fn recorded(&self, server: &Serving, tool: &str, status: &str) -> Value {
        loop {
            let calls = self.get(server, "tools/executions").await;
            let is_it = |call: &&Value| {
                call["tool_name"] == tool
                    && call["status"] == status
                    && call["origin"] == "claude_cli"
            };
            if let Some(found) = calls["executions"].as_array().unwrap().iter().find(is_it) {
                return found.clone();
            }
            tokio::task::yield_now().await;
        }
    }

    pub(super) fn add_setting(&self, name: &str, value: Value) {
        let file = self.home.path().join(".claude/settings.json");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = std::fs::read(&file).unwrap_or_else(|_| b"{}".to_vec());
        let mut settings: Value = serde_json::from_slice(&text).unwrap();
        settings[name] = value;
        std::fs::write(&file, settings.to_string()).unwrap();
    }

    /// Runs the CLI by hand, and returns its result.
    pub(super) async fn claude(&self, prompt: &str, args: &[&str]) -> Value {
        let mut command = tokio::process::Command::new(cell::cli());
        command.args(["--print", "--output-format=json"]).args(args).arg("--").arg(prompt);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.home.path());
        command.env("ANTHROPIC_API_KEY", "opens-nothing").env("ANTHROPIC_BASE_URL", &self.model);
        command
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1");
        command.env("COUNTERSIGN_TOKEN", TOKEN).current_dir(self.work());
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&said)
            .unwrap_or_else(|_| panic!("{said}{}", String::from_utf8_lossy(&output.stderr)))
    }

    fn url(&self, server: &Serving, rest: &str) -> String {
        let project = Project::from_root(path(&self.work())).id;
        format!("{}/my/projects/{project}/{rest}", server.url)
    }

    pub(super) async fn get(&self, server: &Serving, rest: &str) -> Value {
        let answer = self.http.get(self.url(server, rest)).bearer_auth(TOKEN).send().await.unwrap();
        assert!(answer.status().is_success(), "{rest}: {}", answer.status());
        answer.json().await.unwrap()
    }

    pub(super) async fn put(&self, server: &Serving, rest: &str, body: &Value) {
        let ask = self.http.put(self.url(server, rest)).bearer_auth(TOKEN).json(body);
        let answer = ask.send().await.unwrap();
        assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
    }

    /// Returns the one request that waits, once there is one.
    pub(super) async fn asked(&self, server: &Serving) -> Value {
        loop {
            let waiting = self.get(server, "approvals?status=pending").await;
            if let Some(first) = waiting["approvals"].as_array().unwrap().first() {
                return first.clone();
            }
            tokio::task::yield_now().await;
        }
    }

    pub(super) async fn decide(&self, server: &Serving, asked: &Value, how: &str, body: Value) {
        let id = asked["approval_id"].as_str().unwrap();
        let (status, answer) = self.post(server, &format!("approvals/{id}/{how}"), &body).await;
        assert_eq!(status, 200, "{answer}");
    }

    pub(super) async fn post(&self, server: &Serving, rest: &str, body: &Value) -> (u16, Value) {
        let ask = self.http.post(self.url(server, rest)).bearer_auth(TOKEN).json(body);
        let answer = ask.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// From now on a person has one second to decide.
    pub(super) async fn give_one_second(&self, server: &Serving) {
        let one = json!({"MEDIUM": 1, "HIGH": 1});
        self.settle(server, json!({"approval_timeout_seconds": one})).await;
    }

    /// Changes what the project has settled.
    pub(super) async fn settle(&self, server: &Serving, settings: Value) {
        let body = json!({"settings": settings});
        let url = self.url(server, "");
        let ask = self.http.patch(url.trim_end_matches('/')).bearer_auth(TOKEN).json(&body);
        let answer = ask.send().await.unwrap();
        assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}
