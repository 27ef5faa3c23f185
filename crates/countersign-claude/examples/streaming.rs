//! Prints an answer while it is made.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::io::Write;

use countersign_claude::{Message, Options, query};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::new().include_partial_messages();
    let mut answers = query("Tell me a story.", options).await?;
    while let Some(message) = answers.next().await {
        match message? {
            Message::StreamEvent(piece) => {
                print!("{}", piece.text().unwrap_or_default());
                std::io::stdout().flush()?;
            }
            Message::Result(result) => println!("\n[{} ms]", result.duration_ms),
            // The same text comes once more, whole, as an assistant message.
            _ => {}
        }
    }
    Ok(())
}
