//! Prompts and answers.

use countersign_claude::message::{ApiStreamEvent, AssistantMessage, Message, SystemMessage};
use countersign_claude::session::ListSessionsOptions;
use countersign_claude::{ClaudeClient, Options, query};

use super::cell::in_a_cell;
use super::world::World;

in_a_cell! {
    async fn one_prompt_gets_one_answer_and_the_cli_is_gone() {
        let world = World::new().await;
        let mut answers = query("say hello", world.options()).await.unwrap();
        let pid = answers.pid().unwrap();
        let mut kinds = Vec::new();
        let mut said = String::new();
        while let Some(message) = answers.next().await {
            let message = message.unwrap();
            said.push_str(&message.as_assistant().map(AssistantMessage::text).unwrap_or_default());
            kinds.push(message.kind().to_owned());
        }
        assert_eq!(said, "Hello there.");
        assert_eq!(kinds.iter().filter(|kind| *kind == "result").count(), 1);
        drop(answers);
        assert!(is_gone(pid));
    }

    async fn a_conversation_remembers_what_was_said() {
        let world = World::new().await;
        let client = world.client().await;
        assert_eq!(client.send("say hello").unwrap().text().await.unwrap(), "Hello there.");
        let result = client.send("say hello again").unwrap().result().await.unwrap();
        assert_eq!(result.result.as_deref(), Some("Hello there."));
        assert!(result.cost().unwrap().starts_with("$0."));
        client.close().await;
        assert_eq!(world.last_conversation(), ["say hello", "Hello there.", "say hello again"]);
    }

    async fn each_turn_has_its_own_messages() {
        let world = World::new().await;
        let client = ClaudeClient::connect(world.options().include_partial_messages()).await.unwrap();
        let mut slow = client.send("talk slowly").unwrap();
        while !matches!(slow.next().await.unwrap().unwrap(), Message::StreamEvent(_)) {}
        let next = client.send("say hello").unwrap();
        let (slow, next) = tokio::join!(slow.text(), next.text());
        assert!(slow.unwrap().starts_with("This takes a long time"));
        assert_eq!(next.unwrap(), "Hello there.");
    }

    async fn prompts_that_wait_together_are_answered_together() {
        let world = World::new().await;
        let client = ClaudeClient::connect(world.options().include_partial_messages()).await.unwrap();
        let mut slow = client.send("talk slowly").unwrap();
        while !matches!(slow.next().await.unwrap().unwrap(), Message::StreamEvent(_)) {}
        let (one, two) = (client.send("say hello").unwrap(), client.send("say hello too").unwrap());
        let (one, two) = tokio::join!(one.result(), two.result());
        let (one, two) = (one.unwrap(), two.unwrap());
        assert_eq!(one.user_message_uuids.as_ref().map(Vec::len), Some(2));
        assert_eq!(one, two);
    }

    async fn a_prompt_sent_while_tools_run_ends_with_the_same_result() {
        let world = World::new().await;
        let client = world.client().await;
        let (one, two) = (client.send("run echo 1").unwrap(), client.send("say hello").unwrap());
        let (one, two) = tokio::join!(one.result(), two.result());
        assert_eq!(one.unwrap(), two.unwrap());
    }

    async fn a_turn_begins_with_what_the_session_has() {
        let world = World::new().await;
        let options = world.options().model("claude-sonnet-4-5").tools(["Read", "Bash"]);
        let client = ClaudeClient::connect(options).await.unwrap();
        let mut turn = client.send("say hello").unwrap();
        let init = loop {
            let message = turn.next().await.unwrap().unwrap();
            if let Message::System(system) = message
                && let SystemMessage::Init(init) = system.into_body()
            {
                break init;
            }
        };
        assert_eq!(init.model, "claude-sonnet-4-5");
        assert_eq!(init.tools, ["Bash", "Read"]);
        assert_eq!(init.permission_mode, "default");
        assert_eq!(init.claude_code_version, "2.1.325");
    }

    async fn partial_messages_add_up_to_the_whole() {
        let world = World::new().await;
        let options = world.options().include_partial_messages();
        let client = ClaudeClient::connect(options).await.unwrap();
        let mut turn = client.send("write a.txt and think").unwrap();
        let (mut pieces, mut whole, mut events) = (String::new(), String::new(), 0);
        while let Some(message) = turn.next().await {
            match message.unwrap() {
                Message::StreamEvent(piece) => {
                    assert!(!matches!(piece.event, ApiStreamEvent::Unknown(_)), "{}", piece.raw());
                    pieces.push_str(piece.text().unwrap_or_default());
                    events += 1;
                }
                Message::Assistant(said) => whole.push_str(&said.text()),
                _ => {}
            }
        }
        assert!(events > 10);
        assert_eq!(pieces, whole);
    }

    async fn calls_of_one_answer_run_and_come_back_each() {
        let world = World::new().await;
        let client = world.client().await;
        let mut turn = client.send("three at once").unwrap();
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        while let Some(message) = turn.next().await {
            let message = message.unwrap();
            calls.extend(message.tool_uses().into_iter().map(|call| call.id.clone()));
            if let Message::User(said) = &message {
                results.extend(said.tool_results().map(|result| result.tool_use_id.clone()));
            }
        }
        calls.sort();
        results.sort();
        assert_eq!(calls.len(), 3);
        assert_eq!(calls, results);
    }

    async fn what_a_subagent_says_is_marked_as_its_own() {
        let world = World::new().await;
        let options = world.options().allowed_tools(["Bash"]).forward_subagent_text();
        let client = ClaudeClient::connect(options).await.unwrap();
        let mut turn = client.send("wait for another").unwrap();
        let (mut below, mut above) = (Vec::new(), Vec::new());
        while let Some(message) = turn.next().await {
            let message = message.unwrap();
            if message.as_assistant().is_some() && !message.text().is_empty() {
                let side = if message.parent_tool_use_id().is_some() { &mut below } else { &mut above };
                side.push(message.text());
            }
        }
        assert_eq!(below, ["It said: (Bash completed with no output)"]);
        assert!(above.iter().all(|text| text.starts_with("The other one said:")), "{above:?}");
        assert_eq!(world.files(), ["below"]);
    }

    async fn a_subagent_in_the_background_reports_in_a_turn_of_its_own() {
        let world = World::new().await;
        let client = world.client().await;
        let mut others = client.unsolicited();
        let first = client.send("delegate").unwrap().text().await.unwrap();
        assert_eq!(first, "The other one works.");
        let result = loop {
            if let Message::Result(result) = others.next().await.unwrap().unwrap() {
                break result;
            }
        };
        assert_eq!(result.result.as_deref(), Some("The other one is done."));
        assert!(!result.answers_the_caller());
    }

    async fn a_one_shot_run_waits_for_its_subagent_in_the_background() {
        let world = World::new().await;
        let options = world.options().can_use_tool(async |_| countersign_claude::PermissionResult::allow());
        let mut run = query("delegate", options).await.unwrap();
        let mut results = Vec::new();
        while let Some(message) = run.next().await {
            if let Message::Result(result) = message.unwrap() {
                results.push(result.result.clone().unwrap_or_default());
            }
        }
        assert_eq!(results, ["The other one works.", "The other one is done."]);
    }

    async fn every_message_is_known_to_this_version() {
        let world = World::new().await;
        let options = world
            .options()
            .include_partial_messages()
            .permission_mode(countersign_claude::PermissionMode::AcceptEdits);
        let client = ClaudeClient::connect(options).await.unwrap();
        let mut others = client.unsolicited();
        for prompt in ["say hello", "write a.txt and think", "three at once", "delegate", "/cost"] {
            let mut turn = client.send(prompt).unwrap();
            while let Some(message) = turn.next().await {
                check_known(&message.unwrap());
            }
        }
        client.close().await;
        while let Some(Ok(message)) = others.next().await {
            check_known(&message);
        }
    }

    async fn a_session_is_resumed_by_its_id() {
        let world = World::new().await;
        let id = begin(&world).await;
        let answer = ask_again(world.options().resume(id.clone())).await;
        assert_eq!(answer, id);
        assert_eq!(world.last_conversation(), ["say hello", "Hello there.", "say hello again"]);
    }

    async fn the_last_session_is_continued() {
        let world = World::new().await;
        let id = begin(&world).await;
        assert_eq!(ask_again(world.options().continue_last()).await, id);
    }

    async fn a_resumed_session_can_be_forked_by_the_cli() {
        let world = World::new().await;
        let id = begin(&world).await;
        let forked = ask_again(world.options().resume(id.clone()).fork_session()).await;
        assert_ne!(forked, id);
        assert_eq!(world.last_conversation(), ["say hello", "Hello there.", "say hello again"]);
        assert_eq!(world.sessions().list(&ListSessionsOptions::all()).unwrap().len(), 2);
    }

    async fn a_session_has_the_id_it_was_given() {
        let world = World::new().await;
        let id = "5a5a5a5a-1111-4222-8333-444444444444";
        assert_eq!(ask_again(world.options().session_id(id)).await, id);
    }

    async fn a_system_prompt_reaches_the_model() {
        let world = World::new().await;
        let text = "--You are a parrot.\nAlways.";
        ask_again(world.options().system_prompt(text)).await;
        let system = world.requests().last().unwrap()["system"].to_string();
        assert!(system.contains("--You are a parrot.\\nAlways."), "{system}");
    }

    async fn without_a_system_prompt_there_is_none_of_claude_code() {
        let world = World::new().await;
        ask_again(world.options()).await;
        let system = world.requests().last().unwrap()["system"].to_string();
        assert!(!system.contains("interactive"), "{system}");
    }

    async fn an_answer_keeps_to_a_schema() {
        let world = World::new().await;
        let schema = serde_json::json!({
            "type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"],
        });
        let client = ClaudeClient::connect(world.options().output_schema(schema)).await.unwrap();
        let result = client.send("add it up").unwrap().result().await.unwrap();
        assert_eq!(result.structured_output, Some(serde_json::json!({"sum": 5})));
    }

    async fn a_failure_of_the_api_is_a_result_that_says_so() {
        let world = World::new().await;
        let client = world.client().await;
        let result = client.send("never work").unwrap().result().await.unwrap();
        assert!(result.is_error);
        assert_eq!(
            result.failure().unwrap(),
            "API Error: 400 duplicate tool_use ID in conversation history."
        );
    }

    async fn the_duplicate_tool_use_id_fault_is_explained_when_a_run_fails_of_it() {
        let world = World::new().await;
        let mut run = query("never work", world.options()).await.unwrap();
        let mut last = None;
        while let Some(message) = run.next().await {
            last = Some(message);
        }
        let why = last.unwrap().unwrap_err().to_string();
        assert!(why.contains("a fault of Claude Code") && why.contains("2.1.19"), "{why}");
    }
}

async fn begin(world: &World) -> String {
    let client = world.client().await;
    let id = session_of(&client, "say hello").await;
    client.close().await;
    id
}

/// Says something more in a session and returns its id.
async fn ask_again(options: Options) -> String {
    let client = ClaudeClient::connect(options).await.unwrap();
    let id = session_of(&client, "say hello again").await;
    client.close().await;
    id
}

async fn session_of(client: &ClaudeClient, prompt: &str) -> String {
    let mut turn = client.send(prompt).unwrap();
    let mut id = None;
    while let Some(message) = turn.next().await {
        let message = message.unwrap();
        if message.is_result() {
            id = message.session_id().map(str::to_owned);
        }
    }
    id.unwrap()
}

fn check_known(message: &Message) {
    assert!(!matches!(message, Message::Unknown(_)), "{}", message.raw());
    let is_unknown = matches!(message, Message::System(it) if **it == SystemMessage::Unknown);
    assert!(!is_unknown, "{}", message.raw());
    assert_eq!(message.unexpected_fields(), [] as [&str; 0], "{}", message.raw());
}

pub(super) fn is_gone(pid: u32) -> bool {
    // Nobody may have taken note of its end yet.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .map_or(true, |stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}
