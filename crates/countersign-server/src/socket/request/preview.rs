//! Previews as clients see them: spread over S1.7's fields.

use countersign_core::{
    CommandPreview, DiffPreview, FinalNewline, LineEnding, PartPreview, Preview, mask_input,
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::rehearsal::RehearsalView;
use crate::rules::RuleEffect;

/// What kind of preview it is.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PreviewType {
    Diff,
    MultiDiff,
    Command,
    Generic,
}

/// How much a diff changes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DiffStat {
    added: usize,
    removed: usize,
    /// How many lines of the diff were left out of `diff_lines`.
    omitted: usize,
}

impl DiffStat {
    /// Returns how much all of them change together.
    pub(super) fn for_files(files: &[DiffPreview]) -> Self {
        let sum = |count: fn(&DiffPreview) -> usize| files.iter().map(count).sum();
        Self {
            added: sum(|file| file.diff.added),
            removed: sum(|file| file.diff.removed),
            omitted: sum(|file| file.diff.omitted),
        }
    }
}

/// One command of a command line, what it would do and what was said of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PartView {
    text: String,
    /// The file that would run, where it was found and is trusted.
    #[schema(required)]
    program: Option<String>,
    wrappers: Vec<String>,
    verdict: RuleEffect,
    effects: Vec<String>,
    reasons: Vec<String>,
}

impl From<PartPreview> for PartView {
    fn from(part: PartPreview) -> Self {
        let PartPreview { text, program, wrappers, verdict, effects, reasons } = part;
        let program = program.map(|program| program.display().to_string());
        let verdict = verdict.into();
        Self { text, program, wrappers, verdict, effects, reasons }
    }
}

/// What is known about a preview beside the diff itself.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum PreviewData {
    Diff(FileView),
    MultiDiff {
        files: Vec<FileView>,
    },
    Command {
        command: String,
        cwd: String,
        #[schema(required)]
        description: Option<String>,
        timeout_ms: u64,
        warnings: Vec<String>,
        /// Its commands one by one.
        parts: Vec<PartView>,
        /// How it was read: the form in which it would run if nobody had to be asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        canonical: Option<String>,
        /// What it did when it was tried out; left out where that was not wanted.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        rehearsal: Option<RehearsalView>,
    },
    Generic {
        input: Value,
    },
}

/// One file of a change: S1.10's four fields, and what a diff of lines does not show.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) struct FileView {
    file_path: String,
    is_new_file: bool,
    original_lines: usize,
    new_lines: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_deleted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link_target: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_binary: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_endings: Option<LineEndingsView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_lines: Option<usize>,
    /// What changes, where there are several files: for one it stands in the request itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff_lines: Option<Vec<String>>,
    /// Which file it is when the rest of a long diff is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
}

/// How line ends change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LineEndingsView {
    #[schema(value_type = String)]
    from: LineEnding,
    #[schema(value_type = String)]
    to: LineEnding,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    final_newline: Option<FinalNewline>,
}

impl FileView {
    /// Returns the view of one file with its diff, under a name of its own.
    pub(crate) fn with_lines(diff: &DiffPreview, file_path: &str) -> Self {
        let (file_path, diff_lines) = (file_path.to_owned(), Some(diff.diff.lines.clone()));
        let omitted_lines = Some(diff.diff.omitted).filter(|omitted| *omitted > 0);
        Self { file_path, omitted_lines, diff_lines, ..Self::from_diff(diff) }
    }

    /// Returns the views of several files: what is gone comes first, so that nobody misses it.
    pub(super) fn from_diffs(files: &[DiffPreview]) -> Vec<Self> {
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
    fn from_diff(diff: &DiffPreview) -> Self {
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

/// A preview, spread over S1.7's fields.
pub(super) struct PreviewFields {
    pub(super) kind: PreviewType,
    pub(super) data: PreviewData,
    pub(super) file_path: Option<String>,
    pub(super) original_content: Option<String>,
    pub(super) new_content: Option<String>,
    pub(super) diff_lines: Vec<String>,
    pub(super) diff_stat: Option<DiffStat>,
}

impl PreviewFields {
    pub(super) fn from_preview(preview: Option<Preview>, input: &Value) -> Self {
        match preview {
            Some(Preview::Diff(diff)) => Self::from_diff(diff),
            Some(Preview::Command(command)) => Self::from_command(command),
            Some(Preview::Generic { input, .. }) => Self::from_input(input),
            Some(Preview::MultiDiff { files, .. }) => Self::from_files(&files),
            None => Self::from_input(mask_input(input)),
        }
    }

    fn from_diff(diff: DiffPreview) -> Self {
        Self {
            kind: PreviewType::Diff,
            data: PreviewData::Diff(FileView::from_diff(&diff)),
            file_path: Some(diff.file_path),
            original_content: diff.original_content,
            new_content: diff.new_content,
            diff_stat: Some(DiffStat {
                added: diff.diff.added,
                removed: diff.diff.removed,
                omitted: diff.diff.omitted,
            }),
            diff_lines: diff.diff.lines,
        }
    }

    fn from_files(files: &[DiffPreview]) -> Self {
        let diff_stat = Some(DiffStat::for_files(files));
        let files = FileView::from_diffs(files);
        // One diff after the other, for clients that know of one diff only.
        let diff_lines = files.iter().flat_map(|file| file.diff_lines.iter().flatten()).cloned();
        let diff_lines = diff_lines.collect();
        let file_path = match files.as_slice() {
            [file] => Some(file.file_path.clone()),
            _ => None,
        };
        let data = PreviewData::MultiDiff { files };
        let kind = PreviewType::MultiDiff;
        Self { kind, data, file_path, diff_lines, diff_stat, ..Self::from_input(json!(null)) }
    }

    fn from_command(preview: CommandPreview) -> Self {
        let CommandPreview { command, cwd, description, timeout_ms, warnings, parts, .. } = preview;
        let CommandPreview { canonical, rehearsal, .. } = preview;
        let data = PreviewData::Command {
            command,
            cwd,
            description,
            timeout_ms,
            warnings,
            parts: parts.into_iter().map(PartView::from).collect(),
            canonical,
            rehearsal: rehearsal.map(RehearsalView::from),
        };
        Self { kind: PreviewType::Command, data, ..Self::from_input(json!(null)) }
    }

    fn from_input(input: Value) -> Self {
        Self {
            kind: PreviewType::Generic,
            data: PreviewData::Generic { input },
            file_path: None,
            original_content: None,
            new_content: None,
            diff_lines: Vec::new(),
            diff_stat: None,
        }
    }
}
