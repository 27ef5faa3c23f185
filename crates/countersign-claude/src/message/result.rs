//! How a turn ended.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ApiUsage, MessageOrigin, MessageOriginKind, StopReason, format_cost};

/// How a turn ended.
///
/// A failed request to the API is `subtype: success` with `is_error` set and the failure's text in
/// `result`: go by [`ResultMessage::is_error`], not by the subtype.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResultMessage {
    /// What the CLI calls it.
    pub subtype: ResultSubtype,
    /// Whether it failed.
    pub is_error: bool,
    /// The last thing the model said, or what failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// From the prompt to here, in milliseconds.
    pub duration_ms: u64,
    /// Of it, spent waiting for the API.
    pub duration_api_ms: u64,
    /// Rounds with the model.
    pub num_turns: u64,
    /// Why the model's last answer ended.
    pub stop_reason: Option<StopReason>,
    /// What the whole session cost up to here.
    pub total_cost_usd: Option<f64>,
    /// Tokens of this turn, without subagents.
    pub usage: Option<ApiUsage>,
    /// Tokens and costs of the whole session by model.
    #[serde(rename = "modelUsage")]
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// The same since the result before this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_usage_since_last_result: Option<BTreeMap<String, ModelUsage>>,
    /// Calls that were not allowed.
    pub permission_denials: Vec<PermissionDenial>,
    /// The answer in the asked-for schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<Value>,
    /// A call that a hook put off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deferred_tool_use: Option<DeferredToolUse>,
    /// The status of the API's answer, if that was the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_error_status: Option<u16>,
    /// What the API calls the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_error_type: Option<String>,
    /// Why the turn ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal_reason: Option<TerminalReason>,
    /// Why the session could not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub startup_failure_reason: Option<String>,
    /// The file with settings that could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid_config_file: Option<Value>,
    /// Prompts that wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued_turn_count: Option<u64>,
    /// The how-manieth result of the session it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_index: Option<u64>,
    /// What caused the turn; absent for the caller's own prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<MessageOrigin>,
    /// The prompt this ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_message_uuid: Option<String>,
    /// All prompts this ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_message_uuids: Option<Vec<String>>,
    /// Until the first token, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_ms: Option<f64>,
    /// Until the first token was passed on, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_stream_ms: Option<f64>,
    /// Until the request was sent, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_to_request_ms: Option<f64>,
    /// Whether a slash command answered, and not the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_command: Option<Value>,
    /// Subagents of the session, counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_stats: Option<Value>,
    /// Whether the fast mode was on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_mode_state: Option<String>,
}

impl ResultMessage {
    /// Whether it ends a turn that the caller's own prompt began.
    ///
    /// A session also takes turns nobody asked for, such as when a task in the background is done;
    /// each has its own result.
    pub fn answers_the_caller(&self) -> bool {
        self.origin.as_ref().is_none_or(|origin| origin.kind == MessageOriginKind::Human)
    }

    /// What the session cost up to here, as people read it; `None` if the CLI does not say.
    pub fn cost(&self) -> Option<String> {
        self.total_cost_usd.map(format_cost)
    }

    /// What went wrong, in the most telling words there are; `None` if nothing did.
    pub fn failure(&self) -> Option<String> {
        if !self.is_error {
            return None;
        }
        let said = || self.result.clone().filter(|text| !text.is_empty());
        let status = || self.api_error_status.map(|status| format!("the API answered {status}"));
        let errors = (!self.errors.is_empty()).then(|| self.errors.join("; "));
        errors.or_else(said).or_else(status).or_else(|| Some(self.subtype.as_str().to_owned()))
    }
}

/// What the CLI calls an end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResultSubtype {
    /// The turn came to its end; that may be a failure of the API.
    #[default]
    Success,
    /// The turn was broken off, by a failure or an interrupt.
    ErrorDuringExecution,
    /// The limit of rounds was reached.
    ErrorMaxTurns,
    /// The limit of costs was reached.
    ErrorMaxBudgetUsd,
    /// The model did not keep to the schema.
    ErrorMaxStructuredOutputRetries,
    /// Another word.
    #[serde(untagged)]
    Other(String),
}

impl ResultSubtype {
    /// The word on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Success => "success",
            Self::ErrorDuringExecution => "error_during_execution",
            Self::ErrorMaxTurns => "error_max_turns",
            Self::ErrorMaxBudgetUsd => "error_max_budget_usd",
            Self::ErrorMaxStructuredOutputRetries => "error_max_structured_output_retries",
            Self::Other(word) => word,
        }
    }
}

/// Why a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TerminalReason {
    /// The model was done.
    Completed,
    /// The limit of rounds was reached.
    MaxTurns,
    /// The limit of costs was reached.
    BudgetExhausted,
    /// The API failed.
    ApiError,
    /// The model failed.
    ModelError,
    /// The prompt is longer than the context.
    PromptTooLong,
    /// A picture was not accepted.
    ImageError,
    /// A limit of the account was reached.
    BlockingLimit,
    /// The context filled up again at once after each compaction.
    RapidRefillBreaker,
    /// The model called tools in a form that nobody could read, again and again.
    MalformedToolUseExhausted,
    /// Interrupted while the model answered.
    AbortedStreaming,
    /// Interrupted while tools ran.
    AbortedTools,
    /// A hook kept the turn from ending.
    StopHookPrevented,
    /// A hook ended it.
    HookStopped,
    /// A hook put a call off.
    ToolDeferred,
    /// A hook put a call off that cannot be.
    ToolDeferredUnavailable,
    /// It goes on in the background.
    BackgroundRequested,
    /// The model did not keep to the schema.
    StructuredOutputRetryExhausted,
    /// The turn could not be set up.
    TurnSetupFailed,
    /// Another word.
    #[serde(untagged)]
    Other(String),
}

/// Tokens and costs of one model in the whole session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ModelUsage {
    /// Read anew.
    pub input_tokens: u64,
    /// Written.
    pub output_tokens: u64,
    /// Read from the prompt cache.
    pub cache_read_input_tokens: u64,
    /// Put into the prompt cache.
    pub cache_creation_input_tokens: u64,
    /// Searches.
    pub web_search_requests: u64,
    /// Thought, among what was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_tokens: Option<u64>,
    /// Put into the prompt cache for five minutes.
    #[serde(rename = "cacheCreationEphemeral5mInputTokens")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_5m_input_tokens: Option<u64>,
    /// Put into the prompt cache for an hour.
    #[serde(rename = "cacheCreationEphemeral1hInputTokens")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_1h_input_tokens: Option<u64>,
    /// By which prices the cost is reckoned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_basis: Option<String>,
    /// What it cost.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// How much fits into its context.
    pub context_window: u64,
    /// How much it writes at most.
    pub max_output_tokens: u64,
    /// The model's canonical name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canonical_model: Option<String>,
    /// Who serves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

/// A call that was not allowed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PermissionDenial {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: String,
    /// What it was called with.
    pub tool_input: Value,
}

/// A call that a hook put off.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeferredToolUse {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it was called with.
    pub input: Value,
}
