//! What anybody may read of an execution.

use jiff::Timestamp;

use super::{DecisionContext, Execution, ExecutionState};
use crate::shell::{CanonicalCommandLine, CommandPart};
use crate::{ApprovalId, Digest, Effect, Preview, Risk, ToolCall, Verdict};

impl Execution {
    /// Returns its id.
    pub fn id(&self) -> ApprovalId {
        self.id
    }

    /// Returns the call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// Returns what it would do.
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// Returns the commands it would run, one by one.
    pub fn commands(&self) -> &[CommandPart] {
        &self.commands
    }

    /// Returns what is executed in the place of its text if nobody is asked, where it is a command.
    pub fn canonical(&self) -> Option<&CanonicalCommandLine> {
        self.canonical.as_ref()
    }

    /// Returns what it would do, in one sentence.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Returns how risky that is.
    pub fn risk(&self) -> Risk {
        self.risk
    }

    /// Returns what the policy said of it.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Returns what a person sees; none where nobody was asked.
    pub fn preview(&self) -> Option<&Preview> {
        self.preview.as_ref()
    }

    /// Returns what else the decision depends on.
    pub fn basis(&self) -> &DecisionContext {
        &self.basis
    }

    /// Returns the digest of all of this: what was seen is what runs.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Returns when the call was made.
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// Returns the state it is in.
    pub fn state(&self) -> &ExecutionState {
        &self.state
    }
}
