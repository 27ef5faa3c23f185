//! The rehearsal of a command as clients see it.

use countersign_core::{RehearsalEnd, RehearsalResult, RehearsalState};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::file_view::{DiffStat, FileView};

/// What a command did when it was tried out where nothing could come of it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RehearsalView {
    /// It is under way.
    Running,
    Done(Box<RehearsedView>),
    /// There is none, and this is why.
    Impossible {
        reason: String,
    },
}

/// A rehearsal that is over.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RehearsedView {
    /// The exit code; none where it did not end by itself.
    #[schema(required)]
    pub exit_code: Option<i32>,
    /// Whether it had not ended when its time was up.
    pub timed_out: bool,
    /// What ended it, where it did not end by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ended_by: Option<String>,
    /// What the model would be told, secrets masked.
    pub output: String,
    /// The files it changed, what is gone first.
    pub files: Vec<FileView>,
    pub diff_stat: DiffStat,
    /// How many more files it changed than are shown.
    pub more_files: usize,
    /// The folders it made and removed, in words.
    pub folders: Vec<String>,
    pub took_ms: u64,
    /// Whether a yes keeps exactly this. If not, a yes runs the command.
    pub keeps: bool,
    /// Why a yes runs the command, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub runs_again: Option<String>,
}

impl From<RehearsalState> for RehearsalView {
    fn from(rehearsal: RehearsalState) -> Self {
        match rehearsal {
            RehearsalState::Running => Self::Running,
            RehearsalState::Impossible { why } => Self::Impossible { reason: why },
            RehearsalState::Done(done) => Self::Done(Box::new((*done).into())),
        }
    }
}

impl From<RehearsalResult> for RehearsedView {
    fn from(done: RehearsalResult) -> Self {
        let RehearsalResult {
            end, output, files, more_files, folders, took_ms, runs_again, ..
        } = done;
        let (exit_code, ended_by) = match &end {
            RehearsalEnd::Exited { code } => (Some(*code), None),
            RehearsalEnd::Killed { by } => (None, Some(by.clone())),
            RehearsalEnd::TimedOut { .. } => (None, None),
        };
        Self {
            exit_code,
            timed_out: matches!(end, RehearsalEnd::TimedOut { .. }),
            ended_by,
            output,
            diff_stat: DiffStat::for_files(&files),
            files: FileView::from_diffs(&files),
            more_files,
            folders,
            took_ms,
            keeps: runs_again.is_none(),
            runs_again,
        }
    }
}
