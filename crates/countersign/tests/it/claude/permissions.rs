//! Who decides on calls, and what becomes of them.

use std::sync::{Arc, Mutex};

use countersign_claude::message::Message;
use countersign_claude::permission::{PermissionRule, RuleBehavior, UpdateDestination};
use countersign_claude::{
    ApprovalBridge, BridgeEvent, ClaudeClient, Options, PermissionMode, PermissionResult,
    PermissionUpdate, ToolRequest, TurnError,
};
use serde_json::{Value, json};
use tokio::sync::{Barrier, Notify, mpsc};

use super::cell::in_a_cell;
use super::world::World;

in_a_cell! {
    async fn an_allowed_call_runs() {
        let world = World::new().await;
        let (options, asked) = watched(world.options(), |_| PermissionResult::allow());
        assert_eq!(ask(options, "write a.txt").await, "Written.");
        assert_eq!(world.files(), ["a.txt"]);
        let asked = asked.lock().unwrap();
        let [request] = asked.as_slice() else { panic!("asked {} times", asked.len()) };
        assert_eq!(request.tool_name, "Write");
        let path = world.work().join("a.txt").display().to_string();
        assert_eq!(Value::Object(request.input.clone()), json!({"file_path": path, "content": "one\ntwo\n"}));
        assert!(request.tool_use_id.as_ref().unwrap().starts_with("toolu_"));
        assert_eq!(request.agent_id, None);
    }

    async fn a_denied_call_does_not_run_and_the_model_reads_why() {
        let world = World::new().await;
        let (options, _) = watched(world.options(), |_| PermissionResult::deny("not today"));
        assert_eq!(ask(options, "write a.txt").await, "It was not allowed: not today");
        assert_eq!(world.files(), [] as [&str; 0]);
    }

    async fn a_call_runs_with_the_input_it_was_allowed_with() {
        let world = World::new().await;
        let (options, _) = watched(world.options(), |request| {
            let mut input = request.input.clone();
            input.insert("command".to_owned(), json!("mkdir changed && echo changed"));
            PermissionResult::allow_with(input)
        });
        assert_eq!(ask(options, "run mkdir original").await, "It said: changed");
        assert_eq!(world.files(), ["changed"]);
    }

    async fn a_denial_can_end_the_turn_and_the_session_goes_on() {
        let world = World::new().await;
        let (options, _) = watched(world.options(), |_| PermissionResult::deny_and_interrupt("stop"));
        let client = ClaudeClient::connect(options).await.unwrap();
        let result = client.send("write a.txt").unwrap().result().await.unwrap();
        assert!(result.is_error);
        assert_eq!(world.files(), [] as [&str; 0]);
        assert_eq!(client.send("say hello").unwrap().text().await.unwrap(), "Hello there.");
    }

    async fn what_is_always_allowed_is_asked_once() {
        let world = World::new().await;
        let (options, asked) = watched(world.options(), |request| {
            assert!(!request.suggestions.is_empty());
            PermissionResult::allow_always(request.suggestions.clone())
        });
        let client = ClaudeClient::connect(options).await.unwrap();
        client.send("write a.txt").unwrap().text().await.unwrap();
        client.send("write b.txt").unwrap().text().await.unwrap();
        assert_eq!(asked.lock().unwrap().len(), 1);
        assert_eq!(world.files(), ["a.txt", "b.txt"]);
    }

    async fn a_rule_of_ones_own_can_be_added_with_the_decision() {
        let world = World::new().await;
        let (options, asked) = watched(world.options(), |_| {
            let rule = PermissionRule {
                tool_name: "Bash".to_owned(),
                rule_content: Some("mkdir:*".to_owned()),
            };
            PermissionResult::allow_always(vec![PermissionUpdate::AddRules {
                rules: vec![rule],
                behavior: RuleBehavior::Allow,
                destination: UpdateDestination::Session,
            }])
        });
        let client = ClaudeClient::connect(options).await.unwrap();
        client.send("run mkdir one").unwrap().text().await.unwrap();
        client.send("run mkdir two").unwrap().text().await.unwrap();
        assert_eq!(asked.lock().unwrap().len(), 1);
        assert_eq!(world.files(), ["one", "two"]);
    }

    async fn an_allowed_tool_is_not_asked_about() {
        let world = World::new().await;
        let (options, asked) = watched(world.options(), |_| PermissionResult::deny("never"));
        let options = options.allowed_tools(["Write"]);
        assert_eq!(options.shadowed_tools(), ["Write"]);
        assert_eq!(ask(options, "write a.txt").await, "Written.");
        assert!(asked.lock().unwrap().is_empty());
    }

    async fn a_command_that_only_reads_is_not_asked_about() {
        let world = World::new().await;
        let (options, asked) = watched(world.options(), |_| PermissionResult::deny("never"));
        assert_eq!(ask(options, "run echo hi").await, "It said: hi");
        assert!(asked.lock().unwrap().is_empty());
    }

    async fn a_disallowed_tool_is_not_there_at_all() {
        let world = World::new().await;
        let (options, asked) = watched(world.options(), |_| PermissionResult::allow());
        ask(options.disallowed_tools(["Write"]), "write a.txt").await;
        assert!(asked.lock().unwrap().is_empty());
        assert_eq!(world.files(), [] as [&str; 0]);
        let tools = world.requests()[0]["tools"].clone();
        let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert!(names.contains(&&json!("Read")) && !names.contains(&&json!("Write")), "{names:?}");
    }

    async fn a_scoped_denial_holds_and_the_rest_is_asked_about() {
        let world = World::new().await;
        let (options, asked) = watched(world.options(), |_| PermissionResult::allow());
        let client =
            ClaudeClient::connect(options.disallowed_tools(["Bash(mkdir no:*)"])).await.unwrap();
        client.send("run mkdir no").unwrap().text().await.unwrap();
        client.send("run mkdir yes").unwrap().text().await.unwrap();
        assert_eq!(world.files(), ["yes"]);
        assert_eq!(asked.lock().unwrap().len(), 1);
    }

    async fn in_bypass_mode_nothing_is_asked() {
        let world = World::new().await;
        let options = world
            .options()
            .permission_mode(PermissionMode::BypassPermissions)
            .allow_dangerously_skip_permissions();
        assert_eq!(ask(options, "write a.txt").await, "Written.");
        assert_eq!(world.files(), ["a.txt"]);
    }

    async fn who_never_asks_denies() {
        let world = World::new().await;
        let options = world.options().permission_mode(PermissionMode::DontAsk);
        let client = ClaudeClient::connect(options).await.unwrap();
        let result = client.send("write a.txt").unwrap().result().await.unwrap();
        let denied: Vec<_> =
            result.permission_denials.iter().map(|denial| denial.tool_name.as_str()).collect();
        assert_eq!(denied, ["Write"]);
        assert_eq!(world.files(), [] as [&str; 0]);
    }

    async fn a_question_to_the_user_is_answered_through_its_input() {
        let world = World::new().await;
        let (options, _) = watched(world.options(), |request| {
            assert_eq!(request.tool_name, "AskUserQuestion");
            let mut input = request.input.clone();
            input.insert("answers".to_owned(), json!({"Which colour?": "Red"}));
            PermissionResult::allow_with(input)
        });
        let said = ask(options, "ask me").await;
        assert!(said.contains(r#""Which colour?"="Red""#), "{said}");
    }

    async fn a_plan_is_approved_by_the_callback() {
        let world = World::new().await;
        let (options, asked) = watched(world.options(), |_| PermissionResult::allow());
        let said = ask(options.permission_mode(PermissionMode::Plan), "plan something").await;
        assert!(said.starts_with("Planned: User has approved"), "{said}");
        assert_eq!(asked.lock().unwrap()[0].tool_name, "ExitPlanMode");
    }

    async fn a_call_of_a_subagent_says_whose_it_is() {
        let world = World::new().await;
        let (options, asked) = watched(world.options(), |_| PermissionResult::allow());
        ask(options, "wait for another").await;
        let asked = asked.lock().unwrap();
        let agents: Vec<_> =
            asked.iter().map(|request| (&*request.tool_name, request.agent_id.is_some())).collect();
        assert_eq!(agents, [("Bash", true)]);
        assert_eq!(world.files(), ["below"]);
    }

    async fn while_a_decision_is_awaited_the_cli_still_answers_other_requests() {
        let world = World::new().await;
        let release = Arc::new(Notify::new());
        let (told, mut waiting) = mpsc::unbounded_channel();
        let held = release.clone();
        let options = world.options().can_use_tool(move |_: ToolRequest| {
            let (held, told) = (held.clone(), told.clone());
            async move {
                told.send(()).unwrap();
                held.notified().await;
                PermissionResult::allow()
            }
        });
        let client = ClaudeClient::connect(options).await.unwrap();
        let turn = client.send("write a.txt").unwrap();
        waiting.recv().await.unwrap();
        // The CLI waits for the decision; it still answers.
        client.context_usage().await.unwrap();
        assert_eq!(world.files(), [] as [&str; 0]);
        release.notify_one();
        assert_eq!(turn.text().await.unwrap(), "Written.");
    }

    async fn two_calls_of_one_answer_are_decided_at_the_same_time() {
        let world = World::new().await;
        let outside = world.work().with_file_name("outside");
        std::fs::create_dir(&outside).unwrap();
        for file in ["1.txt", "2.txt"] {
            std::fs::write(outside.join(file), "seen\n").unwrap();
        }
        // Who decides on one waits until the other is asked about, too.
        let both = Arc::new(Barrier::new(2));
        let options = world.options().can_use_tool(move |request: ToolRequest| {
            assert_eq!(request.tool_name, "Read");
            let both = both.clone();
            async move {
                both.wait().await;
                PermissionResult::allow()
            }
        });
        let said = ask(options, &format!("look at both in {}", outside.display())).await;
        assert_eq!(said, "I saw both.");
    }

    async fn a_question_is_taken_back_when_the_turn_is_interrupted() {
        let world = World::new().await;
        let (told, mut waiting) = mpsc::unbounded_channel();
        let options = world.options().can_use_tool(move |request: ToolRequest| {
            let told = told.clone();
            async move {
                told.send(request.cancelled.clone()).unwrap();
                std::future::pending().await
            }
        });
        let client = ClaudeClient::connect(options).await.unwrap();
        let turn = client.send("write a.txt").unwrap();
        let cancelled = waiting.recv().await.unwrap();
        client.interrupt().await.unwrap();
        cancelled.cancelled().await;
        assert!(turn.result().await.unwrap().is_error);
        assert_eq!(world.files(), [] as [&str; 0]);
    }

    async fn a_callback_that_panics_denies() {
        let world = World::new().await;
        let options = world.options().can_use_tool(async |request: ToolRequest| {
            assert_eq!(request.tool_name, "Never");
            PermissionResult::allow()
        });
        let said = ask(options, "write a.txt").await;
        assert!(said.starts_with("It was not allowed"), "{said}");
        assert_eq!(world.files(), [] as [&str; 0]);
    }

    async fn a_decision_that_does_not_come_in_time_is_a_denial() {
        let world = World::new().await;
        let options = world
            .options()
            .permission_deadline(std::time::Duration::from_millis(50))
            .can_use_tool(async |_: ToolRequest| std::future::pending().await);
        let said = ask(options, "write a.txt").await;
        assert!(said.starts_with("It was not allowed"), "{said}");
        assert_eq!(world.files(), [] as [&str; 0]);
    }

    async fn a_decision_made_elsewhere_reaches_the_cli_over_the_bridge() {
        let world = World::new().await;
        let bridge = ApprovalBridge::new(std::time::Duration::from_mins(5));
        let mut events = bridge.subscribe();
        let client =
            ClaudeClient::connect(world.options().can_use_tool(bridge.clone())).await.unwrap();
        let turn = client.send("write a.txt").unwrap();
        let BridgeEvent::Asked(asked) = events.recv().await.unwrap() else {
            panic!("nobody was asked")
        };
        assert_eq!(bridge.pending().len(), 1);
        assert_eq!(asked.tool_name, "Write");
        bridge.decide(&asked.id, PermissionResult::allow()).unwrap();
        assert_eq!(turn.text().await.unwrap(), "Written.");
        assert!(bridge.decide(&asked.id, PermissionResult::deny("too late")).is_err());
    }

    async fn a_prompt_that_was_taken_back_has_no_result() {
        let world = World::new().await;
        let client = ClaudeClient::connect(world.options().include_partial_messages()).await.unwrap();
        let mut slow = client.send("talk slowly").unwrap();
        while !matches!(slow.next().await.unwrap().unwrap(), Message::StreamEvent(_)) {}
        let queued = client.send("say hello").unwrap();
        let uuid = queued.uuid().to_owned();
        let receipt = client.interrupt_all().await.unwrap();
        assert_eq!(receipt.cancelled, [uuid]);
        assert!(matches!(queued.result().await, Err(TurnError::Cancelled)));
        assert!(slow.result().await.unwrap().is_error);
    }
}

type Asked = Arc<Mutex<Vec<ToolRequest>>>;

/// Decides by `decide`, and keeps what was asked.
fn watched(
    options: Options,
    decide: impl Fn(&ToolRequest) -> PermissionResult + Send + Sync + 'static,
) -> (Options, Asked) {
    let asked = Asked::default();
    let kept = asked.clone();
    let options = options.can_use_tool(move |request: ToolRequest| {
        let decision = decide(&request);
        kept.lock().unwrap().push(request);
        std::future::ready(decision)
    });
    (options, asked)
}

async fn ask(options: Options, prompt: &str) -> String {
    let client = ClaudeClient::connect(options).await.unwrap();
    let said = client.send(prompt).unwrap().text().await.unwrap();
    client.close().await;
    said
}
