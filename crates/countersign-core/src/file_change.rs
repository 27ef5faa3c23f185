//! Changes: what a call did to files, and what it takes to undo it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Digest;

/// What there is at a path at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum FileState {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// The digest of what is in it.
        digest: Digest,
        /// Its permission bits.
        mode: u32,
    },
    /// Something that is not kept: a folder, a device, a file that is too large.
    NotKept {
        /// Why not.
        why: String,
    },
}

/// What became of one path in a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Absolute, links resolved.
    pub path: PathBuf,
    /// What was there.
    pub before: FileState,
    /// What the call left there; none if nobody was there to see it.
    pub after: Option<FileState>,
}

/// Why a path is not put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestoreObstacle {
    /// It is no longer what the last of the calls left: somebody has changed it since.
    ChangedSince,
    /// It was changed by somebody between two of the calls.
    ChangedBetween,
    /// The call was broken off, so nobody knows whether what is there is its work.
    OutcomeUnknown,
    /// What was there is not kept.
    NotKept(String),
    /// What the call left there is not a file, so nobody can say whether it is still that.
    LeftNoFile(String),
}

impl std::fmt::Display for RestoreObstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ChangedSince => f.write_str("it was changed since"),
            Self::ChangedBetween => {
                f.write_str("somebody else changed it between two of the calls")
            }
            Self::OutcomeUnknown => {
                f.write_str("the call was broken off: what is there may be somebody else's")
            }
            Self::NotKept(why) => write!(f, "what was there is not kept: {why}"),
            Self::LeftNoFile(why) => write!(f, "what the call left there is not a file: {why}"),
        }
    }
}

/// What undoing does to one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReversal {
    /// The path.
    pub path: PathBuf,
    /// What is there now.
    pub now: FileState,
    /// What was there before the calls.
    pub before: FileState,
    /// Why it is not put back, where it is not.
    pub hindrance: Option<RestoreObstacle>,
}

impl FileReversal {
    /// Returns whether it is as it was already.
    pub fn is_done(&self) -> bool {
        self.now == self.before
    }
}

/// Returns what it takes to undo changes, given oldest first, one entry per path.
///
/// Several calls may have changed a path one after the other. It is put back to where the first one
/// found it, but only if each found what the one before had left, and the last one's work still stands.
pub fn plan_reversals(
    changes: &[FileChange],
    now: impl Fn(&Path) -> FileState,
) -> Vec<FileReversal> {
    let mut by_path: BTreeMap<&Path, Vec<&FileChange>> = BTreeMap::new();
    for change in changes {
        by_path.entry(&change.path).or_default().push(change);
    }
    let reversal = |(path, steps): (&Path, Vec<&FileChange>)| {
        let (first, now) = (steps.first()?, now(path));
        let hindrance = if now == first.before { None } else { find_obstacle(&steps, &now) };
        Some(FileReversal { path: path.to_owned(), before: first.before.clone(), now, hindrance })
    };
    by_path.into_iter().filter_map(reversal).collect()
}

fn find_obstacle(steps: &[&FileChange], now: &FileState) -> Option<RestoreObstacle> {
    let (first, last) = (steps.first()?, steps.last()?);
    if let FileState::NotKept { why } = &first.before {
        return Some(RestoreObstacle::NotKept(why.clone()));
    }
    let mut following = steps.iter().zip(steps.iter().skip(1));
    if following.any(|(step, next)| step.after.as_ref() != Some(&next.before)) {
        return Some(RestoreObstacle::ChangedBetween);
    }
    match &last.after {
        None => Some(RestoreObstacle::OutcomeUnknown),
        Some(FileState::NotKept { why }) => Some(RestoreObstacle::LeftNoFile(why.clone())),
        Some(after) if after != now => Some(RestoreObstacle::ChangedSince),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests;
