//! Who made a call.

use countersign_core::{Executor, ToolCall};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Who made a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallOrigin {
    /// Our own agent, which runs its tools here.
    Agent,
    /// Our own agent, whose tools a client runs.
    Client,
    /// Another program, which runs the call itself.
    Api,
    /// The Claude Code CLI, which runs its own tools.
    ClaudeCli,
}

impl CallOrigin {
    pub fn from_call(call: &ToolCall) -> Self {
        call.executor.into()
    }
}

impl From<Executor> for CallOrigin {
    fn from(executor: Executor) -> Self {
        match executor {
            Executor::Local => Self::Agent,
            Executor::Client => Self::Client,
            Executor::Caller => Self::Api,
            Executor::ClaudeCli => Self::ClaudeCli,
        }
    }
}
