//! Runs a conversation and sends every tool call through the gate. Also the library face.
//!
//! From the bottom up:
//! - [`message`]: what was said, in the shape of the Messages API, replayed as it came.
//! - [`model`]: the seam to a language model. One request in, a stream of [`ModelStreamEvent`]s out.
//! - [`reply`]: puts the events of one answer together. Pure.
//! - [`ask_model()`]: one answer with retries; interrupted by dropping it.
//! - `turn`: one answer; `call`: each of its calls taken through the gate; `rehearsing`: tried out while
//!   it waits; `execution`: run on its permit. `consent` says who is asked.
//! - [`Runner`]: a prompt to its end, turn by turn, recorded so that it can go on later; `resume`:
//!   how it does when its driver is gone.
//! - [`ClaudeCode`]: the same on the Claude Code CLI, which holds the conversation itself.
//! - [`Agent`]: the library face, on a gate of its own.
//! - [`scripted`]: a model that plays a scenario, in-process or as a server on loopback.
//!
//! An agent in memory with a [`Model`] of its own needs no Cargo feature; none is on by itself:
//!
//! - `anthropic`: [`AnthropicModel`], the Messages API over HTTPS.
//! - `scripted-model`: [`scripted`], for tests and demonstrations.
//! - `claude-code`: [`ClaudeCode`].
//! - `git`, `mcp`, `sandbox`, `web`: those of `countersign-tools`.
//! - `postgres`, `nats`: those of `countersign-gate`.
//!
//! To put an agent into a program, read `docs/guide/library.md`: its code is compiled and run as the
//! doctests of this crate.

mod agent;
mod agent_event_json;
mod answer_outcome;
#[cfg(feature = "anthropic")]
mod anthropic;
mod ask_model;
mod backup;
mod call;
mod call_error;
#[cfg(feature = "claude-code")]
mod claude_code;
mod consent;
pub mod message;
pub mod model;
mod rehearsal;
mod remote;
pub mod reply;
mod result_pairing;
mod resume;
mod run_settings;
mod runner;
mod runner_config;
#[cfg(feature = "scripted-model")]
pub mod scripted;
mod stop;
mod task;
mod todo_events;
mod tool_run;
mod turn;
mod turn_call_driver;

pub use agent::{Agent, AgentEvent, AgentEventStream, AgentOptions};
#[cfg(feature = "anthropic")]
pub use anthropic::{AnthropicConnection, AnthropicModel, BASE_URL};
pub use ask_model::{AnswerProgress, ProgressObserver, RetrySettings, ask_model};
pub use backup::BackupSession;
#[cfg(feature = "claude-code")]
pub use claude_code::{
    ApprovalHandler, ClaudeCallOrigin, ClaudeCode, ClaudeConfig, ClaudeRun, ClaudeSetup,
    PlannerLookup,
};
pub use consent::{ApprovalCallback, ConsentSource, ToolApprovalRequest};
pub use message::{MessageBlock, MessageRole, MessageToolResult, MessageToolUse, ModelMessage};
pub use model::{
    AnswerStopReason, AnswerUsage, Model, ModelError, ModelEventStream, ModelRequest,
    ModelStreamEvent, ToolSpec,
};
pub use reply::{ModelReply, ReplyDraft};
pub use resume::ResumeError;
pub use run_settings::RunSettings;
pub use runner::{AgentRun, BeginError, RunPrompt, RunSignals, Runner};
pub use runner_config::RunnerConfig;
#[cfg(feature = "scripted-model")]
pub use scripted::{Scenario, ScriptedModel};

/// The code in the guide is true: each block is a doctest.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/library.md")]
struct Guide;
