//! Faults of the CLI that look like a caller's mistake and are none.

use std::fmt;

use super::{ContentBlock, Message};

/// A fault of the CLI itself whose cause is known.
///
/// Its text says what happened, whose fault it is and what helps, in words for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KnownFault {
    /// The CLI sent the same `tool_use` block twice and the API refused the conversation.
    ///
    /// Seen in CLI 2.1.19 with `--output-format stream-json` and `--permission-prompt-tool stdio`.
    DuplicateToolUseId,
}

impl fmt::Display for KnownFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateToolUseId => f.write_str(
                "the CLI repeated a `tool_use` id in its next request and the API refused it: a fault of \
                 Claude Code (known of version 2.1.19 when permissions are asked over stdio), not of this \
                 program and not of the decision that was made. The tool has run and its result was \
                 received; only the conversation cannot go on. Update the CLI; in this session, rewind to \
                 before the call or start anew",
            ),
        }
    }
}

pub(super) fn detect_known_fault(message: &Message) -> Option<KnownFault> {
    match message {
        Message::Result(result) if result.is_error => result
            .errors
            .iter()
            .chain(&result.result)
            .any(|text| mentions_duplicate_ids(text))
            .then_some(KnownFault::DuplicateToolUseId),
        // The CLI says API errors in the model's name; a model that merely quotes one has no such mark.
        Message::Assistant(said) if said.is_api_error() => said
            .message
            .content
            .iter()
            .any(|block| matches!(block, ContentBlock::Text(text) if mentions_duplicate_ids(&text.text)))
            .then_some(KnownFault::DuplicateToolUseId),
        _ => None,
    }
}

/// Older CLIs pass on the API's words, newer ones (seen in 2.1.325) say it in their own.
fn mentions_duplicate_ids(text: &str) -> bool {
    text.contains("`tool_use` ids must be unique")
        || text.contains("duplicate tool_use ID in conversation history")
}
