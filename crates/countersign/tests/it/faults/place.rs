//! A place where things go wrong: a workspace, a model that is not touched by it, servers, and people.

use std::future::Future;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::chaos::model::Model;
use crate::chaos::plan::goes_without;
use crate::world::{Client, Serving, TOKEN, countersign, stderr};

/// What is to happen happens within this time, also on a loaded machine.
const SOON: Duration = Duration::from_secs(25);

/// Calls that leave a mark each time they run: at once, or when they are given the word.
const SCENARIO: &str = r#"
name = "faults"

[[script]]
prompt = '^mark (?<name>\S+)$'
[[script.turn]]
say = "I mark it."
call = { tool = "Bash", input = { command = "printf '%s\\n' {{prompt.name}} >> marks/{{prompt.name}}" } }
[[script.turn]]
say = "Done."

[[script]]
prompt = '^mark (?<name>\S+) when told$'
[[script.turn]]
say = "I wait for the word."
call = { tool = "Bash", input = { command = "touch begun; while [ ! -e word ]; do sleep 0.02; done; printf '%s\\n' {{prompt.name}} >> marks/{{prompt.name}}" } }
[[script.turn]]
say = "Done."

[[script]]
prompt = '^touch (?<name>\S+)$'
[[script.turn]]
say = "I touch it."
call = { tool = "Bash", input = { command = "touch marks/{{prompt.name}}" } }
[[script.turn]]
say = "Done."
"#;

pub(super) struct Place {
    pub(super) model: Model,
    folder: TempDir,
}

/// A run that asks, and a person who is to decide.
pub(super) struct Asked {
    pub(super) client: Client,
    pub(super) request: Value,
}

impl Place {
    pub(super) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["ws/marks", "data"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        Self { model: Model::start(SCENARIO).await, folder }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a command that serves the workspace, and the home it needs.
    pub(super) fn serve(&self, more: &[&str]) -> (Command, TempDir) {
        let home = tempfile::tempdir().unwrap();
        let mut command = countersign(home.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--token", TOKEN, "--root"]);
        command.arg(self.path("ws"));
        if !more.contains(&"--data") {
            command.arg("--data").arg(self.path("data"));
        }
        command.args(more);
        command.env("ANTHROPIC_API_KEY", "k-test").env("ANTHROPIC_BASE_URL", &self.model.url);
        (command, home)
    }

    pub(super) fn start(&self, more: &[&str]) -> Serving {
        let (command, home) = self.serve(more);
        Serving::of(command, home)
    }

    /// Starts a run, whose conversation is called as its prompt, and returns what it asks.
    pub(super) async fn ask(&self, server: &Serving, prompt: &str) -> Asked {
        let mut client = server.client().await;
        client.send(json!({"command": "run", "prompt": prompt, "session_id": prompt})).await;
        loop {
            let request = soon(client.until("tool_approval_request")).await;
            if request["session_id"] == prompt {
                return Asked { client, request };
            }
        }
    }

    /// Starts a run that waits for the word while its call executes.
    pub(super) async fn execute(&self, server: &Serving, prompt: &str) -> Asked {
        let mut asked = self.ask(server, prompt).await;
        asked.decide(true).await;
        seen("the call does not begin", async || self.path("ws/begun").exists()).await;
        asked
    }

    pub(super) fn give_the_word(&self) {
        std::fs::write(self.path("ws/word"), "").unwrap();
    }

    /// Returns how often a call has run, by the marks it left.
    pub(super) fn marks(&self, name: &str) -> usize {
        let marks = std::fs::read_to_string(self.path("ws/marks").join(name));
        marks.map_or(0, |marks| marks.lines().count())
    }

    /// Returns what the model was last told of the one call of a run.
    pub(super) fn told(&self, prompt: &str) -> Value {
        let requests = self.model.requests(prompt);
        assert_eq!(requests.len(), 2, "{prompt} is asked for once and told the result once");
        requests[1].last().unwrap()["content"][0].clone()
    }

    /// Makes sure that a call ran once and that the model was told so.
    pub(super) fn assert_ran_once(&self, name: &str, prompt: &str) {
        assert_eq!(self.marks(name), 1, "{prompt}");
        let told = self.told(prompt);
        assert_eq!(told["type"], "tool_result");
        assert_ne!(told["is_error"], true, "{told}");
    }

    /// Runs a command on records and returns how it ended and all it said.
    pub(super) async fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut command = countersign(self.folder.path());
        command.args(args);
        // Not blocking: what else the test does goes on meanwhile.
        let output = soon(tokio::process::Command::from(command).output()).await.unwrap();
        let said = String::from_utf8(output.stdout.clone()).unwrap() + &stderr(&output);
        (output.status.code(), said)
    }
}

impl Asked {
    pub(super) async fn decide(&mut self, approved: bool) {
        let request = &self.request;
        let decision = json!({"command": "tool_approval_response", "approved": approved,
            "request_id": request["request_id"], "digest": request["digest"]});
        self.client.send(decision).await;
    }

    /// Decides in vain; returns the sentence.
    pub(super) async fn decide_in_vain(&mut self) -> String {
        self.decide(true).await;
        let error = soon(self.client.until("error")).await;
        assert_eq!(error["content"]["code"], "store", "{error}");
        error["content"]["message"].as_str().unwrap().to_owned()
    }
}

/// Returns how the run of a conversation ended, by the log.
pub(super) async fn ended(server: &Serving, prompt: &str) -> Value {
    soon(async {
        loop {
            let mut client = server.client().await;
            client.send(json!({"command": "resume", "after": 0, "session_id": prompt})).await;
            while let Some(message) = client.next().await {
                if message["type"] == "result" && message["session_id"] == prompt {
                    return message;
                }
            }
        }
    })
    .await
}

/// Returns the requests that wait, as somebody who comes now is shown them.
pub(super) async fn waiting(server: &Serving) -> Vec<Value> {
    let mut client = server.client().await;
    client.send(json!({"command": "resume", "after": 0})).await;
    let mut waiting = Vec::new();
    loop {
        let message = soon(client.next()).await.unwrap();
        if message["type"] == "tool_approval_request" && message["status"] == "PENDING" {
            waiting.push(message["session_id"].clone());
        }
        if message["subtype"] == "caught_up" {
            return waiting;
        }
    }
}

/// Returns whether tests that need something are left out, and says so.
#[expect(clippy::print_stdout, reason = "no test is left out in silence")]
pub(super) fn is_left_out(part: &str) -> bool {
    let without = goes_without(part);
    if without {
        println!("this is left out, as COUNTERSIGN_TEST_WITHOUT says");
    }
    without
}

/// Returns what a server says that must not start.
pub(super) fn refused(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let lines: Vec<_> = said.lines().collect();
    let [.., error, hint] = lines.as_slice() else { panic!("it says too little: {said}") };
    assert!(error.starts_with("error: ") && hint.starts_with("hint: "), "{said}");
    said
}

/// Waits for something that is to happen.
pub(super) async fn soon<T>(it: impl Future<Output = T>) -> T {
    timeout(SOON, it).await.unwrap()
}

/// Looks until something is so.
pub(super) async fn seen(otherwise: &str, is_so: impl AsyncFn() -> bool) {
    let mut look = tokio::time::interval(Duration::from_millis(20));
    let looking = async {
        while !is_so().await {
            look.tick().await;
        }
    };
    assert!(timeout(SOON, looking).await.is_ok(), "{otherwise}");
}
