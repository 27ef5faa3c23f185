//! Hooks see every call, also those that nobody is asked about: an audit, and a check of commands.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use countersign_claude::{ClaudeClient, HookEvent, HookMatcher, Options};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let audit = HookMatcher::logging(HookEvent::PreToolUse, |input| {
        if let Some((tool, _)) = input.tool() {
            println!("[AUDIT] Tool: {tool}");
        }
    });
    let no_sudo = HookMatcher::validation(|_tool, input| {
        let command = input.get("command").and_then(|it| it.as_str()).unwrap_or_default();
        if command.contains("sudo") { Err("sudo not allowed".to_owned()) } else { Ok(()) }
    });
    let options = Options::new()
        .allowed_tools(["Bash"])
        .hook(audit.matching("*"))
        .hook(no_sudo.matching("Bash"))
        .hook(HookMatcher::deny_tools(["WebFetch"]));

    let client = ClaudeClient::connect(options).await?;
    println!("{}", client.send("Say hello in the shell.")?.text().await?);
    println!("{}", client.send("Now as root.")?.text().await?);
    client.close().await;
    Ok(())
}
