//! Putting a file back to what it was, and showing that first.

use countersign_core::{DiffPreview, Digest, FileReversal, FileState, RestoreObstacle};

use super::BackupStore;
use crate::files::disk::{self, FileSnapshot};
use crate::files::file_diff;
use crate::tool_error::ToolError;

/// Why a file was not put back.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The plan says that it must not be.
    #[error("{0}")]
    Hindered(RestoreObstacle),
    /// It is no longer what the plan was made for.
    #[error("it has changed since this was shown")]
    Changed,
    /// What was in it is gone: it was kept too long ago, or there was too much since.
    #[error("what was in it is no longer kept")]
    NoLongerKept,
    /// The machine said no.
    #[error(transparent)]
    Tool(#[from] ToolError),
}

impl BackupStore {
    /// Returns what undoing does to a file, as a diff; why not, where it cannot be done. Blocks.
    pub fn show(&self, reversal: &FileReversal) -> Result<DiffPreview, RestoreError> {
        if let Some(hindrance) = &reversal.hindrance {
            return Err(RestoreError::Hindered(hindrance.clone()));
        }
        let path = reversal.path.display().to_string();
        let standing =
            FileSnapshot::read(&reversal.path).map_err(|error| error.into_tool_error(&path))?;
        let preimage = standing.preimage();
        let now = standing.snapshot.as_ref().map(|snapshot| snapshot.bytes.as_slice());
        let before = self.content_before(reversal)?;
        Ok(file_diff::between(path, now, before.as_deref(), preimage))
    }

    /// Puts a file back to what it was, if it is still what the plan was made for. Blocks.
    pub fn restore(&self, reversal: &FileReversal) -> Result<(), RestoreError> {
        if let Some(hindrance) = &reversal.hindrance {
            return Err(RestoreError::Hindered(hindrance.clone()));
        }
        if reversal.is_done() {
            return Ok(());
        }
        let path = reversal.path.display().to_string();
        let in_words = |error: disk::DiskError| RestoreError::Tool(error.into_tool_error(&path));
        let standing = FileSnapshot::read(&reversal.path).map_err(in_words)?;
        if standing.state() != reversal.now {
            return Err(RestoreError::Changed);
        }
        match (self.content_before(reversal)?, &reversal.before) {
            (Some(bytes), FileState::File { mode, .. }) => {
                standing.replace(&bytes).map_err(in_words)?;
                disk::set_mode(&reversal.path, *mode).map_err(in_words)
            }
            _ => standing.remove().map_err(in_words),
        }
    }

    /// Returns what was in a file; none if there was no file.
    fn content_before(&self, reversal: &FileReversal) -> Result<Option<Vec<u8>>, RestoreError> {
        match &reversal.before {
            FileState::Absent => Ok(None),
            FileState::File { digest, .. } => self.content(digest).map(Some),
            FileState::NotKept { why } => {
                Err(RestoreError::Hindered(RestoreObstacle::NotKept(why.clone())))
            }
        }
    }

    fn content(&self, digest: &Digest) -> Result<Vec<u8>, RestoreError> {
        let found = std::fs::read(self.place(digest)).ok();
        found.filter(|bytes| Digest::for_bytes(bytes) == *digest).ok_or(RestoreError::NoLongerKept)
    }
}
