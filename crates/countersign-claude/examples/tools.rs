//! Gives the model tools that are functions of this program.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use countersign_claude::{ClaudeClient, McpServer, Options, SdkMcpTool, SdkMcpToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

/// The model sees this as the tool's schema, with these comments.
#[derive(Deserialize, JsonSchema)]
struct Forecast {
    /// The city, in English.
    city: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let forecast =
        SdkMcpTool::new("forecast", "Tells tomorrow's weather", async |ask: Forecast, _| match ask
            .city
            .as_str()
        {
            "Bergen" => SdkMcpToolOutput::text("rain"),
            other => SdkMcpToolOutput::error(format!("no station in {other}")),
        });
    let server = McpServer::new("weather", "1.0.0").tool(forecast);
    // A tool's full name is made of both; allowed by it, nobody is asked.
    let options = Options::new().sdk_mcp_server(server).allowed_tools(["mcp__weather__forecast"]);

    let client = ClaudeClient::connect(options).await?;
    println!("{}", client.send("How will the weather be in Bergen?")?.text().await?);
    client.close().await;
    Ok(())
}
