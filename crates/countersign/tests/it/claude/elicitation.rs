//! What an MCP server asks of the person while it works.

use std::sync::{Arc, Mutex};

use countersign_claude::permission::{ElicitationAnswer, ElicitationRequest};
use countersign_claude::{ClaudeClient, McpServerConfig, Options};
use serde_json::json;

use super::cell::in_a_cell;
use super::world::World;

/// A server whose only tool asks for a colour and returns what it was answered.
const SERVER: &str = include_str!("poll.sh");

in_a_cell! {
    async fn a_question_of_a_server_is_answered_by_the_callback() {
        let world = World::new().await;
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = asked.clone();
        let options = polling(&world).on_elicitation(move |question: ElicitationRequest| {
            kept.lock().unwrap().push(question);
            let content = Some(json!({ "colour": "red" }));
            std::future::ready(ElicitationAnswer::Accept { content })
        });
        let said = ask(options).await;
        assert!(said.contains("accept") && said.contains("red"), "{said}");
        let asked = asked.lock().unwrap();
        let [question] = asked.as_slice() else { panic!("asked {} times", asked.len()) };
        assert_eq!(question.mcp_server_name, "poll");
        assert_eq!(question.message, "Which colour?");
        let schema = question.requested_schema.as_ref().unwrap();
        assert_eq!(schema["properties"]["colour"]["type"], "string");
    }

    async fn a_question_of_a_server_that_nobody_answers_is_declined() {
        let world = World::new().await;
        let said = ask(polling(&world)).await;
        assert!(said.contains("decline"), "{said}");
    }
}

fn polling(world: &World) -> Options {
    let server = McpServerConfig::Stdio {
        command: "/bin/sh".to_owned(),
        args: vec!["-c".to_owned(), SERVER.to_owned()],
        env: [].into(),
    };
    world.options().mcp_server("poll", server).allowed_tools(["mcp__poll__vote"])
}

async fn ask(options: Options) -> String {
    let client = ClaudeClient::connect(options).await.unwrap();
    client.send("let the server ask").unwrap().text().await.unwrap()
}
