//! A heartbeat: nobody is there, so everything runs (S5.2).
//!
//! `cargo run -p countersign-agent --example heartbeat` plays a script, offline.
//! `cargo run -p countersign-agent --example heartbeat -- KEY_FILE` asks the real model.

#![expect(clippy::print_stdout, reason = "an example shows what happens on the terminal")]

use std::error::Error;
use std::sync::Arc;

use countersign_agent::{
    Agent, AgentEvent, AgentOptions, AnthropicConnection, AnthropicModel, Model, RunnerConfig,
    Scenario, ScriptedModel,
};
use countersign_gate::SystemClock;
use countersign_tools::{Environment, Toolbox, Workspace};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("todo.txt"), "[x] buy milk\n[ ] water the plants\n")?;

    let workspace = Workspace::new([folder.path().to_owned()])?;
    let path = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    let tools = Toolbox::coding(&workspace, Environment::from(vec![path]));
    let options = AgentOptions::new(RunnerConfig::new(folder.path()), tools);
    let agent = Agent::new(model()?, options)?;

    let mut events = agent.run("Write what is open in todo.txt to open.txt.").await?;
    while let Some(event) = events.next().await {
        match event {
            AgentEvent::Text(text) => println!("model: {text}"),
            AgentEvent::ToolUse { tool_name, params, .. } => {
                println!("tool:  {tool_name} {params}");
            }
            AgentEvent::Failed { message, .. } => return Err(message.into()),
            AgentEvent::Done { usage } => println!("done:  {} tokens", usage.output_tokens),
            _ => {}
        }
    }
    println!("open.txt: {}", std::fs::read_to_string(folder.path().join("open.txt"))?);
    Ok(())
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
        [[script.turn]]
        say = "I'll see what is open."
        call = { tool = "Grep", input = { pattern = '\[ \]', path = "todo.txt", output_mode = "content" } }
        [[script.turn]]
        call = { tool = "Bash", input = { command = "grep -F '[ ]' todo.txt > open.txt" } }
        [[script.turn]]
        say = "One thing is open; open.txt has it."
        "#,
    )?;
    Ok(Arc::new(ScriptedModel::new(scenario, Arc::new(SystemClock))))
}
