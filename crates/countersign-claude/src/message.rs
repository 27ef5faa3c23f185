//! What the CLI says: one JSON object per line, typed where this version knows it, kept whole where
//! it does not.
//!
//! Nothing is lost on the way in. A [`MessageFrame`] keeps the line beside what was read from it, a type, a
//! subtype, a block or a word that this version does not know becomes an `Unknown` or an `Other`
//! that holds it, and a known message with a surprising field is still that message, without that
//! field ([`MessageFrame::unexpected_fields`] names it). The CLI gains fields and messages with every release; a
//! program that merely forwards them can use [`Message::raw`].

mod api;
mod assistant;
mod block;
mod cost;
mod fault;
mod frame;
mod notice;
mod result;
mod stream;
mod system;
mod user;

#[cfg(test)]
mod tests;

use serde::{Serialize, Serializer};
use serde_json::Value;

pub use api::{ApiMessage, ApiUsage, CacheCreation, ServerToolUsage, StopReason};
pub use assistant::{AssistantError, AssistantMessage};
pub use block::{
    ContentBlock, MediaBlock, MessageContent, RedactedThinkingBlock, ServerToolUseBlock, TextBlock,
    ThinkingBlock, ToolResultBlock, ToolUseBlock,
};
pub use cost::format_cost;
pub use fault::KnownFault;
pub use frame::{MessageFrame, MessageParseError, UnknownMessage};
pub use notice::{
    AuthStatus, CommandLifecycle, CommandState, ConversationReset, PromptSuggestion,
    RateLimitEvent, RateLimitInfo, RateLimitStatus, ToolProgress, ToolUseSummary,
};
pub use result::{
    DeferredToolUse, ModelUsage, PermissionDenial, ResultMessage, ResultSubtype, TerminalReason,
};
pub use stream::{
    ApiStreamEvent, ContentBlockDelta, ContentBlockStart, ContentBlockStop, ContentDelta,
    MessageDelta, MessageStart, StreamEvent,
};
pub use system::{
    ApiRetryMessage, BackgroundTasksChangedMessage, CompactBoundaryMessage, CompactMetadata,
    HookProgressMessage, HookResponseMessage, HookStartedMessage, InitMcpServer, InitMessage,
    ModelRefusalMessage, PermissionDeniedMessage, PluginInfo, SessionState,
    SessionStateChangedMessage, SessionTitleChangedMessage, StatusMessage, SystemMessage,
    TaskNotificationMessage, TaskPatch, TaskProgressMessage, TaskStartedMessage, TaskStatus,
    TaskUpdatedMessage, TaskUsage, ThinkingTokensMessage,
};
pub use user::{MessageOrigin, MessageOriginKind, UserMessage, UserMessageBody};

use frame::MessageLine;

/// One message from the CLI.
///
/// Match on it for what a program cares about and let the rest pass: a new release of the CLI may
/// send any of them, at any time, and more than there are here.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Message {
    /// What went to the model: results of tools, and prompts that are replayed.
    User(MessageFrame<UserMessage>),
    /// What the model said: one frame for each finished block, several share one `message.id`.
    Assistant(MessageFrame<AssistantMessage>),
    /// Something about the session: its start, tasks, hooks, state.
    System(MessageFrame<SystemMessage>),
    /// A turn is over. Not necessarily the caller's: see [`ResultMessage::answers_the_caller`].
    Result(MessageFrame<ResultMessage>),
    /// A piece of an answer while it is made; only with partial messages on.
    StreamEvent(MessageFrame<StreamEvent>),
    /// How much of the subscription's allowance is used.
    RateLimit(MessageFrame<RateLimitEvent>),
    /// The conversation starts anew under another id; totals restart too.
    ConversationReset(MessageFrame<ConversationReset>),
    /// How far a prompt has come, by the `uuid` its sender gave it.
    CommandLifecycle(MessageFrame<CommandLifecycle>),
    /// A tool is still at work.
    ToolProgress(MessageFrame<ToolProgress>),
    /// What a few tool calls did, in a sentence.
    ToolUseSummary(MessageFrame<ToolUseSummary>),
    /// What the user may want to say next; comes after the result.
    PromptSuggestion(MessageFrame<PromptSuggestion>),
    /// How the sign-in goes.
    AuthStatus(MessageFrame<AuthStatus>),
    /// Anything else, as it came.
    Unknown(UnknownMessage),
}

