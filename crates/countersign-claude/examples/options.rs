//! Most of what can be set, and who is asked about which tool.
//!
//! | tool | what happens |
//! | --- | --- |
//! | in `allowed_tools` | it runs, nobody is asked |
//! | in neither list | the callback decides |
//! | in `disallowed_tools` | the model does not have it at all |
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Duration;

use countersign_claude::{
    AgentDefinition, ClaudeClient, Options, PermissionMode, PermissionResult, SystemPrompt,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::new()
        // tools
        .tools(["Read", "Write", "Bash", "Task"])
        .allowed_tools(["Read", "Task"])
        .disallowed_tools(["Bash(rm -rf:*)", "Bash(sudo:*)"])
        // permissions
        .permission_mode(PermissionMode::Default)
        .can_use_tool(async |request: countersign_claude::ToolRequest| {
            println!("asked about {}", request.tool_name);
            PermissionResult::allow()
        })
        .permission_deadline(Duration::from_mins(2))
        // model
        .model("claude-opus-4-5")
        .fallback_model("claude-sonnet-4-5")
        .max_turns(10)
        .system_prompt(SystemPrompt::claude_code())
        .subagent("reviewer", AgentDefinition::new("Reviews code", "You review code."))
        // place
        .cwd(".")
        .add_dir("/tmp")
        .env("GREETING", "hello")
        // for what this version has no name
        .extra_arg("debug-to-stderr", None);

    let client = ClaudeClient::connect(options).await?;
    let result = client.send("Write a note to note.txt.")?.result().await?;
    println!("{}", result.result.as_deref().unwrap_or_default());
    println!("{} turns, {}", result.num_turns, result.cost().unwrap_or_default());
    client.close().await;
    Ok(())
}
