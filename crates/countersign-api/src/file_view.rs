//! One file of a change as clients see it.

use countersign_core::{DiffPreview, FinalNewline, LineEnding};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How much a diff changes.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DiffStat {
    pub added: usize,
    pub removed: usize,
    /// How many lines of the diff were left out of `diff_lines`.
    pub omitted: usize,
}

impl DiffStat {
    /// Returns how much all of them change together.
    pub fn for_files(files: &[DiffPreview]) -> Self {
        let sum = |count: fn(&DiffPreview) -> usize| files.iter().map(count).sum();
        Self {
            added: sum(|file| file.diff.added),
            removed: sum(|file| file.diff.removed),
            omitted: sum(|file| file.diff.omitted),
        }
    }
}

/// One file of a change: S1.10's four fields, and what a diff of lines does not show.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub struct FileView {
    pub file_path: String,
    pub is_new_file: bool,
    pub original_lines: usize,
    pub new_lines: usize,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_deleted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_target: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_binary: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_endings: Option<LineEndingsView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted_lines: Option<usize>,
    /// What changes, where there are several files: for one it stands in the request itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff_lines: Option<Vec<String>>,
    /// Which file it is when the rest of a long diff is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
}

/// How line ends change.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LineEndingsView {
    #[schema(value_type = String)]
    pub from: LineEnding,
    #[schema(value_type = String)]
    pub to: LineEnding,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub final_newline: Option<FinalNewline>,
}

impl FileView {
    /// Returns the view of one file with its diff, under a name of its own.
    pub fn with_lines(diff: &DiffPreview, file_path: &str) -> Self {
        let (file_path, diff_lines) = (file_path.to_owned(), Some(diff.diff.lines.clone()));
        let omitted_lines = Some(diff.diff.omitted).filter(|omitted| *omitted > 0);
        Self { file_path, omitted_lines, diff_lines, ..Self::from_diff(diff) }
    }

    /// Returns the views of several files: what is gone comes first, so that nobody misses it.
    pub fn from_diffs(files: &[DiffPreview]) -> Vec<Self> {
        let views = files.iter().enumerate().map(|(index, file)| Self {
            index: Some(index),
            diff_lines: Some(file.diff.lines.clone()),
            ..Self::from_diff(file)
        });
        let mut views: Vec<_> = views.collect();
        views.sort_by_key(|file| !file.is_deleted);
        views
    }

    /// Returns the view of one file, without its diff.
    pub(crate) fn from_diff(diff: &DiffPreview) -> Self {
        Self {
            file_path: diff.file_path.clone(),
            is_new_file: diff.is_new_file,
            original_lines: diff.original_lines,
            new_lines: diff.new_lines,
            is_deleted: diff.is_deleted,
            renamed_from: diff.renamed_from.clone(),
            old_mode: diff.old_mode.clone(),
            new_mode: diff.new_mode.clone(),
            link_target: diff.link_target.clone(),
            is_binary: diff.is_binary,
            original_size: diff.original_size,
            new_size: diff.new_size,
            line_endings: diff.line_endings.map(|it| LineEndingsView {
                from: it.from,
                to: it.to,
                final_newline: it.final_newline,
            }),
            omitted_lines: diff.omitted_lines,
            diff_lines: None,
            index: None,
        }
    }
}
