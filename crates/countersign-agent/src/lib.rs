//! Runs a conversation and sends every tool call through the gate. Also the library face.
//!
//! From the bottom up:
//! - [`message`]: what was said, in the shape of the Messages API, replayed as it came.
//! - [`model`]: the seam to a language model. One request in, a stream of [`StreamEvent`]s out.
//! - [`reply`]: puts the events of one answer together. Pure.
//! - [`respond()`]: one answer with retries; interrupted by dropping it.
//! - `turn`: one answer; `call`: each of its calls taken through the gate; `rehearsing`: tried out while
//!   it waits; `execution`: run on its permit. `consent` says who is asked.
//! - [`Runner`]: a prompt to its end, turn by turn, recorded so that it can go on later; `resume`:
//!   how it does when its driver is gone.
//! - [`ClaudeCode`]: the same on the Claude Code CLI, which holds the conversation itself.
//! - [`Agent`]: the library face, on a gate of its own.
//! - [`scripted`]: a model that plays a scenario, in-process or as a server on loopback.
//!
//! To put an agent into a program, read `docs/guide/library.md`: its code is compiled and run as the
//! doctests of this crate.

mod agent;
mod anthropic;
mod call;
mod claude_code;
mod consent;
mod elsewhere;
mod execution;
mod keeping;
pub mod message;
pub mod model;
mod notes;
mod outcome;
mod pairing;
mod rehearsing;
pub mod reply;
mod respond;
mod resume;
mod runner;
pub mod scripted;
mod settings;
mod stop;
mod task;
mod turn;

pub use agent::{Agent, AgentEvent, AgentOptions, Events};
pub use anthropic::{Anthropic, BASE_URL, Connection};
pub use claude_code::{
    ApprovalHandler, Asker, ClaudeCode, ClaudeConfig, ClaudeRun, ClaudeSetup, Planners,
};
pub use consent::{Callback, Consent, ToolApprovalRequest};
pub use keeping::Keeping;
pub use message::{Block, Message, Role, ToolResult, ToolUse};
pub use model::{
    EventStream, Model, ModelError, Request, StopReason, StreamEvent, ToolSpec, Usage,
};
pub use reply::{Draft, Reply};
pub use respond::{Observer, Progress, Retries, respond};
pub use resume::ResumeError;
pub use runner::{BeginError, Prompt, Run, Runner, RunnerConfig, Signals};
pub use scripted::{Scenario, ScriptedModel};
pub use settings::RunSettings;

/// The code in the guide is true: each block is a doctest.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/library.md")]
struct Guide;
