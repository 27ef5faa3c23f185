//! `countersign mcp`, spoken to by hand.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::fake::{Fake, Say};
use super::world::World;
use crate::world::{TOKEN, countersign};

/// The server, and the two ends of it.
struct Mcp {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Mcp {
    fn start(home: &Path, folder: &Path, server: &str) -> Self {
        let mut command = countersign(home);
        command.args(["mcp", "--server", server]).env("COUNTERSIGN_TOKEN", TOKEN);
        command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut mcp = Self { child, to, from };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let welcome = mcp.ask("initialize", hello);
        assert_eq!(welcome["serverInfo"]["name"], "countersign");
        mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        mcp
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut request = json!({"jsonrpc": "2.0", "id": 1, "method": method});
        request["params"] = params;
        self.send(&request);
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        answer.get("result").unwrap_or(&answer).clone()
    }

    fn approve(&mut self, arguments: Value) -> Value {
        let mut params = json!({"name": "approve"});
        params["arguments"] = arguments;
        let called = self.ask("tools/call", params);
        assert_eq!(called["content"][0]["type"], "text", "{called}");
        serde_json::from_str(called["content"][0]["text"].as_str().unwrap()).unwrap()
    }

    /// Ends it the way a client does: by hanging up.
    fn hang_up(mut self) {
        self.to = None;
        assert!(self.child.wait().unwrap().success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_offers_the_one_tool_and_answers_as_the_hook_does() {
    let fake = Fake::that(Say::Status("approved", json!({}))).await;
    let (world, url) = (World::new(), fake.url.clone());
    drop(world.gate().await);
    let talk = move || {
        let mut mcp = Mcp::start(world.home.path(), &world.work(), &url);
        let tools = mcp.ask("tools/list", json!({}));
        assert_eq!(tools["tools"].as_array().unwrap().len(), 1);
        assert_eq!(tools["tools"][0]["name"], "approve");
        let read = json!({"file_path": "a.txt"});
        assert_eq!(
            mcp.approve(json!({"tool_name": "Read", "input": read, "tool_use_id": "1"})),
            json!({"behavior": "allow", "updatedInput": read})
        );
        let write = json!({"file_path": "a.txt", "content": "x"});
        assert_eq!(
            mcp.approve(json!({"tool_name": "Write", "input": write, "tool_use_id": "2"})),
            json!({"behavior": "allow", "updatedInput": write})
        );
        let denied = mcp.approve(json!({"tool_name": "Bash", "input": {"command": "rm -rf /"}}));
        assert_eq!(denied["behavior"], "deny");
        let question = json!({"tool_name": "AskUserQuestion", "input": {"questions": []}});
        assert_eq!(mcp.approve(question)["behavior"], "deny");
        assert_eq!(mcp.approve(json!({"tool": "Read"}))["behavior"], "deny");
        mcp.hang_up();
    };
    tokio::task::spawn_blocking(talk).await.unwrap();
    let asked: Vec<_> =
        fake.seen().into_iter().map(|(_, body)| body["tool_use_id"].clone()).collect();
    assert_eq!(asked, ["2"], "the rules answered the rest");
}

#[test]
fn what_nobody_can_decide_is_denied() {
    let world = World::new();
    let mut mcp = Mcp::start(world.home.path(), &world.work(), "http://127.0.0.1:9");
    let write = json!({"file_path": "a.txt", "content": "x"});
    let said = mcp.approve(json!({"tool_name": "Write", "input": write}));
    assert_eq!(said["behavior"], "deny");
    let why = said["message"].as_str().unwrap();
    assert!(why.contains("http://127.0.0.1:9 is not there"), "{why}");
    mcp.hang_up();
}
