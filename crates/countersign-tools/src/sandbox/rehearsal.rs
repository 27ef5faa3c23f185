//! Rehearsals: a command is tried out over a copy-on-write view of the workspace, and what it did is
//! shown, thrown away or kept.
//!
//! The sandbox offers the overlay; a [`RehearsalOverlay`] is the folder its changes land in. What lies there is
//! read back as [`WorkspaceDiff`] to the workspace: shown as diffs, and on a yes made to be so in one
//! step, if nothing has moved underneath since the rehearsal began.

mod differences;
mod layer;
mod overlay_folders;
mod reader;

use std::io;

use countersign_core::{Digest, Effect, RehearsalEnd, RehearsalResult, ToolOutput};

use self::differences::WorkspaceDiff;
pub(crate) use self::overlay_folders::RehearsalOverlay;
use crate::files::transaction::carry_out;
use crate::tool_error::ToolError;

/// Why a call is not tried out, in words for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RehearsalError(pub String);

impl RehearsalError {
    pub(crate) fn because(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl From<ToolError> for RehearsalError {
    fn from(error: ToolError) -> Self {
        Self(error.to_string())
    }
}

impl From<io::Error> for RehearsalError {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// How a command did on its stage.
pub(crate) struct RehearsalRun {
    pub(crate) end: RehearsalEnd,
    pub(crate) output: ToolOutput,
    pub(crate) took_ms: u64,
    /// Why what it did is not what it would do.
    pub(crate) flaw: Option<String>,
}

/// A rehearsal whose result can still be kept. Dropped, it is as if it had never been.
#[derive(Debug)]
pub struct StagedRehearsal {
    stage: RehearsalOverlay,
    output: ToolOutput,
    effects: Vec<Effect>,
    shown: RehearsalResult,
}

impl StagedRehearsal {
    /// Takes in what a command has left on its stage. Blocks.
    pub(crate) fn from_run(
        stage: RehearsalOverlay,
        performance: RehearsalRun,
    ) -> Result<Self, RehearsalError> {
        let RehearsalRun { end, output, took_ms, flaw } = performance;
        let found = WorkspaceDiff::from_overlay(&stage)?;
        let shown = RehearsalResult {
            end,
            output: output.content.clone(),
            digest: found.digest(&output),
            files: found.shown().to_vec(),
            more_files: found.more_files(),
            folders: found.folders(),
            took_ms,
            runs_again: flaw.or_else(|| found.hindrance().map(str::to_owned)),
        };
        let effects = found.effects(&stage);
        Ok(Self { stage, output, effects, shown })
    }

    /// Returns what a person is shown.
    pub fn rehearsal_result(&self) -> &RehearsalResult {
        &self.shown
    }

    /// Returns what keeping it does to files.
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// Returns whether anything in the workspace has changed since the rehearsal began. Blocks.
    pub fn has_moved(&self) -> bool {
        self.stage.has_moved()
    }

    /// Makes the workspace what the rehearsal made of it: all of it or nothing. Blocks.
    pub(crate) fn keep(self, agreed: &Digest) -> Result<ToolOutput, ToolError> {
        let found = WorkspaceDiff::from_overlay(&self.stage).map_err(|_| ToolError::OutOfDate)?;
        let is_whole = found.hindrance().is_none() && self.shown.runs_again.is_none();
        if found.digest(&self.output) != *agreed || !is_whole || self.has_moved() {
            return Err(ToolError::OutOfDate);
        }
        carry_out(found.into_steps()?)?;
        Ok(self.output)
    }
}
