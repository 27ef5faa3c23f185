//! An undo as clients see it before it is done.

use countersign_api::file_view::FileView;
use countersign_api::undo::{UndoAction, UndoFile};
use std::path::Path;

use countersign_core::{FileReversal, FileState};
use countersign_tools::BackupStore;

/// Returns the view of one file. Blocks.
pub(super) fn undo_file(keep: &BackupStore, reversal: &FileReversal, root: &str) -> UndoFile {
    let file_path = display_path(&reversal.path, root);
    if reversal.is_done() {
        return UndoFile { file_path, action: UndoAction::Nothing, reason: None, diff: None };
    }
    let action = match reversal.before {
        FileState::Absent => UndoAction::Delete,
        FileState::File { .. } | FileState::NotKept { .. } => UndoAction::Restore,
    };
    match keep.show(reversal) {
        Ok(diff) => {
            let diff = FileView::with_lines(&diff, &file_path);
            UndoFile { file_path, action, reason: None, diff: Some(diff) }
        }
        Err(error) => {
            let reason = Some(error.to_string());
            UndoFile { file_path, action: UndoAction::Refused, reason, diff: None }
        }
    }
}

/// Returns a path as people know it.
pub(super) fn display_path(path: &Path, root: &str) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
