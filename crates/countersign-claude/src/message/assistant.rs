//! What the model said.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::block::join_text_blocks;
use super::{ApiMessage, ContentBlock, ToolUseBlock};

/// What the model said: one finished block, as a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The answer it is part of.
    pub message: ApiMessage,
    /// The tool call whose subagent speaks; `None` for the main conversation.
    #[serde(default)]
    pub parent_tool_use_id: Option<String>,
    /// What went wrong, if the CLI speaks in the model's place to say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<AssistantError>,
    /// Whether the CLI speaks in the model's place.
    #[serde(default, alias = "isApiErrorMessage", skip_serializing_if = "Option::is_none")]
    pub is_api_error_message: Option<bool>,
    /// The status of the API's answer, if that was the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_error_status: Option<u16>,
    /// What the API calls the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_error_type: Option<String>,
    /// The API's id of the request.
    #[serde(default, alias = "requestId", skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The prompt this answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuid: Option<String>,
    /// All prompts this answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuids: Option<Vec<String>>,
    /// Earlier frames that this one takes the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<Vec<String>>,
    /// Whether it was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aborted: Option<bool>,
    /// The subagent that speaks.
    #[serde(default, alias = "agentId", skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What kind of subagent it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// What the subagent was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_description: Option<String>,
    /// When, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// How full the context is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_usage: Option<Box<Value>>,
    /// What it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_report: Option<Box<Value>>,
    /// What the CLI knows of the tools that are called, such as how to show them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_meta: Option<Box<Value>>,
    /// How long it thought, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_duration_ms: Option<f64>,
    /// Why the model went on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_reason: Option<Box<Value>>,
}

impl AssistantMessage {
    /// Its text blocks, one after the other.
    pub fn text(&self) -> String {
        join_text_blocks(&self.message.content)
    }

    /// The tools the model wants to have called, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUseBlock> {
        self.message.content.iter().filter_map(|block| match block {
            ContentBlock::ToolUse(call) => Some(call),
            _ => None,
        })
    }

    /// Whether this is the CLI that tells of a failure, in the model's place.
    pub fn is_api_error(&self) -> bool {
        self.error.is_some()
            || self.is_api_error_message == Some(true)
            || self.message.model == "<synthetic>"
    }
}

/// What went wrong between the CLI and the API.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AssistantError {
    /// The key or the sign-in was refused.
    AuthenticationFailed,
    /// The organisation does not allow this way of signing in.
    OauthOrgNotAllowed,
    /// The account is on hold.
    AccountOnHold,
    /// The account must be verified first.
    VerificationRequired,
    /// There is no credit.
    BillingError,
    /// Too many requests.
    RateLimit,
    /// The API has too much to do.
    Overloaded,
    /// The API did not accept the request.
    InvalidRequest,
    /// There is no such model.
    ModelNotFound,
    /// The API failed.
    ServerError,
    /// The answer was cut at the limit of tokens.
    MaxOutputTokens,
    /// The cloud's credentials do not work.
    CloudCredentialError,
    /// The CLI does not know.
    Unknown,
    /// Another word.
    #[serde(untagged)]
    Other(String),
}
