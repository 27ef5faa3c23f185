//! Rehearsals: what a command did where nothing could come of it, shown before a person decides.

use serde::{Deserialize, Serialize};

use crate::{DiffPreview, Digest, mask_text};

/// Where the rehearsal of a call that waits stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RehearsalState {
    /// It is under way.
    Running,
    /// It is over.
    Done(Box<RehearsalResult>),
    /// There is none.
    Impossible {
        /// Why not.
        why: String,
    },
}

/// How a rehearsed command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum RehearsalEnd {
    /// By itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// By a signal, its own or because it used too much.
    Killed {
        /// By what.
        by: String,
    },
    /// It had not ended when its time was up.
    TimedOut {
        /// How long it had, in milliseconds.
        after_ms: u64,
    },
}

/// What a command did in its rehearsal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RehearsalResult {
    /// How it ended.
    pub end: RehearsalEnd,
    /// What the model would be told.
    pub output: String,
    /// The files it changed.
    pub files: Vec<DiffPreview>,
    /// How many more it changed than are shown.
    pub more_files: usize,
    /// The folders it made and removed, as they are shown.
    pub folders: Vec<String>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Why a yes runs the command instead of keeping what it did; none where a yes keeps exactly this.
    pub runs_again: Option<String>,
    /// The digest of all it did and said.
    pub digest: Digest,
}

impl RehearsalState {
    /// Returns the digest of what a yes keeps; none where a yes runs the command.
    pub fn kept_digest(&self) -> Option<&Digest> {
        match self {
            Self::Done(done) if done.runs_again.is_none() => Some(&done.digest),
            Self::Done(_) | Self::Running | Self::Impossible { .. } => None,
        }
    }

    /// Returns the digest of all it did and said; none before it is over.
    pub fn digest(&self) -> Option<&Digest> {
        match self {
            Self::Done(done) => Some(&done.digest),
            Self::Running | Self::Impossible { .. } => None,
        }
    }

    /// Returns the files it changed, as they are shown.
    pub fn files(&self) -> &[DiffPreview] {
        match self {
            Self::Done(done) => &done.files,
            Self::Running | Self::Impossible { .. } => &[],
        }
    }

    /// Returns it as it is kept and shown: without secrets, but for the diffs themselves.
    #[must_use]
    pub fn mask_secrets(self) -> Self {
        match self {
            Self::Done(done) => {
                Self::Done(Box::new(RehearsalResult { output: mask_text(&done.output), ..*done }))
            }
            other @ (Self::Running | Self::Impossible { .. }) => other,
        }
    }
}
