//! Permits: leave to run one call, once.

use super::OutsideFile;
use crate::shell::CanonicalCommandLine;
use crate::{ApprovalId, Digest, Effect, Preimage, ToolCall};

/// Leave to run one call, once. Only [`Execution::start`](super::Execution::start) hands it out.
// INVARIANT: cannot be made outside `approval`, nor copied or changed at all.
#[derive(Debug)]
pub struct Permit {
    pub(super) approval: ApprovalId,
    pub(super) call: ToolCall,
    pub(super) effects: Vec<Effect>,
    pub(super) outside: Vec<OutsideFile>,
    pub(super) preimages: Vec<Preimage>,
    pub(super) rehearsal: Option<Digest>,
    pub(super) canonical: Option<CanonicalCommandLine>,
}

impl Permit {
    /// Returns the approval it was earned by.
    pub fn approval(&self) -> ApprovalId {
        self.approval
    }

    /// Returns the call as it may run.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// Returns what the call was judged to do. It runs only while that is still what it would do.
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// Returns which files outside the workspace may be written because somebody said yes to just that.
    pub fn outside_files(&self) -> &[OutsideFile] {
        &self.outside
    }

    /// Returns the files the decision was bound to. A tool refuses to touch one that has changed.
    pub fn preimages(&self) -> &[Preimage] {
        &self.preimages
    }

    /// Returns what is to be executed in the place of the command's text: nobody was asked about that.
    ///
    /// None where somebody approved the text as it is, and where the call runs no command.
    pub fn canonical(&self) -> Option<&CanonicalCommandLine> {
        self.canonical.as_ref()
    }

    /// Returns the digest of the rehearsal that is to be kept instead of running the call.
    pub fn rehearsal(&self) -> Option<&Digest> {
        self.rehearsal.as_ref()
    }
}
