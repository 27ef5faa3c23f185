//! What went to the model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ContentBlock, MessageContent, ToolResultBlock};

/// What went to the model: results of tools, and prompts that are replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// What was said.
    pub message: UserMessageBody,
    /// The tool call whose subagent is addressed; `None` for the main conversation.
    #[serde(default)]
    pub parent_tool_use_id: Option<String>,
    /// What the tool gave, in the tool's own structure.
    #[serde(default, alias = "toolUseResult", skip_serializing_if = "Option::is_none")]
    pub tool_use_result: Option<Value>,
    /// What the CLI knows of the results, such as how to show them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_result_meta: Option<Value>,
    /// Whether the CLI made it up.
    #[serde(default, rename = "isSynthetic", skip_serializing_if = "Option::is_none")]
    pub is_synthetic: Option<bool>,
    /// Whether it was said before and is only repeated.
    #[serde(default, rename = "isReplay", skip_serializing_if = "Option::is_none")]
    pub is_replay: Option<bool>,
    /// Who said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<MessageOrigin>,
    /// The subagent that is addressed.
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
    /// Files that came along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_attachments: Option<Value>,
    /// The prompt this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuid: Option<String>,
    /// All prompts this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuids: Option<Vec<String>>,
}

impl UserMessage {
    /// The text in it.
    pub fn text(&self) -> String {
        self.message.content.text()
    }

    /// What calls of tools gave, in order.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResultBlock> {
        self.message.content.blocks().iter().filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some(result),
            _ => None,
        })
    }
}

/// A prompt in the shape of the Messages API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserMessageBody {
    /// `user`.
    #[serde(default)]
    pub role: String,
    /// What was said.
    pub content: MessageContent,
}

/// Who caused a prompt, or the turn that a result ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageOrigin {
    /// What kind of source it was.
    pub kind: MessageOriginKind,
    /// The channel's server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The peer it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The peer's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What produced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<String>,
    /// The run of a task it comes from.
    #[serde(rename = "runId", default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// What exactly caused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subkind: Option<String>,
}

/// What kind of source a prompt has.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MessageOriginKind {
    /// Whoever drives the CLI.
    Human,
    /// A channel.
    Channel,
    /// Another session.
    Peer,
    /// A task in the background that came to its end.
    TaskNotification,
    /// The session that coordinates others.
    Coordinator,
    /// The CLI does not say.
    Unclassified,
    /// A session that looks on.
    Observer,
    /// What a session that looks on did.
    ObserverActivity,
    /// The CLI went on by itself.
    AutoContinuation,
    /// Another word.
    #[serde(untagged)]
    Other(String),
}
