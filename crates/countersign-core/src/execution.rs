//! Executions: the life of one call from its submission to its result, and the permit it may earn.
//!
//! Anybody may read an [`Execution`]. Only the gate makes one, as an [`ExecutionDraft`], and changes one,
//! as a [`LockedExecution`]. Every transition consumes the old value, checks its state and returns the
//! new one. The store repeats the check as a compare-and-set on the old [`ExecutionStatus`]; of two that
//! race, one wins.

mod accessors;
mod draft;
mod failure;
mod locked;
mod observed_calls;
mod outside_files;
mod parts;
mod permit;
mod rehearsal_binding;
mod remote;
mod state;
mod transitions;

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use serde_json::Value;

pub use self::draft::ExecutionDraft;
pub use self::failure::{ExecutionFailure, FailureKind};
pub use self::locked::LockedExecution;
pub use self::outside_files::OutsideFile;
pub use self::parts::ExecutionParts;
pub use self::permit::{
    CallPermit, Permit, PermitTerms, RemotePermit, SignalledCall, StartedExecution,
};
pub use self::remote::{CallLease, ReportRejection};
pub use self::state::{ApprovedBy, ExecutionState, ExecutionStatus};
use crate::mask::fits_mask;
use crate::shell::{CanonicalCommandLine, CommandPart};
use crate::{
    ApprovalId, ClientWitness, Digest, Effect, ExecutionReport, GrantProposal, Preview, Risk,
    ToolCall, ToolOutput, Verdict, canonical_json,
};

/// What a person says to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run exactly this.
    Approve {
        /// Who says so.
        by: ApprovedBy,
    },
    /// Do not run it.
    Reject {
        /// Who says so.
        by: ApprovedBy,
        /// What to do instead.
        feedback: Option<String>,
    },
}

/// What a request stands on beside the call itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DecisionContext {
    /// The version of the rules it was judged by.
    pub rules: Option<Digest>,
    /// What "always" could mean here, narrowest first; nothing where it may not be said.
    pub proposals: Vec<GrantProposal>,
    /// The input as the model wrote it, where a person has changed it.
    pub edited_from: Option<Value>,
    /// What moved since it was approved before, where it is asked again.
    pub asked_again: Option<String>,
    /// The id of the token whose holder handed the call in, where it came over the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted_by: Option<String>,
    /// The client it was judged and shown with, where one runs it and has said what is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<ClientWitness>,
    /// Who told of the call after the fact, where the gate did not decide it itself: such a call is a
    /// record of what was seen, and gives nobody leave to run anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_by: Option<String>,
}

/// One call on its way, and everything its decision is bound to.
///
/// Only the gate makes one or changes its state: see [`ExecutionDraft`] and [`LockedExecution`].
// INVARIANT: its fields are written in this module only.
#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
    /// Its id.
    id: ApprovalId,
    /// The call.
    call: ToolCall,
    /// What it would do.
    effects: Vec<Effect>,
    /// The commands it would run, one by one.
    commands: Vec<CommandPart>,
    /// What is executed in the place of its text if nobody is asked, where it is a command.
    canonical: Option<CanonicalCommandLine>,
    /// That in one sentence.
    summary: String,
    /// How risky that is.
    risk: Risk,
    /// What the policy said of it.
    verdict: Verdict,
    /// What a person sees; none where nobody was asked.
    preview: Option<Preview>,
    /// What else it stands on.
    basis: DecisionContext,
    /// The digest of all of this: what was seen is what runs.
    digest: Digest,
    /// When the call was made.
    created_at: Timestamp,
    /// Where it stands.
    state: ExecutionState,
}

/// An input as a person changed it, judged and previewed like a new call.
#[derive(Clone, Debug, PartialEq)]
pub struct EditedInput {
    /// The whole input.
    pub input: Value,
    /// What it would do.
    pub effects: Vec<Effect>,
    /// The commands it would run.
    pub commands: Vec<CommandPart>,
    /// That in one sentence.
    pub summary: String,
    /// How risky that is.
    pub risk: Risk,
    /// What the policy said of it.
    pub verdict: Verdict,
    /// What it would look like.
    pub preview: Preview,
    /// The version of the rules it was judged by.
    pub rules: Option<Digest>,
    /// The client it was judged and shown with.
    pub witness: Option<ClientWitness>,
}

/// Someone, or the deadline, was faster: what stands comes along, to be shown.
#[derive(Debug, thiserror::Error)]
#[error("the request is already settled: {}", .0.status().as_str().to_lowercase())]
pub struct StateConflict(pub Box<Execution>);

impl AsRef<Execution> for Execution {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// The call has no leave to start, or has started already.
#[derive(Debug, thiserror::Error)]
#[error("the call cannot start: it is {}", .0.status().as_str().to_lowercase())]
pub struct StartRejection(pub Box<Execution>);

impl Execution {
    /// Returns the digest that binds a decision to the call, to what it would do with which programs,
    /// to the rules it was judged by and to what was shown.
    pub fn binding(&self) -> Digest {
        let call = &self.call;
        // Said only where it is elsewhere: calls of before there was a choice stay bound as they are.
        let executor = call.executor.is_remote().then(|| call.executor.as_str().as_bytes());
        Digest::for_parts(
            [
                call.id.to_string().as_bytes(),
                call.tool_name.as_bytes(),
                canonical_json(&call.input).as_bytes(),
                call.cwd.as_os_str().as_encoded_bytes(),
                to_json_text(&self.effects).as_bytes(),
                to_json_text(&self.commands).as_bytes(),
                to_json_text(&self.basis).as_bytes(),
                to_json_text(&self.preview.as_ref().map(Preview::without_rehearsal)).as_bytes(),
            ]
            .into_iter()
            .chain(executor)
            .chain(self.canonical.as_ref().map(|canonical| canonical.text.as_bytes()))
            // All that it did, and not how long that took.
            .chain(self.kept_rehearsal().map(|kept| kept.as_str().as_bytes())),
        )
    }

