//! An undo as clients see it before it is done.

use std::path::Path;

use countersign_core::{FileReversal, FileState};
use countersign_tools::BackupStore;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::socket::request::FileView;

/// What an undo would do.
#[derive(Serialize, ToSchema)]
pub(crate) struct UndoView {
    pub(super) success: bool,
    /// The calls, in the order they ran.
    pub(super) tool_ids: Vec<String>,
    pub(super) files: Vec<UndoFile>,
    /// Whether the calls ran commands that may have changed more: that is not put back.
    pub(super) is_partial: bool,
    /// To be sent back with the yes.
    pub(super) digest: String,
    /// Who has undone it already.
    #[schema(required)]
    pub(super) undone_by: Option<String>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub(super) undone_at: Option<Timestamp>,
}

/// What an undo would do to one file.
#[derive(Serialize, ToSchema)]
pub(crate) struct UndoFile {
    /// Below the project's root where it is there, absolute elsewhere.
    file_path: String,
    action: UndoAction,
    /// Why it is left as it is, where it is.
    #[schema(required)]
    reason: Option<String>,
    /// From what it is now to what it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    diff: Option<FileView>,
}

/// What becomes of a file.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UndoAction {
    /// It gets back what was in it.
    Restore,
    /// It goes: it was not there.
    Delete,
    /// Nothing: it is as it was.
    Nothing,
    /// It is left as it is.
    Refused,
}

impl UndoFile {
    /// Returns the view of one file. Blocks.
    pub(super) fn from_reversal(keep: &BackupStore, reversal: &FileReversal, root: &str) -> Self {
        let file_path = display_path(&reversal.path, root);
        if reversal.is_done() {
            return Self { file_path, action: UndoAction::Nothing, reason: None, diff: None };
        }
        let action = match reversal.before {
            FileState::Absent => UndoAction::Delete,
            FileState::File { .. } | FileState::NotKept { .. } => UndoAction::Restore,
        };
        match keep.show(reversal) {
            Ok(diff) => {
                let diff = FileView::with_lines(&diff, &file_path);
                Self { file_path, action, reason: None, diff: Some(diff) }
            }
            Err(error) => {
                let reason = Some(error.to_string());
                Self { file_path, action: UndoAction::Refused, reason, diff: None }
            }
        }
    }
}

/// Returns a path as people know it.
pub(super) fn display_path(path: &Path, root: &str) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
