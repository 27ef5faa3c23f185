//! Decides on every call in code: reading is fine, `rm -rf` is not.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use countersign_claude::{ClaudeClient, Options, PermissionResult, ToolRequest};

async fn decide(request: ToolRequest) -> PermissionResult {
    println!("may it use {}?", request.tool_name);
    if request.tool_name != "Bash" {
        return PermissionResult::allow();
    }
    let command = request.input.get("command").and_then(|it| it.as_str()).unwrap_or_default();
    if command.contains("rm -rf") {
        return PermissionResult::deny("Dangerous command not allowed");
    }
    // What runs need not be what the model wrote.
    let mut input = request.input.clone();
    input.insert("command".to_owned(), format!("set -e; {command}").into());
    PermissionResult::allow_with(input)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = ClaudeClient::connect(Options::new().can_use_tool(decide)).await?;
    println!("{}", client.send("Make a folder called notes.")?.text().await?);
    println!("{}", client.send("Now remove everything.")?.text().await?);
    client.close().await;
    Ok(())
}
