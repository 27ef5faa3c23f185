//! The gate as the permission callback of a program that drives Claude Code itself (S4.2).

use std::path::Path;
use std::sync::Arc;

use countersign_agent::{ApprovalHandler, ClaudeCallOrigin, PlannerLookup};
use countersign_claude::transport::{PipeCliEnd, PipeTransport};
use countersign_claude::{ClaudeClient, Options};
use countersign_core::{
    ApprovalId, ApprovedBy, Decision, Execution, ExecutionState, ExecutionStatus,
};
use countersign_gate::{DecisionTimeouts, Gate, Rulebook, SystemClock};
use countersign_tools::{Environment, PlannerCatalogue, Workspace};
use serde_json::{Value, json};

struct Session {
    gate: Gate,
    client: ClaudeClient,
    cli: PipeCliEnd,
    _folder: tempfile::TempDir,
}

impl Session {
    /// A session with a CLI that the test plays.
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let timeouts = DecisionTimeouts::default();
        let gate =
            Gate::in_memory(Arc::new(SystemClock), timeouts, Arc::new(Rulebook::none())).unwrap();
        let handler = handler(&gate, folder.path());
        let (pipe, mut cli) = PipeTransport::new();
        let options = handler.attach(Options::new());
        let (client, ()) =
            tokio::join!(ClaudeClient::connect_with_transport(&pipe, options), async {
                let request = read(&mut cli).await;
                let response = json!({
                    "subtype": "success", "request_id": request["request_id"],
                    "response": {"hook_on_failure_supported": true},
                });
                say(&mut cli, json!({"type": "control_response", "response": response})).await;
            });
        Self { gate, client: client.unwrap(), cli, _folder: folder }
    }

    /// Lets the CLI ask for a call, and a person allow it.
    async fn allowed(&mut self, tool_use: &str) -> ApprovalId {
        let request = json!({
            "subtype": "can_use_tool", "tool_name": "Write", "tool_use_id": tool_use,
            "input": {"file_path": "a.txt", "content": "one"},
        });
        self.ask(tool_use, request).await;
        let asked = loop {
            let waiting = self.gate.store().waiting_requests(&"p".into(), None, 1).await.unwrap();
            match waiting.into_iter().next() {
                Some(asked) => break asked.id(),
                None => tokio::task::yield_now().await,
            }
        };
        let yes = Decision::Approve { by: ApprovedBy::Person("ana".into()) };
        self.gate.decide(asked, yes, None).await.unwrap();
        assert_eq!(read(&mut self.cli).await["response"]["response"]["behavior"], "allow");
        assert_eq!(self.stands(asked).await.status(), ExecutionStatus::Executing);
        asked
    }

    /// Lets the CLI tell the hook of an event.
    async fn tell(&mut self, hook: &str, event: &str, tool_use: &str, more: Value) {
        let mut input = json!({"hook_event_name": event, "tool_name": "Write", "tool_input": {}});
        let (fields, more) = (input.as_object_mut().unwrap(), more.as_object().unwrap().clone());
        fields.extend(more);
        let request = json!({
            "subtype": "hook_callback", "callback_id": hook, "tool_use_id": tool_use, "input": input,
        });
        self.ask("hook", request).await;
        assert_eq!(read(&mut self.cli).await["response"]["subtype"], "success");
    }

    async fn ask(&mut self, id: &str, request: Value) {
        let line = json!({"type": "control_request", "request_id": id, "request": request});
        say(&mut self.cli, line).await;
    }

    async fn stands(&self, id: ApprovalId) -> Execution {
        self.gate.store().approval(id).await.unwrap().unwrap()
    }
}

fn handler(gate: &Gate, folder: &Path) -> ApprovalHandler {
    let workspace = Workspace::new([folder.to_owned()]).unwrap();
    let cwd = workspace.roots()[0].clone();
    let catalogue = PlannerCatalogue::new(workspace, Environment::default());
    let planners: PlannerLookup = Arc::new(move |tool| catalogue.planner_of_any(tool));
    let asker = ClaudeCallOrigin { project: "p".into(), session: "s".into(), run: None, cwd };
    ApprovalHandler::new(gate.clone(), planners, asker)
}

async fn read(cli: &mut PipeCliEnd) -> Value {
    serde_json::from_str(&cli.read().await.unwrap()).unwrap()
}

async fn say(cli: &mut PipeCliEnd, line: Value) {
    cli.write(format!("{line}\n").as_bytes()).await;
}

#[tokio::test]
async fn a_call_that_was_allowed_is_settled_when_the_cli_tells_of_it() {
    let mut session = Session::new().await;
    let done = session.allowed("toolu_1").await;
    let response = json!({"tool_response": "File created"});
    session.tell("hook_0", "PostToolUse", "toolu_1", response).await;
    let stands = session.stands(done).await;
    assert_eq!(stands.status(), ExecutionStatus::Completed);
    assert_eq!(stands.to_tool_output().unwrap().content, "File created");
    let failed = session.allowed("toolu_2").await;
    let error = json!({"error": "no space left"});
    session.tell("hook_1", "PostToolUseFailure", "toolu_2", error).await;
    let answer = session.stands(failed).await.to_tool_output().unwrap();
    assert_eq!((answer.content.as_str(), answer.is_error), ("no space left", true));
}

#[tokio::test]
async fn what_the_cli_never_told_of_is_settled_with_the_session() {
    let mut session = Session::new().await;
    let left = session.allowed("toolu_1").await;
    let Session { gate, client, cli, _folder } = session;
    drop((client, cli));
    let settled = gate.wait_until_settled(left).await.unwrap();
    let ExecutionState::Failed { failure, .. } = settled.state() else { panic!("{settled:?}") };
    assert_eq!(failure.kind.as_str(), "unreported");
}
