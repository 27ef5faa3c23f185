//! Case 3: how a session begins, and how it is told that it does not.

use std::time::Duration;

use countersign_claude::transport::PipeTransport;
use countersign_claude::{
    ClaudeClient, ConnectError, ControlError, HookMatcher, Options, PermissionResult, SessionEnd,
    ToolRequest,
};
use serde_json::json;

use crate::fake::{Fake, connect};

#[tokio::test]
async fn the_first_line_is_initialize_and_no_prompt_comes_before_its_answer() {
    let (pipe, far) = PipeTransport::new();
    let mut fake = Fake(far);
    let prompt = async {
        let client =
            ClaudeClient::connect_with_transport(&pipe, Options::new().title("T")).await.unwrap();
        client.send("hello").unwrap().uuid().to_owned()
    };
    let (uuid, (request, line)) = tokio::join!(prompt, async {
        let request = fake.initialize(json!({})).await;
        (request, fake.next().await)
    });
    assert_eq!(
        request["request"],
        json!({ "systemPrompt": [""], "title": "T", "subtype": "initialize" })
    );
    assert_eq!(
        line,
        json!({
            "type": "user", "message": { "role": "user", "content": "hello" },
            "parent_tool_use_id": null, "session_id": "", "uuid": uuid,
        })
    );
}

#[tokio::test]
async fn what_the_cli_asks_before_it_answers_is_answered() {
    let (pipe, far) = PipeTransport::new();
    let mut fake = Fake(far);
    let server = countersign_claude::McpServer::new("here", "1");
    let options = Options::new().sdk_mcp_server(server);
    let (client, answer) =
        tokio::join!(ClaudeClient::connect_with_transport(&pipe, options), async {
            let request = fake.expect("initialize").await;
            fake.say(json!({ "type": "keep_alive" })).await;
            let ping = json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" });
            fake.ask(
                "m",
                json!({ "subtype": "mcp_message", "server_name": "here", "message": ping }),
            )
            .await;
            let answer = fake.answer().await;
            fake.reply(&request, json!({})).await;
            answer
        });
    client.unwrap();
    let pong = json!({ "jsonrpc": "2.0", "id": 0, "result": {} });
    assert_eq!(answer["response"], json!({ "mcp_response": pong }));
}

#[tokio::test(start_paused = true)]
async fn questions_in_flight_when_we_come_are_answered_once() {
    let (pipe, far) = PipeTransport::new();
    let mut fake = Fake(far);
    let options = Options::new().can_use_tool(async |request: ToolRequest| {
        PermissionResult::deny(format!("no {}", request.tool_name))
    });
    let pending = json!({
        "type": "control_request", "request_id": "old",
        "request": { "subtype": "can_use_tool", "tool_name": "Bash", "input": {} },
    });
    let (client, answer) =
        tokio::join!(ClaudeClient::connect_with_transport(&pipe, options), async {
            let request = fake.expect("initialize").await;
            fake.say(json!({
                "type": "control_response",
                "response": {
                    "subtype": "success", "request_id": request["request_id"], "response": {},
                    "pending_permission_requests": [pending, pending],
                },
            }))
            .await;
            fake.answer().await
        });
    assert_eq!(answer["response"], json!({ "behavior": "deny", "message": "no Bash" }));
    client.unwrap().close().await;
    fake.closed().await;
}

