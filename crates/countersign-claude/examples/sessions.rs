//! Stored sessions: takes up the last one here, tries something in a copy, and lists them.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]
#![expect(clippy::disallowed_methods, reason = "a program may read its environment")]

use std::path::PathBuf;

use countersign_claude::session::{ForkSessionOptions, ListSessionsOptions, StoredSessions};
use countersign_claude::{ClaudeClient, Options};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let first = ClaudeClient::connect(Options::new()).await?;
    println!("{}", first.send("My name is Ana.")?.text().await?);
    first.close().await;

    let again = ClaudeClient::connect(Options::new().continue_last()).await?;
    println!("{}", again.send("What is my name?")?.text().await?);
    again.close().await;

    let home = PathBuf::from(std::env::var_os("HOME").ok_or("HOME is not set")?);
    let sessions = StoredSessions::from_config_dir(home.join(".claude"));
    let here = ListSessionsOptions::all().directory(std::env::current_dir()?).limit(1);
    let last = sessions.list(&here)?.pop().ok_or("there is no session")?.id.to_string();
    sessions.rename(&last, "Names")?;
    let copy = sessions.fork(&last, &ForkSessionOptions::new().title("Names, tried"))?.to_string();

    let tried = ClaudeClient::connect(Options::new().resume(copy)).await?;
    println!("{}", tried.send("And from now on it is Bo.")?.text().await?);
    tried.close().await;

    for session in sessions.list(&ListSessionsOptions::all())? {
        let messages = sessions.messages(&session.id.to_string())?;
        println!("{}: {} messages", session.summary, messages.len());
    }
    Ok(())
}
