//! Rehearsals: a command is tried out over a copy-on-write view of the workspace, and what it did is
//! shown, thrown away or kept.
//!
//! The sandbox offers the overlay; a [`Stage`] is the folder its changes land in. What lies there is
//! read back as [`Differences`] to the workspace: shown as diffs, and on a yes made to be so in one
//! step, if nothing has moved underneath since the rehearsal began.

mod differences;
mod layer;
mod reader;
mod stage;

use std::io;

use countersign_core::{Digest, Effect, RehearsalEnd, Rehearsed, ToolOutput};

use self::differences::Differences;
pub(crate) use self::stage::Stage;
use crate::tool::ToolError;
use crate::transaction::carry_out;

/// Why a call is not tried out, in words for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotRehearsed(pub String);

impl NotRehearsed {
    pub(crate) fn because(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl From<ToolError> for NotRehearsed {
    fn from(error: ToolError) -> Self {
        Self(error.to_string())
    }
}

impl From<io::Error> for NotRehearsed {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// How a command did on its stage.
pub(crate) struct Performance {
    pub(crate) end: RehearsalEnd,
    pub(crate) output: ToolOutput,
    pub(crate) took_ms: u64,
    /// Why what it did is not what it would do.
    pub(crate) flaw: Option<String>,
}

/// A rehearsal whose result can still be kept. Dropped, it is as if it had never been.
#[derive(Debug)]
pub struct Staged {
    stage: Stage,
    output: ToolOutput,
    effects: Vec<Effect>,
    shown: Rehearsed,
}

impl Staged {
    /// Takes in what a command has left on its stage. Blocks.
    pub(crate) fn of(stage: Stage, performance: Performance) -> Result<Self, NotRehearsed> {
        let Performance { end, output, took_ms, flaw } = performance;
        let found = Differences::of(&stage)?;
        let shown = Rehearsed {
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
    pub fn shown(&self) -> &Rehearsed {
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
        let found = Differences::of(&self.stage).map_err(|_| ToolError::OutOfDate)?;
        let is_whole = found.hindrance().is_none() && self.shown.runs_again.is_none();
        if found.digest(&self.output) != *agreed || !is_whole || self.has_moved() {
            return Err(ToolError::OutOfDate);
        }
        carry_out(found.into_steps()?)?;
        Ok(self.output)
    }
}
