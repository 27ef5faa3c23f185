//! One line of a session's file.

use serde::Deserialize;
use serde_json::value::RawValue;

/// What matters of a line.
///
/// Lines of other kinds have other fields; all that are read here are optional.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TranscriptEntry<'a> {
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) uuid: Option<String>,
    #[serde(default)]
    pub(super) parent_uuid: Option<String>,
    #[serde(default)]
    pub(super) is_sidechain: bool,
    #[serde(default)]
    pub(super) is_meta: bool,
    #[serde(default)]
    pub(super) team_name: Option<String>,
    #[serde(default)]
    pub(super) cwd: Option<String>,
    #[serde(default)]
    pub(super) git_branch: Option<String>,
    #[serde(default)]
    pub(super) timestamp: Option<String>,
    #[serde(default)]
    pub(super) custom_title: Option<String>,
    #[serde(default)]
    pub(super) ai_title: Option<String>,
    #[serde(default)]
    pub(super) last_prompt: Option<String>,
    #[serde(default)]
    pub(super) summary: Option<String>,
    #[serde(default)]
    pub(super) tag: Option<String>,
    #[serde(borrow, default)]
    pub(super) message: Option<&'a RawValue>,
}

impl<'a> TranscriptEntry<'a> {
    /// Reads a line; `None` for what is no entry.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        if line.is_empty() { None } else { serde_json::from_str(line).ok() }
    }

    /// Whether the user or the model speaks.
    pub(super) fn is_conversation(&self) -> bool {
        matches!(self.kind.as_str(), "user" | "assistant")
    }
}
