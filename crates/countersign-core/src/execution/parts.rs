//! An execution taken apart: to be stored, and to be read back.

use countersign_seal::GateToken;
use jiff::Timestamp;

use super::{DecisionContext, Execution, ExecutionState};
use crate::shell::{CanonicalCommandLine, CommandPart};
use crate::{ApprovalId, Digest, Effect, Preview, Risk, ToolCall, Verdict};

/// Everything an execution consists of. Only the gate puts one together again.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionParts {
    /// Its id.
    pub id: ApprovalId,
    /// The call.
    pub call: ToolCall,
    /// What it would do.
    pub effects: Vec<Effect>,
    /// The commands it would run, one by one.
    pub commands: Vec<CommandPart>,
    /// What is executed in the place of its text if nobody is asked, where it is a command.
    pub canonical: Option<CanonicalCommandLine>,
    /// What it would do, in one sentence.
    pub summary: String,
    /// How risky that is.
    pub risk: Risk,
    /// What the policy said of it.
    pub verdict: Verdict,
    /// What a person sees; none where nobody was asked.
    pub preview: Option<Preview>,
    /// What else the decision depends on.
    pub basis: DecisionContext,
    /// The digest of all of this.
    pub digest: Digest,
    /// When the call was made.
    pub created_at: Timestamp,
    /// The state it is in.
    pub state: ExecutionState,
}

impl Execution {
    /// Returns the execution that a row of the store holds.
    pub fn from_row(parts: ExecutionParts, _: GateToken) -> Self {
        let ExecutionParts {
            id,
            call,
            effects,
            commands,
            canonical,
            summary,
            risk,
            verdict,
            preview,
            basis,
            digest,
            created_at,
            state,
        } = parts;
        Self {
            id,
            call,
            effects,
            commands,
            canonical,
            summary,
            risk,
            verdict,
            preview,
            basis,
            digest,
            created_at,
            state,
        }
    }

    /// Takes the execution apart. Nothing outside the gate makes one of the parts again.
    pub fn into_parts(self) -> ExecutionParts {
        let Self {
            id,
            call,
            effects,
            commands,
            canonical,
            summary,
            risk,
            verdict,
            preview,
            basis,
            digest,
            created_at,
            state,
        } = self;
        ExecutionParts {
            id,
            call,
            effects,
            commands,
            canonical,
            summary,
            risk,
            verdict,
            preview,
            basis,
            digest,
            created_at,
            state,
        }
    }
}
