//! Undo: what it would do, as diffs, and what it has done.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::file_view::FileView;

/// What an undo would do.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct UndoView {
    pub success: bool,
    /// The calls, in the order they ran.
    pub tool_ids: Vec<String>,
    pub files: Vec<UndoFile>,
    /// Whether the calls ran commands that may have changed more: that is not put back.
    pub is_partial: bool,
    /// To be sent back with the yes.
    pub digest: String,
    /// Who has undone it already.
    #[schema(required)]
    pub undone_by: Option<String>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub undone_at: Option<Timestamp>,
}

/// What an undo would do to one file.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct UndoFile {
    /// Below the project's root where it is there, absolute elsewhere.
    pub file_path: String,
    pub action: UndoAction,
    /// Why it is left as it is, where it is.
    #[schema(required)]
    pub reason: Option<String>,
    /// From what it is now to what it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub diff: Option<FileView>,
}

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UndoAction {
    /// It gets back what was in it.
    Restore,
    /// It goes: it was not there.
    Delete,
    /// Nothing: it is as it was.
    Nothing,
    /// It is left as it is.
    Refused,
}

/// A yes to an undo that was shown.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoBody {
    /// The digest of what was shown; if it would do something else by now, the answer is 409.
    pub digest: String,
    /// Puts back what can be, though some files cannot.
    #[serde(default)]
    #[schema(nullable = false)]
    pub skip_refused: bool,
}

/// What an undo has done.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct UndoneView {
    pub success: bool,
    /// The calls that were undone.
    pub tool_ids: Vec<String>,
    /// How many files are as they were before.
    pub files: u64,
    /// Those that were left as they are, each with the reason.
    pub left: Vec<LeftFile>,
}

/// A file that was not put back.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LeftFile {
    pub file_path: String,
    pub reason: String,
}
