//! Lets somebody else decide: what a web server would do with its clients, done with the terminal.
//!
//! The bridge keeps what waits, tells every listener, and denies what nobody decides in time. A web
//! server would send each [`BridgeEvent`] to its browsers as JSON and call `decide` on a click.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Duration;

use countersign_claude::{ApprovalBridge, BridgeEvent, ClaudeClient, Options, PermissionResult};
use tokio::io::{AsyncBufReadExt, BufReader};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bridge = ApprovalBridge::new(Duration::from_mins(5));
    tokio::spawn(ask_on_terminal(bridge.clone()));

    let client = ClaudeClient::connect(Options::new().can_use_tool(bridge)).await?;
    println!("{}", client.send("Make a folder called notes.")?.text().await?);
    client.close().await;
    Ok(())
}

async fn ask_on_terminal(bridge: ApprovalBridge) {
    let mut events = bridge.subscribe();
    let mut answers = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(event) = events.recv().await {
        match event {
            BridgeEvent::Asked(asked) => {
                println!("{} {}? [y/n]", asked.tool_name, serde_json::Value::Object(asked.input));
                let answer = answers.next_line().await.ok().flatten();
                let decision = match answer.as_deref() {
                    Some("y") => PermissionResult::allow(),
                    _ => PermissionResult::deny("The user said no."),
                };
                if let Err(late) = bridge.decide(&asked.id, decision) {
                    println!("{late}");
                }
            }
            BridgeEvent::Settled { outcome, .. } => println!("[{outcome:?}]"),
        }
    }
}
