//! Control while a session runs: permission mode, model, undoing changes to files, interrupting.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use countersign_claude::{ClaudeClient, Message, Options, PermissionMode};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::new().file_checkpointing().include_partial_messages();
    let client = ClaudeClient::connect(options).await?;

    client.set_permission_mode(PermissionMode::AcceptEdits).await?;
    client.set_model(Some("claude-sonnet-4-5")).await?;

    let turn = client.send("Write a haiku to haiku.txt.")?;
    let prompt = turn.uuid().to_owned();
    println!("{}", turn.text().await?);

    // Files go back to how they were when that prompt was sent.
    let undone = client.rewind_files(&prompt).await?;
    println!("undone in {} file, {} lines", undone.files_changed.len(), undone.deletions);

    let mut turn = client.send("Count to a thousand.")?;
    while let Some(message) = turn.next().await {
        if matches!(message?, Message::StreamEvent(piece) if piece.text().is_some()) {
            client.interrupt().await?;
            break;
        }
    }
    println!("stopped: {:?}", turn.result().await?.terminal_reason);
    client.close().await;
    Ok(())
}
