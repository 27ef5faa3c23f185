//! Case 11: in-process MCP servers, as the CLI reaches them.

use std::sync::Arc;

use countersign_claude::{McpServer, Options, SdkMcpTool};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::fake::{Fake, connect};

fn message(server: &str, message: Value) -> Value {
    json!({ "subtype": "mcp_message", "server_name": server, "message": message })
}

fn call(id: u64, tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool } })
}

#[tokio::test]
async fn the_cli_shakes_hands_lists_and_calls_and_may_do_so_again() {
    let server = McpServer::new("here", "1").tool(SdkMcpTool::with_schema(
        "greet",
        "Greets",
        json!({ "type": "object" }),
        async |_, _| "hello",
    ));
    let (_client, mut fake) = connect(Options::new().sdk_mcp_server(server)).await;
    for round in 0..2 {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {} });
        let greeted = say(&mut fake, "here", hello).await;
        assert_eq!(greeted["result"]["serverInfo"]["name"], "here", "round {round}");
        let noted = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let filler = json!({ "jsonrpc": "2.0", "id": 0, "result": {} });
        assert_eq!(say(&mut fake, "here", noted).await, filler);
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        assert_eq!(say(&mut fake, "here", list).await["result"]["tools"][0]["name"], "greet");
        let greeting = say(&mut fake, "here", call(2, "greet")).await;
        assert_eq!(greeting["result"]["content"][0]["text"], "hello");
    }
}

#[tokio::test]
async fn a_server_nobody_knows_is_an_error_the_protocol_understands() {
    let (_client, mut fake) = connect(Options::new()).await;
    let error = say(&mut fake, "nowhere", call(7, "x")).await;
    assert_eq!(
        error,
        json!({
            "jsonrpc": "2.0", "id": 7,
            "error": { "code": -32601, "message": "there is no server `nowhere`" },
        })
    );
}

#[tokio::test]
async fn calls_run_at_the_same_time_and_one_taken_back_frees_its_id() {
    let (begun, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (start, gone) = (begun.clone(), dropped.clone());
    let wait = SdkMcpTool::with_schema("wait", "Waits", json!({}), move |_, context| {
        let (start, gone) = (start.clone(), gone.clone());
        async move {
            start.notify_one();
            context.cancelled.cancelled().await;
            gone.notify_one();
            "late"
        }
    });
    let quick = SdkMcpTool::with_schema("quick", "Answers", json!({}), async |_, _| "done");
    let server = McpServer::new("here", "1").tool(wait).tool(quick);
    let (_client, mut fake) = connect(Options::new().sdk_mcp_server(server)).await;
    fake.ask("slow", message("here", call(1, "wait"))).await;
    begun.notified().await;
    let done = say(&mut fake, "here", call(2, "quick")).await;
    assert_eq!(done["result"]["content"][0]["text"], "done");
    let refused = say(&mut fake, "here", call(1, "quick")).await;
    assert_eq!(refused["error"]["message"], "the id `1` is in use");
    fake.cancel("slow").await;
    // The id is free once the call has noticed.
    loop {
        let again = say(&mut fake, "here", call(1, "quick")).await;
        if again.get("result").is_some() {
            break;
        }
        tokio::task::yield_now().await;
    }
}

async fn say(fake: &mut Fake, server: &str, rpc: Value) -> Value {
    fake.ask("rpc", message(server, rpc)).await;
    let answer = fake.answer().await;
    assert_eq!(answer["request_id"], "rpc");
    answer["response"]["mcp_response"].clone()
}
