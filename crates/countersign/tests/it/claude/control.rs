//! Control of a conversation that runs.

use std::fs;

use countersign_claude::message::{Message, TerminalReason};
use countersign_claude::{
    ClaudeClient, ControlError, PermissionMode, PermissionResult, TurnStream,
};
use serde_json::{Map, json};

use super::cell::in_a_cell;
use super::world::World;

in_a_cell! {
    async fn an_interrupted_turn_ends_and_the_next_one_runs() {
        let world = World::new().await;
        let client = ClaudeClient::connect(world.options().include_partial_messages()).await.unwrap();
        let mut turn = client.send("talk slowly").unwrap();
        first_piece(&mut turn).await;
        let receipt = client.interrupt().await.unwrap();
        assert_eq!((receipt.still_queued.len(), receipt.cancelled.len()), (0, 0));
        let result = turn.result().await.unwrap();
        assert!(result.is_error);
        assert_eq!(result.terminal_reason, Some(TerminalReason::AbortedStreaming));
        assert_eq!(client.send("say hello").unwrap().text().await.unwrap(), "Hello there.");
    }

    async fn an_interrupt_says_what_still_waits_and_that_runs() {
        let world = World::new().await;
        let client = ClaudeClient::connect(world.options().include_partial_messages()).await.unwrap();
        let mut turn = client.send("talk slowly").unwrap();
        first_piece(&mut turn).await;
        let queued = client.send("say hello").unwrap();
        let receipt = client.interrupt().await.unwrap();
        assert_eq!(receipt.still_queued, [queued.uuid()]);
        assert!(turn.result().await.unwrap().is_error);
        assert_eq!(queued.text().await.unwrap(), "Hello there.");
    }

    async fn the_next_request_goes_to_the_model_that_was_set() {
        let world = World::new().await;
        let client = world.client().await;
        client.send("say hello").unwrap().text().await.unwrap();
        client.set_model(Some("claude-sonnet-4-5")).await.unwrap();
        client.send("say hello").unwrap().text().await.unwrap();
        // One token is asked for when the CLI tries whether there is such a model.
        let requests = world.requests();
        let asked = requests.iter().filter(|request| request["max_tokens"] != 1);
        let models: Vec<_> = asked.map(|request| request["model"].as_str().unwrap()).collect();
        assert_eq!(models.len(), 2);
        assert_ne!(models[0], "claude-sonnet-4-5");
        assert_eq!(models[1], "claude-sonnet-4-5");
    }

    async fn a_model_that_does_not_exist_is_only_noticed_when_it_is_asked() {
        let world = World::new().await;
        let client = world.client().await;
        client.set_model(Some("nonsense")).await.unwrap();
        client.send("say hello").unwrap().text().await.unwrap();
        assert_eq!(world.requests().last().unwrap()["model"], "nonsense");
    }

    async fn a_permission_mode_holds_from_when_it_is_set() {
        let world = World::new().await;
        let options = world.options().can_use_tool(async |_| PermissionResult::deny("asked"));
        let client = ClaudeClient::connect(options).await.unwrap();
        client.send("write a.txt").unwrap().text().await.unwrap();
        client.set_permission_mode(PermissionMode::AcceptEdits).await.unwrap();
        client.send("write b.txt").unwrap().text().await.unwrap();
        assert_eq!(world.files(), ["b.txt"]);
    }

    async fn what_the_cli_refuses_is_a_typed_error() {
        let world = World::new().await;
        let client = world.client().await;
        let mut fields = Map::new();
        fields.insert("mode".to_owned(), json!("nonsense"));
        let refused = client.control_raw("set_permission_mode", fields).await.unwrap_err();
        assert!(
            matches!(&refused, ControlError::Refused { code: Some(code), .. } if code == "invalid_mode"),
            "{refused:?}"
        );
        let unknown = client.control_raw("never_heard_of", Map::new()).await.unwrap_err();
        assert!(
            matches!(&unknown, ControlError::Refused { code: Some(code), .. } if code == "unsupported_request"),
            "{unknown:?}"
        );
    }

    async fn files_are_rewound_and_it_is_told_what_that_changed() {
        let world = World::new().await;
        let file = world.work().join("a.txt");
        fs::write(&file, "one\ntwo\n").unwrap();
        let options = world.options().file_checkpointing().permission_mode(PermissionMode::AcceptEdits);
        let client = ClaudeClient::connect(options).await.unwrap();
        let edit = client.send("change a.txt").unwrap();
        let prompt = edit.uuid().to_owned();
        assert_eq!(edit.text().await.unwrap(), "Changed.");
        client.send("write b.txt").unwrap().text().await.unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "one\nthree\n");

        let planned = client.plan_rewind(&prompt).await.unwrap();
        assert_eq!(world.files(), ["a.txt", "b.txt"]);
        let done = client.rewind_files(&prompt).await.unwrap();
        assert!(done.can_rewind);
        let mut changed = done.files_changed.clone();
        changed.sort();
        let expected = ["a.txt", "b.txt"].map(|name| world.work().join(name).display().to_string());
        assert_eq!(changed, expected);
        assert_eq!((done.insertions, done.deletions), (planned.insertions, planned.deletions));
        assert_eq!(fs::read_to_string(&file).unwrap(), "one\ntwo\n");
        assert_eq!(world.files(), ["a.txt"]);
    }

    async fn without_a_checkpoint_nothing_is_rewound() {
        let world = World::new().await;
        let client = world.client().await;
        let turn = client.send("say hello").unwrap();
        let prompt = turn.uuid().to_owned();
        turn.text().await.unwrap();
        assert!(client.rewind_files(&prompt).await.is_err());
    }

    async fn the_context_is_accounted_for() {
        let world = World::new().await;
        let client = world.client().await;
        client.send("say hello").unwrap().text().await.unwrap();
        let usage = client.context_usage().await.unwrap();
        assert!(usage.total_tokens > 0 && usage.total_tokens < usage.max_tokens, "{usage:?}");
    }
}

async fn first_piece(turn: &mut TurnStream) {
    while !matches!(turn.next().await.unwrap().unwrap(), Message::StreamEvent(_)) {}
}
