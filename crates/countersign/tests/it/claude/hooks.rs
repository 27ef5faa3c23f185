//! Hooks: what they see, and what they can do about it.

use std::sync::{Arc, Mutex};

use countersign_claude::{
    ClaudeClient, HookEvent, HookFailurePolicy, HookInput, HookMatcher, HookOutput, Options,
    PermissionResult,
};
use serde_json::json;

use super::cell::in_a_cell;
use super::world::World;

in_a_cell! {
    async fn a_hook_sees_what_happens_in_order() {
        let world = World::new().await;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let events = [
            HookEvent::UserPromptSubmit,
            HookEvent::PreToolUse,
            HookEvent::PostToolUse,
            HookEvent::Stop,
        ];
        let options = events.into_iter().fold(world.options(), |options, event| {
            let seen = seen.clone();
            options.hook(HookMatcher::logging(event, move |input| {
                let tool = input.tool().map(|(name, _)| name.to_owned()).unwrap_or_default();
                seen.lock().unwrap().push((input.event.as_str().to_owned(), tool));
            }))
        });
        assert_eq!(ask(options, "run echo hi").await, "It said: hi");
        let seen = seen.lock().unwrap();
        let expected = [
            ("UserPromptSubmit", ""), ("PreToolUse", "Bash"), ("PostToolUse", "Bash"), ("Stop", ""),
        ];
        assert_eq!(*seen, expected.map(|(event, tool)| (event.to_owned(), tool.to_owned())));
    }

    async fn a_hook_sees_a_call_that_nobody_is_asked_about() {
        let world = World::new().await;
        let options = world
            .options()
            .allowed_tools(["Write"])
            .hook(HookMatcher::deny_tools(["Write"]));
        let said = ask(options, "write a.txt").await;
        assert!(said.contains("the tool `Write` is not allowed"), "{said}");
        assert_eq!(world.files(), [] as [&str; 0]);
    }

    async fn a_hook_can_allow_what_would_be_asked_about() {
        let world = World::new().await;
        let options = world
            .options()
            .can_use_tool(async |_| PermissionResult::deny("asked after all"))
            .hook(HookMatcher::new(HookEvent::PreToolUse, async |_: HookInput| HookOutput::allow()));
        assert_eq!(ask(options, "write a.txt").await, "Written.");
    }

    async fn a_hook_can_change_the_input() {
        let world = World::new().await;
        let change = HookMatcher::new(HookEvent::PreToolUse, async |input: HookInput| {
            let (_, input) = input.tool().unwrap();
            let mut input = input.clone();
            input.insert("command".to_owned(), json!("echo from the hook"));
            HookOutput::modify(input)
        });
        let options = world.options().hook(change.matching("Bash"));
        assert_eq!(ask(options, "run echo hi").await, "It said: from the hook");
    }

    async fn a_hook_is_called_only_where_it_matches() {
        let world = World::new().await;
        let options = world
            .options()
            .permission_mode(countersign_claude::PermissionMode::AcceptEdits)
            .hook(HookMatcher::validation(|_, _| Err("never".to_owned())).matching("Edit|Bash"));
        assert_eq!(ask(options, "write a.txt").await, "Written.");
    }

    async fn only_the_tools_that_are_named_get_through() {
        let world = World::new().await;
        let options = world.options().allowed_tools(["Write"]).hook(HookMatcher::allow_only(["Read"]));
        let said = ask(options, "write a.txt").await;
        assert!(said.contains("not among those allowed"), "{said}");
    }

    async fn a_check_that_panics_blocks_the_call() {
        let world = World::new().await;
        let check = HookMatcher::validation(|tool, _| {
            assert_eq!(tool, "Never");
            Ok(())
        });
        let options = world.options().allowed_tools(["Write"]).hook(check);
        let said = ask(options, "write a.txt").await;
        assert!(said.starts_with("It was not allowed"), "{said}");
        assert_eq!(world.files(), [] as [&str; 0]);
    }

    async fn a_hook_that_fails_lets_the_action_go_on_unless_it_is_to_block() {
        for (on_failure, files) in [(HookFailurePolicy::Continue, vec!["a.txt"]), (HookFailurePolicy::Block, vec![])] {
            let world = World::new().await;
            let fails = HookMatcher::new(HookEvent::PreToolUse, async |_: HookInput| {
                Err::<HookOutput, _>("broken".to_owned())
            });
            let options = world.options().allowed_tools(["Write"]).hook(fails.on_failure(on_failure));
            ask(options, "write a.txt").await;
            assert_eq!(world.files(), files, "{on_failure:?}");
        }
    }

    async fn a_hook_can_add_to_the_prompt_and_the_model_reads_it() {
        let world = World::new().await;
        let add = HookMatcher::new(HookEvent::UserPromptSubmit, async |input: HookInput| {
            HookOutput::add_context(&input.event, "The hook was here.")
        });
        ask(world.options().hook(add), "say hello").await;
        let asked = world.requests().last().unwrap().to_string();
        assert!(asked.contains("The hook was here."));
    }

    async fn a_hook_can_refuse_a_prompt() {
        let world = World::new().await;
        let refuse = HookMatcher::new(HookEvent::UserPromptSubmit, async |_: HookInput| {
            HookOutput::block("not this one")
        });
        let client = ClaudeClient::connect(world.options().hook(refuse)).await.unwrap();
        client.send("say hello").unwrap().result().await.unwrap();
        assert_eq!(world.requests().len(), 0);
    }

    async fn a_hook_after_the_fact_sees_what_came_out() {
        let world = World::new().await;
        let seen = Arc::new(Mutex::new(String::new()));
        let kept = seen.clone();
        let options = world.options().hook(HookMatcher::logging(HookEvent::PostToolUse, move |input| {
            *kept.lock().unwrap() = input.raw["tool_response"]["stdout"].to_string();
        }));
        ask(options, "run echo hi").await;
        assert_eq!(*seen.lock().unwrap(), "\"hi\"");
    }

    async fn a_subagent_starts_and_stops_within_sight() {
        let world = World::new().await;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let options = [HookEvent::SubagentStart, HookEvent::SubagentStop].into_iter().fold(
            world.options().allowed_tools(["Bash"]),
            |options, event| {
                let seen = seen.clone();
                options.hook(HookMatcher::logging(event, move |input| {
                    seen.lock().unwrap().push((input.event.as_str().to_owned(), input.agent_id.clone()));
                }))
            },
        );
        ask(options, "wait for another").await;
        let seen = seen.lock().unwrap();
        let [(start, started), (stop, stopped)] = seen.as_slice() else { panic!("{seen:?}") };
        assert_eq!((start.as_str(), stop.as_str()), ("SubagentStart", "SubagentStop"));
        assert!(started.is_some() && started == stopped);
    }

    async fn a_renamed_session_is_called_by_its_title_in_the_cli() {
        let world = World::new().await;
        let result = world.cli(&world.work(), &["say hello"]).await.unwrap();
        let id = result["session_id"].as_str().unwrap();
        world.sessions().rename(id, "A greeting").unwrap();
        let seen = Arc::new(Mutex::new(None));
        let kept = seen.clone();
        let log = HookMatcher::logging(HookEvent::UserPromptSubmit, move |input| {
            *kept.lock().unwrap() = input.raw["session_title"].as_str().map(str::to_owned);
        });
        ask(world.options().resume(id).hook(log), "say hello again").await;
        assert_eq!(seen.lock().unwrap().as_deref(), Some("A greeting"));
    }
}

async fn ask(options: Options, prompt: &str) -> String {
    let client = ClaudeClient::connect(options).await.unwrap();
    let said = client.send(prompt).unwrap().text().await.unwrap();
    client.close().await;
    said
}
