//! A conversation: a person types prompts, and is asked before a file or the machine changes (S5.2).
//!
//! `cargo run -p countersign-agent --example conversation` plays a script, offline.
//! `cargo run -p countersign-agent --example conversation -- KEY_FILE` asks the real model.

#![expect(clippy::print_stdout, reason = "an example talks on the terminal")]

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

use countersign_agent::{
    Agent, AgentEvent, AgentOptions, AnthropicConnection, AnthropicModel, ApprovalCallback, Model,
    RunnerConfig, Scenario, ScriptedModel,
};
use countersign_gate::SystemClock;
use countersign_tools::{Environment, Toolbox, Workspace};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let workspace = Workspace::new([folder.path().to_owned()])?;
    let tools = Toolbox::coding(&workspace, Environment::default());
    let options = AgentOptions {
        auto_approve: false,
        on_tool_approval: Some(ApprovalCallback::new(async |request| {
            let question = format!("run {} {}? [y/n] ", request.tool_name, request.params);
            // Waiting for a person blocks, so it goes to a thread of its own.
            let answer = tokio::task::spawn_blocking(move || ask(&question)).await;
            matches!(answer, Ok(Some(answer)) if answer == "y")
        })),
        ..AgentOptions::new(RunnerConfig::new(folder.path()), tools)
    };
    let agent = Agent::new(model()?, options)?;

    while let Some(prompt) = tokio::task::spawn_blocking(|| ask("you> ")).await? {
        let mut events = agent.go_on(&prompt).await?;
        while let Some(event) = events.next().await {
            match event {
                AgentEvent::Text(text) => println!("model> {text}"),
                AgentEvent::ToolResult { content, .. } => println!("tool> {}", content.trim()),
                AgentEvent::Failed { message, .. } => println!("failed> {message}"),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Asks for one line; none if there is nobody who could type it, or nothing was typed.
///
/// Holds the terminal while it asks: the calls of one answer are asked for at the same time.
fn ask(question: &str) -> Option<String> {
    let mut terminal = io::stdin().lock();
    print!("{question}");
    io::stdout().flush().ok()?;
    let mut line = String::new();
    terminal.read_line(&mut line).ok()?;
    Some(line.trim().to_owned()).filter(|line| !line.is_empty())
}

fn model() -> Result<Arc<dyn Model>, Box<dyn Error>> {
    if let Some(file) = std::env::args().nth(1) {
        let key = Some(std::fs::read_to_string(file)?.into());
        return Ok(Arc::new(AnthropicModel::new(AnthropicConnection {
            key,
            ..AnthropicConnection::default()
        })?));
    }
    let scenario = Scenario::parse(
        r#"
        [[script]]
        prompt = 'read'
        [[script.turn]]
        call = { tool = "Read", input = { file_path = "note.txt" } }
        [[script.turn]]
        say = "That is what it says."
        [[script]]
        [[script.turn]]
        say = "I'll write that down."
        call = { tool = "Write", input = { file_path = "note.txt", content = "{{prompt}}" } }
        [[script.turn]]
        [[script.turn.either]]
        when = { result = '^User rejected' }
        say = "All right, I leave it."
        [[script.turn.either]]
        say = "Done. Say `read` to see it."
        "#,
    )?;
    Ok(Arc::new(ScriptedModel::new(scenario, Arc::new(SystemClock))))
}
