//! A conversation: each line that is typed is a prompt, and the answer is printed.
#![expect(clippy::print_stdout, reason = "it is a program of its own")]

use std::error::Error;

use countersign_claude::{ClaudeClient, Message, Options};
use tokio::io::{AsyncBufReadExt, BufReader};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::new().allowed_tools(["Read", "Glob", "Grep"]);
    let client = ClaudeClient::connect(options).await?;
    let mut typed = BufReader::new(tokio::io::stdin()).lines();
    let mut prompt = Some("What files are here?".to_owned());
    while let Some(text) = prompt {
        let mut turn = client.send(text)?;
        while let Some(message) = turn.next().await {
            match message? {
                Message::Assistant(said) => println!("{}", said.text()),
                Message::Result(result) => println!("{}", result.cost().unwrap_or_default()),
                _ => {}
            }
        }
        prompt = typed.next_line().await?;
    }
    client.close().await;
    Ok(())
}