#[tokio::test(start_paused = true)]
async fn an_end_before_the_answer_is_told_at_once() {
    let begun = tokio::time::Instant::now();
    let (pipe, far) = PipeTransport::new();
    let mut fake = Fake(far);
    let (error, ()) =
        tokio::join!(ClaudeClient::connect_with_transport(&pipe, Options::new()), async {
            fake.next().await;
            fake.exit(7).await;
        });
    let error = error.unwrap_err();
    assert!(
        matches!(&error, ConnectError::Ended(SessionEnd::Exited { exit, .. }) if exit.code == Some(7))
    );
    assert_eq!(error.to_string(), "the session ended before it began: the CLI ended with code 7");
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_cli_that_does_not_answer_is_named_by_how_far_it_got() {
    let (pipe, far) = PipeTransport::new();
    let mut fake = Fake(far);
    let options = Options::new().initialize_timeout(Duration::from_secs(20));
    let (error, ()) = tokio::join!(ClaudeClient::connect_with_transport(&pipe, options), async {
        fake.next().await;
        fake.say(json!({ "type": "keep_alive", "startup_mark": "before_connectMcp" })).await;
    });
    assert_eq!(
        error.unwrap_err().to_string(),
        "the CLI did not answer within 20s, it got as far as `before_connectMcp`"
    );
}

#[tokio::test]
async fn a_cli_that_refuses_is_quoted() {
    let (pipe, far) = PipeTransport::new();
    let mut fake = Fake(far);
    let (error, ()) =
        tokio::join!(ClaudeClient::connect_with_transport(&pipe, Options::new()), async {
            let request = fake.next().await;
            fake.refuse(&request, "not today", "busy").await;
        });
    let Err(ConnectError::Refused(ControlError::Refused { code, message, .. })) = error else {
        panic!("{error:?}")
    };
    assert_eq!((code.as_deref(), message.as_str()), (Some("busy"), "not today"));
}

#[tokio::test]
async fn a_hook_that_is_to_block_needs_a_cli_that_can() {
    for offers in [
        json!({}),
        json!({ "hook_on_failure_supported": false }),
        json!({ "hook_on_failure_supported": true, "hooks_applied": false }),
    ] {
        let (pipe, far) = PipeTransport::new();
        let mut fake = Fake(far);
        let options = Options::new().hook(HookMatcher::deny_tools(["Bash"]));
        let (error, _) = tokio::join!(
            ClaudeClient::connect_with_transport(&pipe, options),
            fake.initialize(offers)
        );
        assert!(matches!(error, Err(ConnectError::OnFailureUnsupported)), "{error:?}");
        fake.closed().await;
    }
}

#[tokio::test(start_paused = true)]
async fn when_the_cli_ends_everyone_who_waits_is_told_at_once() {
    let (client, mut fake) = connect(Options::new()).await;
    let turn = client.send("hello").unwrap();
    let (mode, turn, ()) = tokio::join!(client.set_model(None), turn.result(), async {
        fake.prompt().await;
        fake.expect("set_model").await;
        fake.exit(9).await;
    });
    let end = "the CLI ended with code 9";
    assert_eq!(mode.unwrap_err().to_string(), end);
    assert_eq!(turn.unwrap_err().to_string(), end);
    assert_eq!(client.send("more").unwrap_err().to_string(), end);
    assert_eq!(client.set_model(None).await.unwrap_err().to_string(), end);
}

#[tokio::test]
async fn a_request_that_is_dropped_is_taken_back() {
    let (client, mut fake) = connect(Options::new()).await;
    let request = {
        let mut asking = std::pin::pin!(client.mcp_status());
        tokio::select! {
            _ = &mut asking => panic!("nobody answered"),
            request = fake.expect("mcp_status") => request,
        }
    };
    assert_eq!(
        fake.next().await,
        json!({ "type": "control_cancel_request", "request_id": request["request_id"] })
    );
    fake.reply(&request, json!({ "mcpServers": [] })).await;
    let (status, ()) = tokio::join!(client.mcp_status(), async {
        let request = fake.expect("mcp_status").await;
        fake.reply(&request, json!({ "mcpServers": [{ "name": "a", "status": "failed" }] })).await;
    });
    assert_eq!(status.unwrap()[0].status, "failed");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_not_answered_times_out_and_is_taken_back() {
    let (client, mut fake) = connect(Options::new().control_timeout(Duration::from_secs(3))).await;
    let error = client.set_model(Some("opus")).await.unwrap_err();
    assert_eq!(error.to_string(), "`set_model` was not answered within 3s");
    fake.expect("set_model").await;
    assert_eq!(fake.next().await["type"], "control_cancel_request");
}
