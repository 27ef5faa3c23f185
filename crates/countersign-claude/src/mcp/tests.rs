//! The tool server, as the CLI speaks to it.

use serde_json::json;

use super::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[tokio::test]
async fn a_handshake_may_come_twice() {
    let server = calculator();
    for id in [0, 7] {
        let asked = json!({ "jsonrpc": "2.0", "id": id, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {},
        } });
        let greeted = json!({ "jsonrpc": "2.0", "id": id, "result": {
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "calculator", "version": "1.0.0" },
        } });
        assert_eq!(say(&server, asked).await, greeted);
        let noted = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let filler = json!({ "jsonrpc": "2.0", "result": {}, "id": 0 });
        assert_eq!(say(&server, noted).await, filler);
    }
}

#[tokio::test]
async fn a_listing_holds_the_schema_of_the_type() {
    let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let listed = say(&calculator(), asked).await;
    let add = listed.pointer("/result/tools/0").unwrap();
    assert_eq!(add["name"], "add");
    assert_eq!(add["annotations"], json!({ "readOnlyHint": true }));
    assert_eq!(add["inputSchema"]["type"], "object");
    assert_eq!(add["inputSchema"]["required"], json!(["a", "b"]));
}

#[tokio::test]
async fn what_goes_wrong_in_a_tool_is_a_result_and_no_error() {
    let server = calculator();
    check(&server, "add", json!({ "a": 2, "b": 3 }), "5", false).await;
    check(&server, "sub", json!({}), "there is no tool `sub`", true).await;
    check(&server, "boom", json!({}), "the tool `boom` panicked", true).await;
    check(&server, "fail", json!({}), "no luck", true).await;
    let misfit = "the arguments do not fit: missing field `b`";
    check(&server, "add", json!({ "a": 2 }), misfit, true).await;
}

#[tokio::test]
async fn an_id_in_flight_is_not_taken_twice_and_free_again_after() {
    let server = calculator();
    let wait = call(1, "wait", json!({}));
    let token = CancellationToken::new();
    let first = server.receive(wait.clone(), token.clone());
    let second = async {
        let refused = say(&server, wait.clone()).await;
        assert_eq!(refused["error"]["message"], "the id `1` is in use");
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": 1 } });
        say(&server, cancel).await;
    };
    let (first, ()) = tokio::join!(first, second);
    assert_eq!(first["result"]["content"][0]["text"], "the call was cancelled");
    check(&server, "add", json!({ "a": 1, "b": 1 }), "2", false).await;
}

#[tokio::test]
async fn an_unknown_method_is_an_error_of_the_protocol() {
    let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list" });
    assert_eq!(say(&calculator(), asked).await["error"]["code"], -32601);
}

fn calculator() -> McpServer {
    McpServer::new("calculator", "1.0.0")
        .tool(
            SdkMcpTool::new("add", "Adds", async |args: Add, _| (args.a + args.b).to_string())
                .annotate("readOnlyHint", true),
        )
        .tool(SdkMcpTool::with_schema("boom", "Fails badly", json!({}), async |_, _| -> String {
            panic!("a test")
        }))
        .tool(SdkMcpTool::with_schema("fail", "Fails", json!({}), async |_, _| {
            Err::<String, _>("no luck")
        }))
        .tool(SdkMcpTool::with_schema("wait", "Never ends", json!({}), async |_, _| {
            std::future::pending::<String>().await
        }))
}

#[expect(clippy::needless_pass_by_value, reason = "a table of cases")]
fn call(id: i64, tool: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments } })
}

async fn say(server: &McpServer, message: Value) -> Value {
    server.receive(message, CancellationToken::new()).await
}

async fn check(server: &McpServer, tool: &str, arguments: Value, text: &str, is_error: bool) {
    let reply = say(server, call(1, tool, arguments)).await;
    let content = json!([{ "type": "text", "text": text }]);
    assert_eq!(reply["result"], json!({ "content": content, "isError": is_error }));
}
