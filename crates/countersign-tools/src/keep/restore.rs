//! Putting a file back to what it was, and showing that first.

use std::fs::File;

use countersign_core::{DiffPreview, Digest, FileState, Hindrance, Reversal};
use rustix::fs::Mode;

use super::Keep;
use crate::ToolError;
use crate::disk::{self, Standing};
use crate::text::Text;

/// Why a file was not put back.
#[derive(Debug, thiserror::Error)]
pub enum NotRestored {
    /// The plan says that it must not be.
    #[error("{0}")]
    Hindered(Hindrance),
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

impl Keep {
    /// Returns what undoing does to a file, as a diff; why not, where it cannot be done. Blocks.
    pub fn show(&self, reversal: &Reversal) -> Result<DiffPreview, NotRestored> {
        if let Some(hindrance) = &reversal.hindrance {
            return Err(NotRestored::Hindered(hindrance.clone()));
        }
        let path = reversal.path.display().to_string();
        let standing = Standing::read(&reversal.path).map_err(|error| error.at(&path))?;
        let preimage = standing.preimage();
        let now = standing.snapshot.as_ref().map(|snapshot| snapshot.bytes.as_slice());
        let before = self.content_before(reversal)?;
        let size = |bytes: &[u8]| bytes.len() as u64;
        let texts =
            (now.map(Text::decode).transpose(), before.as_deref().map(Text::decode).transpose());
        Ok(match texts {
            (Ok(now), Ok(Some(before))) => {
                let now = now.map(|text| text.content);
                DiffPreview::new(path, now.as_deref(), &before.content, preimage)
            }
            (Ok(Some(now)), Ok(None)) => DiffPreview::of_deletion(path, &now.content, preimage),
            _ => DiffPreview::of_binary(path, now.map(size), before.as_deref().map(size), preimage),
        })
    }

    /// Puts a file back to what it was, if it is still what the plan was made for. Blocks.
    pub fn restore(&self, reversal: &Reversal) -> Result<(), NotRestored> {
        if let Some(hindrance) = &reversal.hindrance {
            return Err(NotRestored::Hindered(hindrance.clone()));
        }
        if reversal.is_done() {
            return Ok(());
        }
        let path = reversal.path.display().to_string();
        let in_words = |error: disk::DiskError| NotRestored::Tool(error.at(&path));
        let standing = Standing::read(&reversal.path).map_err(in_words)?;
        if standing.state() != reversal.now {
            return Err(NotRestored::Changed);
        }
        match (self.content_before(reversal)?, &reversal.before) {
            (Some(bytes), FileState::File { mode, .. }) => {
                standing.replace(&bytes).map_err(in_words)?;
                let (file, _) = disk::open(&reversal.path).map_err(in_words)?;
                set_mode(&file, *mode).map_err(|cause| {
                    let doing = "set the mode of";
                    NotRestored::Tool(ToolError::Io { doing, path: path.clone(), cause })
                })
            }
            _ => standing.remove().map_err(in_words),
        }
    }

    /// Returns what was in a file; none if there was no file.
    fn content_before(&self, reversal: &Reversal) -> Result<Option<Vec<u8>>, NotRestored> {
        match &reversal.before {
            FileState::Absent => Ok(None),
            FileState::File { digest, .. } => self.content(digest).map(Some),
            FileState::NotKept { why } => {
                Err(NotRestored::Hindered(Hindrance::NotKept(why.clone())))
            }
        }
    }

    fn content(&self, digest: &Digest) -> Result<Vec<u8>, NotRestored> {
        let found = std::fs::read(self.place(digest)).ok();
        found.filter(|bytes| Digest::of(bytes) == *digest).ok_or(NotRestored::NoLongerKept)
    }
}

fn set_mode(file: &File, mode: u32) -> std::io::Result<()> {
    Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?)
}
