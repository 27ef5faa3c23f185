//! Asks one thing and prints the answer: `cargo run --example one_shot -- "What is 2 + 2?"`.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use countersign_claude::{Message, Options, query};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "What is 2 + 2?".to_owned());
    let mut answers = query(prompt, Options::new()).await?;
    while let Some(message) = answers.next().await {
        if let Message::Assistant(said) = message? {
            println!("{}", said.text());
        }
    }
    Ok(())
}