impl Message {
    /// Reads one line.
    ///
    /// It fails only for what is no JSON object; every object is a message, if need be an unknown
    /// one.
    pub fn parse(line: &str) -> Result<Self, MessageParseError> {
        Self::read(MessageLine::new(line.trim()))
    }

    /// Reads one line and keeps it: [`parse`](Self::parse) without a copy.
    pub fn from_line(line: String) -> Result<Self, MessageParseError> {
        if line.starts_with('{') && line.ends_with('}') {
            Self::read(MessageLine::new(line))
        } else {
            Self::parse(&line)
        }
    }

    fn read(line: MessageLine) -> Result<Self, MessageParseError> {
        let kind = match line.peek_kind() {
            Some(kind) => kind.to_owned(),
            None => line.parse_header()?.kind.clone(),
        };
        let message = Self::from_kind(&kind, line);
        // What could be read is an object; of the rest nothing is known yet.
        if let Self::Unknown(unknown) = &message {
            unknown.line().parse_header()?;
        }
        Ok(message)
    }

    fn from_kind(kind: &str, line: MessageLine) -> Self {
        match kind {
            "user" => MessageFrame::read(line).map_or_else(Self::Unknown, Self::User),
            "assistant" => MessageFrame::read(line).map_or_else(Self::Unknown, Self::Assistant),
            "system" => system::read(line).map_or_else(Self::Unknown, Self::System),
            "result" => MessageFrame::read(line).map_or_else(Self::Unknown, Self::Result),
            "stream_event" => {
                MessageFrame::read(line).map_or_else(Self::Unknown, Self::StreamEvent)
            }
            "rate_limit_event" => {
                MessageFrame::read(line).map_or_else(Self::Unknown, Self::RateLimit)
            }
            "conversation_reset" => {
                MessageFrame::read(line).map_or_else(Self::Unknown, Self::ConversationReset)
            }
            "command_lifecycle" => {
                MessageFrame::read(line).map_or_else(Self::Unknown, Self::CommandLifecycle)
            }
            "tool_progress" => {
                MessageFrame::read(line).map_or_else(Self::Unknown, Self::ToolProgress)
            }
            "tool_use_summary" => {
                MessageFrame::read(line).map_or_else(Self::Unknown, Self::ToolUseSummary)
            }
            "prompt_suggestion" => {
                MessageFrame::read(line).map_or_else(Self::Unknown, Self::PromptSuggestion)
            }
            "auth_status" => MessageFrame::read(line).map_or_else(Self::Unknown, Self::AuthStatus),
            _ => Self::Unknown(UnknownMessage::from_line(line)),
        }
    }

    /// The JSON this was read from, unaltered.
    pub fn raw(&self) -> &str {
        self.line().raw()
    }

    /// The fields that did not have the shape this version expects; see [`MessageFrame::unexpected_fields`].
    pub fn unexpected_fields(&self) -> &[String] {
        match self {
            Self::User(frame) => frame.unexpected_fields(),
            Self::Assistant(frame) => frame.unexpected_fields(),
            Self::System(frame) => frame.unexpected_fields(),
            Self::Result(frame) => frame.unexpected_fields(),
            Self::StreamEvent(frame) => frame.unexpected_fields(),
            Self::RateLimit(frame) => frame.unexpected_fields(),
            Self::ConversationReset(frame) => frame.unexpected_fields(),
            Self::CommandLifecycle(frame) => frame.unexpected_fields(),
            Self::ToolProgress(frame) => frame.unexpected_fields(),
            Self::ToolUseSummary(frame) => frame.unexpected_fields(),
            Self::PromptSuggestion(frame) => frame.unexpected_fields(),
            Self::AuthStatus(frame) => frame.unexpected_fields(),
            Self::Unknown(_) => &[],
        }
    }

