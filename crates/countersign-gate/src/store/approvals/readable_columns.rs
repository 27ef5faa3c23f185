//! The columns of a call that people read.

use std::time::Duration;

use countersign_core::{ExecutionState, mask_text};
use jiff::Timestamp;

use super::columns::LONG;

/// How long the columns for people get.
const LONGEST_ERROR: usize = 1000;

/// The columns that follow from the state, for people who read the table.
#[derive(Default)]
pub(super) struct ReadableColumns<'a> {
    pub(super) result: Option<String>,
    pub(super) error: Option<String>,
    pub(super) error_type: Option<&'a str>,
    pub(super) execution_time: Option<Duration>,
    pub(super) approved_at: Option<Timestamp>,
    pub(super) completed_at: Option<Timestamp>,
    pub(super) expires_at: Option<Timestamp>,
}

impl<'a> ReadableColumns<'a> {
    pub(super) fn from_state(state: &'a ExecutionState) -> Self {
        let nothing = Self::default();
        match state {
            ExecutionState::Pending => nothing,
            ExecutionState::AwaitingApproval { deadline } => {
                Self { expires_at: Some(*deadline), ..nothing }
            }
            ExecutionState::Approved { at, .. } => Self { approved_at: Some(*at), ..nothing },
            ExecutionState::Executing { approved_at, .. } => {
                Self { approved_at: Some(*approved_at), ..nothing }
            }
            ExecutionState::Completed { approved_at, since, at, result, .. } => Self {
                result: Some(truncate_text(mask_text(text_prefix(result)), LONG)),
                execution_time: Duration::try_from(at.duration_since(*since)).ok(),
                approved_at: Some(*approved_at),
                completed_at: Some(*at),
                ..nothing
            },
            ExecutionState::Failed { at, failure, .. } => Self {
                error: Some(truncate_text(mask_text(&failure.error), LONGEST_ERROR)),
                error_type: Some(failure.kind.as_str()),
                completed_at: Some(*at),
                ..nothing
            },
            ExecutionState::Rejected { at, feedback, .. } => Self {
                error: feedback.as_deref().map(|it| truncate_text(mask_text(it), LONGEST_ERROR)),
                completed_at: Some(*at),
                ..nothing
            },
            ExecutionState::Timeout { at } | ExecutionState::Cancelled { at, .. } => {
                Self { completed_at: Some(*at), ..nothing }
            }
        }
    }
}

/// Returns as much of a text as its column could show, and some more so that a secret at the end of
/// that is still known as one: masking all of a long one would hold up the writer.
fn text_prefix(text: &str) -> &str {
    text.char_indices().nth(4 * LONG).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

/// Cuts a text after so many characters, and shows that it was cut.
fn truncate_text(text: String, longest: usize) -> String {
    match text.char_indices().nth(longest.saturating_sub(1)) {
        Some((at, last)) if at + last.len_utf8() < text.len() => {
            text.chars().take(longest.saturating_sub(1)).chain(['…']).collect()
        }
        _ => text,
    }
}
