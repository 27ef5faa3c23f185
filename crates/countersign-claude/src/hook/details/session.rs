//! What a hook is told about the session, its turns and its model.

use serde::Deserialize;
use serde_json::Value;

use super::or_default;

/// A prompt was given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct UserPromptSubmitHookInput {
    /// The prompt.
    pub prompt: String,
    /// Who gave it.
    #[serde(default)]
    pub source: Option<String>,
    /// The session's title.
    #[serde(default)]
    pub session_title: Option<String>,
}

/// A slash command was expanded into a prompt.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct UserPromptExpansionHookInput {
    /// What was expanded.
    pub expansion_type: String,
    /// The command.
    pub command_name: String,
    /// What followed it.
    pub command_args: String,
    /// Where the command is from.
    #[serde(default)]
    pub command_source: Option<String>,
    /// What it became.
    pub prompt: String,
}

/// A session starts, or starts again.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SessionStartHookInput {
    /// `startup`, `resume`, `clear`, `compact` or `fork`.
    pub source: String,
    /// The model.
    #[serde(default)]
    pub model: Option<String>,
    /// The session's title.
    #[serde(default)]
    pub session_title: Option<String>,
    /// How full the context is.
    #[serde(default)]
    pub context_tokens: Option<u64>,
}

/// A session ends.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SessionEndHookInput {
    /// Why.
    pub reason: String,
}

/// The CLI sets itself up.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SetupHookInput {
    /// `init` or `maintenance`.
    pub trigger: String,
}

/// The model is done.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StopHookInput {
    /// Whether a stop hook made it go on before: blocking again may never end.
    #[serde(default, deserialize_with = "or_default")]
    pub stop_hook_active: bool,
    /// The last answer.
    #[serde(default)]
    pub last_assistant_message: Option<String>,
    /// What still runs.
    #[serde(default, deserialize_with = "or_default")]
    pub background_tasks: Vec<Value>,
    /// What runs by the clock.
    #[serde(default, deserialize_with = "or_default")]
    pub session_crons: Vec<Value>,
}

/// A turn ended with an error of the API.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StopFailureHookInput {
    /// The error.
    #[serde(default)]
    pub error: Value,
    /// More on it.
    #[serde(default)]
    pub error_details: Option<Value>,
    /// The last answer.
    #[serde(default)]
    pub last_assistant_message: Option<String>,
}

/// The conversation is about to be compacted.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PreCompactHookInput {
    /// `manual` or `auto`.
    pub trigger: String,
    /// What the user asked to keep.
    #[serde(default)]
    pub custom_instructions: Option<String>,
}

/// The conversation was compacted.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PostCompactHookInput {
    /// `manual` or `auto`.
    pub trigger: String,
    /// What is left.
    #[serde(default)]
    pub compact_summary: Option<String>,
}

/// The model is about to change, or has changed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ModelSwitchHookInput {
    /// The old model.
    #[serde(default)]
    pub from_model: Option<String>,
    /// The new model.
    #[serde(default)]
    pub to_model: Option<String>,
    /// What was asked for.
    #[serde(default)]
    pub requested_model: Option<String>,
    /// Who asked.
    #[serde(default)]
    pub source: Option<String>,
    /// How full the context is.
    #[serde(default)]
    pub context_tokens: Option<u64>,
}

/// The CLI has something to say to the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct NotificationHookInput {
    /// What it says.
    pub message: String,
    /// Its headline.
    #[serde(default)]
    pub title: Option<String>,
    /// Its kind.
    #[serde(default)]
    pub notification_type: Option<String>,
}

/// A piece of an answer is about to be shown.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct MessageDisplayHookInput {
    /// The turn.
    #[serde(default)]
    pub turn_id: Option<String>,
    /// The message.
    #[serde(default)]
    pub message_id: Option<String>,
    /// Which piece.
    #[serde(default)]
    pub index: Option<u64>,
    /// Whether it is the last piece.
    #[serde(rename = "final", default)]
    pub is_final: Option<bool>,
    /// The piece.
    #[serde(default)]
    pub delta: Option<String>,
}