    /// The whole message as a JSON value, with the fields that are not typed.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.raw()).unwrap_or_default()
    }

    /// The word in `type`, also of an unknown message; empty if there is none.
    pub fn kind(&self) -> &str {
        &self.line().head().kind
    }

    /// The word in `subtype`, where there is one.
    pub fn subtype(&self) -> Option<&str> {
        self.line().head().subtype.as_deref()
    }

    /// The id of this very message.
    pub fn uuid(&self) -> Option<&str> {
        self.line().head().uuid.as_deref()
    }

    /// The session it belongs to: what a later `resume` takes.
    pub fn session_id(&self) -> Option<&str> {
        self.line().head().session_id.as_deref()
    }

    /// The tool call whose subagent this comes from; `None` for the main conversation.
    pub fn parent_tool_use_id(&self) -> Option<&str> {
        self.line().head().parent_tool_use_id.as_deref()
    }

    /// The prompt this answers, by the `uuid` its sender gave it.
    pub fn user_message_uuid(&self) -> Option<&str> {
        self.line().head().user_message_uuid.as_deref()
    }

    /// Every prompt this answers: the CLI may take several queued ones into one turn.
    pub fn user_message_uuids(&self) -> &[String] {
        &self.line().head().user_message_uuids
    }

    /// Whether the CLI says it is for the program that drives it, and not for whoever reads along.
    pub fn is_host_only(&self) -> bool {
        self.line().head().sdk_host_only
    }

    /// Whether a turn ends here. True even of a result that could not be read in full.
    pub fn is_result(&self) -> bool {
        match self {
            Self::Result(_) => true,
            Self::Unknown(_) => self.kind() == "result",
            _ => false,
        }
    }

    /// The text in it: of its text blocks, or of a result. Empty if there is none.
    pub fn text(&self) -> String {
        match self {
            Self::Assistant(said) => said.text(),
            Self::User(said) => said.text(),
            Self::Result(result) => result.result.clone().unwrap_or_default(),
            Self::StreamEvent(piece) => piece.text().unwrap_or_default().to_owned(),
            _ => String::new(),
        }
    }

    /// The tools the model wants to have called, in order.
    pub fn tool_uses(&self) -> Vec<&ToolUseBlock> {
        match self {
            Self::Assistant(said) => said.tool_uses().collect(),
            _ => Vec::new(),
        }
    }

    /// What was said, if the model said it.
    pub fn as_assistant(&self) -> Option<&AssistantMessage> {
        if let Self::Assistant(said) = self { Some(said) } else { None }
    }

    /// The result, if it is one.
    pub fn as_result(&self) -> Option<&ResultMessage> {
        if let Self::Result(result) = self { Some(result) } else { None }
    }

    /// The fault of the CLI that this message shows, if it is one with a known story.
    pub fn known_fault(&self) -> Option<KnownFault> {
        fault::detect_known_fault(self)
    }

    fn line(&self) -> &MessageLine {
        match self {
            Self::User(frame) => frame.line(),
            Self::Assistant(frame) => frame.line(),
            Self::System(frame) => frame.line(),
            Self::Result(frame) => frame.line(),
            Self::StreamEvent(frame) => frame.line(),
            Self::RateLimit(frame) => frame.line(),
            Self::ConversationReset(frame) => frame.line(),
            Self::CommandLifecycle(frame) => frame.line(),
            Self::ToolProgress(frame) => frame.line(),
            Self::ToolUseSummary(frame) => frame.line(),
            Self::PromptSuggestion(frame) => frame.line(),
            Self::AuthStatus(frame) => frame.line(),
            Self::Unknown(unknown) => unknown.line(),
        }
    }
}

/// Writes what was read, to the letter.
impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.line().serialize(serializer)
    }
}
