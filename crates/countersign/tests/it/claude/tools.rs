//! Tools that run in this very process.

use countersign_claude::{
    ClaudeClient, McpServer, Options, PermissionResult, SdkMcpTool, SdkMcpToolOutput,
};

use super::cell::in_a_cell;
use super::world::World;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
}

in_a_cell! {
    async fn a_tool_in_this_process_is_called_by_the_model() {
        let world = World::new().await;
        let options = world.options().sdk_mcp_server(calc()).allowed_tools(["mcp__calc__add"]);
        assert_eq!(ask(options, "ask the server").await, "The server said: 5");
        let tools = world.requests()[0]["tools"].clone();
        let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "mcp__calc__add");
        let schema = &tool.unwrap()["input_schema"];
        assert_eq!(schema["properties"]["a"]["description"], "The first number.");
        assert_eq!(schema["required"], serde_json::json!(["a", "b"]));
    }

    async fn a_tool_in_this_process_needs_permission_like_any_other() {
        let world = World::new().await;
        let options = world
            .options()
            .sdk_mcp_server(calc())
            .can_use_tool(async |request: countersign_claude::ToolRequest| {
                assert_eq!(request.mcp_server.map(|server| server.name).as_deref(), Some("calc"));
                PermissionResult::deny("no sums")
            });
        assert_eq!(ask(options, "ask the server").await, "The server said: no sums");
    }

    async fn a_tool_that_fails_tells_the_model_and_the_session_goes_on() {
        for tool in [
            SdkMcpTool::new("add", "Adds", async |_: Sum, _| SdkMcpToolOutput::error("out of numbers")),
            SdkMcpTool::new("add", "Adds", async |sum: Sum, _| {
                assert_eq!(sum.a, 1, "out of numbers");
                SdkMcpToolOutput::text("?")
            }),
        ] {
            let world = World::new().await;
            let server = McpServer::new("calc", "1.0.0").tool(tool);
            let options = world.options().sdk_mcp_server(server).allowed_tools(["mcp__calc__add"]);
            let client = ClaudeClient::connect(options).await.unwrap();
            let said = client.send("ask the server").unwrap().text().await.unwrap();
            assert!(said.contains("out of numbers") || said.contains("panicked"), "{said}");
            assert_eq!(client.send("say hello").unwrap().text().await.unwrap(), "Hello there.");
        }
    }

    async fn a_server_in_this_process_is_connected() {
        let world = World::new().await;
        let client = ClaudeClient::connect(world.options().sdk_mcp_server(calc())).await.unwrap();
        client.send("say hello").unwrap().text().await.unwrap();
        let servers = client.mcp_status().await.unwrap();
        let states: Vec<_> =
            servers.iter().map(|server| (server.name.as_str(), server.status.as_str())).collect();
        assert_eq!(states, [("calc", "connected")]);
    }
}

fn calc() -> McpServer {
    let add = SdkMcpTool::new("add", "Adds", async |sum: Sum, _| {
        SdkMcpToolOutput::text((sum.a + sum.b).to_string())
    });
    // Else the CLI tells the model of it only when the model searches for tools.
    McpServer::new("calc", "1.0.0").tool(add.meta("anthropic/alwaysLoad", true))
}

async fn ask(options: Options, prompt: &str) -> String {
    let client = ClaudeClient::connect(options).await.unwrap();
    client.send(prompt).unwrap().text().await.unwrap()
}
