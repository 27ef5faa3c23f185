//! The smallest agent in a program: records in memory, and a model of the program's own.
//!
//! Its tests show what a build without features refuses, in what words.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_agent::{
    Agent, AgentEvent, AgentOptions, Model, ModelError, ModelEventStream, ModelRequest,
    ModelStreamEvent, RunnerConfig,
};
use countersign_tools::{Environment, Toolbox, Workspace};

/// A model that looks at a file and says that it did. Yours asks whom you like.
struct LookingModel;

/// What it answers first, in the events of the Messages API: a call.
const CALL: &[&str] = &[
    r#"{"type":"message_start","message":{}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"note.txt"}}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
    r#"{"type":"message_stop"}"#,
];

/// And when it has seen the result: a text.
const TEXT: &[&str] = &[
    r#"{"type":"message_start","message":{}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"I have read it."}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
    r#"{"type":"message_stop"}"#,
];

#[async_trait]
impl Model for LookingModel {
    fn name(&self) -> &str {
        "looking"
    }

    async fn stream(&self, request: &ModelRequest) -> Result<ModelEventStream, ModelError> {
        let answer = if request.messages.len() < 2 { CALL } else { TEXT };
        let events = answer.iter().map(|event| ModelStreamEvent::parse(event));
        Ok(Box::pin(futures_util::stream::iter(events.collect::<Vec<_>>())))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("embedded-agent-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("note.txt"), "water the plants\n")?;
    let workspace = Workspace::new([folder.clone()])?;
    let tools = Toolbox::coding(&workspace, Environment::default());
    let options = AgentOptions::new(RunnerConfig::new(&folder), tools);
    let agent = Agent::new(Arc::new(LookingModel), options)?;
    let mut events = agent.run("What is in note.txt?").await?;
    while let Some(event) = events.next().await {
        match event {
            AgentEvent::Text(text) => println!("model: {text}"),
            AgentEvent::ToolResult { content, .. } => println!("tool:  {content}"),
            AgentEvent::Failed { message, .. } => return Err(message.into()),
            _ => {}
        }
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use countersign_gate::{Gate, GateSettings, Rulebook, SystemClock};
    use countersign_tools::{IsolationLevel, Sandbox, SandboxSetup, enter};

    use super::*;

    #[test]
    fn an_agent_needs_no_feature() {
        main().unwrap();
    }

    #[tokio::test]
    async fn postgresql_and_nats_are_refused_by_name() {
        let folder = std::env::temp_dir().join(format!("embedded-gate-{}", std::process::id()));
        let file = format!("sqlite:{}", folder.join("db").display());
        for (database, bus, refusal) in [
            (
                "postgres://ana@localhost/x",
                None,
                "this build has no PostgreSQL; build it with the feature `postgres`",
            ),
            (
                &file,
                Some("nats://localhost"),
                "this build has no NATS; build it with the feature `nats`",
            ),
        ] {
            let settings = GateSettings {
                bus: bus.map(str::to_owned),
                ..GateSettings::for_database(database.parse().unwrap())
            };
            let opened =
                Gate::open(settings, Arc::new(SystemClock), Arc::new(Rulebook::none())).await;
            assert_eq!(opened.map(drop).unwrap_err().to_string(), refusal);
        }
        let _ = std::fs::remove_dir_all(folder);
    }

    #[tokio::test]
    async fn no_sandbox_is_said_to_be_none_and_starts_nothing() {
        let why = "this build has no sandbox; build it with the feature `sandbox`";
        let launcher = vec!["/bin/true".to_owned()];
        let setup = SandboxSetup::new(launcher, std::env::temp_dir().join("embedded-sandbox"));
        let sandbox = Sandbox::probe(setup).await;
        assert_eq!((sandbox.level(), sandbox.why()), (IsolationLevel::None, Some(why)));
        let refused = enter(&["{}".into(), "/bin/true".into()]).unwrap_err();
        assert_eq!(refused.to_string(), why);
    }
}