    /// Returns the same, bound to what it now holds.
    #[must_use]
    pub(crate) fn with_updated_binding(self) -> Self {
        Self { digest: self.binding(), ..self }
    }

    /// Returns whether an input of it, as it is kept, is the one that is given: once it is settled, its
    /// secrets are masked.
    pub fn matches_stored_input(&self, kept: &Value, given: &Value) -> bool {
        let fits = || fits_mask(&canonical_json(kept), &canonical_json(given));
        kept == given || (self.state.is_settled() && fits())
    }

    /// Returns the name of the state it is in.
    pub fn status(&self) -> ExecutionStatus {
        self.state.status()
    }

    /// Returns whether leave was given, whatever came of it since.
    pub fn was_approved(&self) -> bool {
        match self.state {
            ExecutionState::Approved { .. }
            | ExecutionState::Executing { .. }
            | ExecutionState::Completed { .. } => true,
            ExecutionState::Failed { ref by, .. } => by.is_some(),
            ExecutionState::Pending
            | ExecutionState::AwaitingApproval { .. }
            | ExecutionState::Rejected { .. }
            | ExecutionState::Timeout { .. }
            | ExecutionState::Cancelled { .. } => false,
        }
    }

    /// Returns the input as it may run: where nobody was asked about a command, its canonical form.
    pub fn input_to_run(&self) -> Cow<'_, Value> {
        let by = match &self.state {
            ExecutionState::Approved { by, .. }
            | ExecutionState::Executing { by, .. }
            | ExecutionState::Completed { by, .. } => Some(by),
            _ => None,
        };
        match (&self.canonical, by) {
            // Without a shell it is a program and its words.
            (Some(canonical), Some(ApprovedBy::Policy))
                if self.call.tool_name == "execute_command" =>
            {
                canonical.apply_argv_to_input(&self.call.input)
            }
            (Some(canonical), Some(ApprovedBy::Policy)) => {
                canonical.apply_to_input(&self.call.input)
            }
            _ => Cow::Borrowed(&self.call.input),
        }
    }

    /// Returns until when a decision counts, if one is waited for.
    pub fn deadline(&self) -> Option<Timestamp> {
        match self.state {
            ExecutionState::AwaitingApproval { deadline } => Some(deadline),
            _ => None,
        }
    }

    /// Returns whether the call leaves the world as it was.
    pub fn is_read_only(&self) -> bool {
        !self.effects.is_empty() && self.effects.iter().all(Effect::is_read_only)
    }

    /// Returns what the model is told, once nothing can follow.
    pub fn to_tool_output(&self) -> Option<ToolOutput> {
        match &self.state {
            ExecutionState::Pending
            | ExecutionState::AwaitingApproval { .. }
            | ExecutionState::Approved { .. }
            | ExecutionState::Executing { .. }
            // Whoever took its place answers.
            | ExecutionState::Failed { replaced_by: Some(_), .. }
            | ExecutionState::Cancelled { replaced_by: Some(_), .. } => None,
            ExecutionState::Completed { is_error, result, attachments, reported, .. } => {
                let told = reported.then(|| ExecutionReport::parse_stored_output(result).content);
                let content = self.with_edit(told.as_deref().unwrap_or(result));
                let attachments = attachments.clone();
                Some(ToolOutput { content, is_error: *is_error, attachments })
            }
            ExecutionState::Failed { failure, by, .. } => {
                let told = if by.is_some() {
                    self.with_edit(&failure.error)
                } else {
                    failure.error.clone()
                };
                Some(ToolOutput::error(told))
            }
            ExecutionState::Rejected { feedback: Some(feedback), .. } => {
                Some(ToolOutput::error(format!("User rejected: {feedback}")))
            }
            ExecutionState::Rejected { feedback: None, .. } => Some(ToolOutput::error("User rejected")),
            ExecutionState::Timeout { .. } => Some(ToolOutput::error("Approval timed out")),
            ExecutionState::Cancelled { .. } => {
                Some(ToolOutput::error("Cancelled: the run was interrupted before this ran"))
            }
        }
    }

    /// Returns the request that took this one's place, if one did.
    pub fn replaced_by(&self) -> Option<ApprovalId> {
        match self.state {
            ExecutionState::Failed { replaced_by, .. }
            | ExecutionState::Cancelled { replaced_by, .. } => replaced_by,
            _ => None,
        }
    }

    /// The model has to know that not what it wrote has run.
    fn with_edit(&self, result: &str) -> String {
        if self.basis.edited_from.is_none() {
            return result.to_owned();
        }
        let input = canonical_json(&self.call.input);
        format!("The user changed the input before it ran, to: {input}\n\n{result}")
    }
}

/// What cannot be written down would bind to nothing: the error makes it differ from all else.
fn to_json_text(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(value) => canonical_json(&value),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
