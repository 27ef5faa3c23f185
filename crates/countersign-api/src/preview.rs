//! Previews as clients see them: spread over S1.7's fields.

use countersign_core::{CommandPreview, DiffPreview, PartPreview, Preview, mask_input};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::file_view::{DiffStat, FileView};
use crate::rehearsal::RehearsalView;
use crate::rule::RuleEffect;

/// What kind of preview it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PreviewType {
    Diff,
    MultiDiff,
    Command,
    Generic,
}

/// One command of a command line, what it would do and what was said of it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PartView {
    pub text: String,
    /// The file that would run, where it was found and is trusted.
    #[schema(required)]
    pub program: Option<String>,
    pub wrappers: Vec<String>,
    pub verdict: RuleEffect,
    pub effects: Vec<String>,
    pub reasons: Vec<String>,
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
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum PreviewData {
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

/// A preview, spread over S1.7's fields.
pub struct PreviewFields {
    pub kind: PreviewType,
    pub data: PreviewData,
    pub file_path: Option<String>,
    pub original_content: Option<String>,
    pub new_content: Option<String>,
    pub diff_lines: Vec<String>,
    pub diff_stat: Option<DiffStat>,
}

impl PreviewFields {
    pub fn from_preview(preview: Option<Preview>, input: &Value) -> Self {
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
