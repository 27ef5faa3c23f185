//! Approvals: the way of one call from the asking to the result, and the permit it may earn.
//!
//! Every transition consumes the old value, checks where it stands and returns the new one. The store
//! repeats the check as a compare-and-set on the old [`ExecutionStatus`]; of two that race, one wins.

mod observed_calls;
mod outside_files;
mod permit;
mod rehearsal_binding;
mod remote;
mod state;

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use serde_json::Value;

pub use self::outside_files::OutsideFile;
pub use self::permit::Permit;
pub use self::remote::{CallLease, ReportRejection};
pub use self::state::{ApprovedBy, ExecutionFailure, ExecutionState, ExecutionStatus};
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
#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
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
    /// That in one sentence.
    pub summary: String,
    /// How risky that is.
    pub risk: Risk,
    /// What the policy said of it.
    pub verdict: Verdict,
    /// What a person sees; none where nobody was asked.
    pub preview: Option<Preview>,
    /// What else it stands on.
    pub basis: DecisionContext,
    /// The digest of all of this: what was seen is what runs.
    pub digest: Digest,
    /// When the call was made.
    pub created_at: Timestamp,
    /// Where it stands.
    pub state: ExecutionState,
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
    pub fn with_updated_binding(self) -> Self {
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

    /// Puts a new call before a person.
    pub fn ask(self, deadline: Timestamp) -> Result<Self, StateConflict> {
        self.leave_pending(ExecutionState::AwaitingApproval { deadline })
    }

    /// Lets a new call pass because the policy allows it.
    pub fn allow(self, now: Timestamp) -> Result<Self, StateConflict> {
        let state = self.approved(ApprovedBy::Policy, now);
        self.leave_pending(state)
    }

    /// Ends a new call that is invalid or denied.
    pub fn refuse(self, failure: ExecutionFailure, now: Timestamp) -> Result<Self, StateConflict> {
        self.leave_pending(ExecutionState::Failed { by: None, at: now, failure, replaced_by: None })
    }

    /// Settles a request that waits.
    ///
    /// A decision that comes at the deadline or later settles it as timed out, whatever it says: late
    /// consent is no consent.
    pub fn settle(self, decision: Decision, now: Timestamp) -> Result<Self, StateConflict> {
        let ExecutionState::AwaitingApproval { deadline } = self.state else {
            return Err(StateConflict(Box::new(self)));
        };
        let state = match decision {
            _ if now >= deadline => ExecutionState::Timeout { at: now },
            Decision::Approve { by } => self.approved(by, now),
            Decision::Reject { by, feedback } => ExecutionState::Rejected { by, at: now, feedback },
        };
        Ok(Self { state, ..self })
    }

    /// Settles a call whose time has come: nobody decided, came to run it or reported. Gives it back
    /// unchanged if it has not.
    pub fn expire(self, now: Timestamp) -> Result<Self, StateConflict> {
        if self.has_lapsed(now) {
            Ok(self.expire_lapsed(now))
        } else {
            Err(StateConflict(Box::new(self)))
        }
    }

    /// Takes back a call that has not started; one that runs elsewhere is given up.
    pub fn cancel(self, now: Timestamp) -> Result<Self, StateConflict> {
        match self.state {
            ExecutionState::Pending
            | ExecutionState::AwaitingApproval { .. }
            | ExecutionState::Approved { .. } => {
                Ok(Self { state: ExecutionState::Cancelled { at: now, replaced_by: None }, ..self })
            }
            ExecutionState::Executing { lease: Some(_), .. } => {
                self.fail(cancellation_failure(), now)
            }
            _ => Err(StateConflict(Box::new(self))),
        }
    }

    /// Gives way to another request: one for the edited input, which is riskier than what was asked.
    pub fn replace_with(self, to: ApprovalId, now: Timestamp) -> Result<Self, StateConflict> {
        match self.state {
            ExecutionState::AwaitingApproval { deadline } if now < deadline => Ok(Self {
                state: ExecutionState::Cancelled { at: now, replaced_by: Some(to) },
                ..self
            }),
            _ => Err(StateConflict(Box::new(self))),
        }
    }

    /// Approves a request with the input as a person changed it, judged and previewed anew.
    ///
    /// The original input is kept beside it. Consent that comes late is none, here too.
    pub fn settle_edited(
        self,
        edited: EditedInput,
        by: ApprovedBy,
        now: Timestamp,
    ) -> Result<Self, StateConflict> {
        let settled = self.settle(Decision::Approve { by }, now)?;
        if settled.status() != ExecutionStatus::Approved {
            return Ok(settled);
        }
        let EditedInput {
            input,
            effects,
            commands,
            summary,
            risk,
            verdict,
            preview,
            rules,
            witness,
        } = edited;
        let original = settled.basis.edited_from.clone().unwrap_or(settled.call.input.clone());
        let basis =
            DecisionContext { edited_from: Some(original), rules, witness, ..settled.basis };
        let call = ToolCall { input, ..settled.call };
        let preview = Some(preview);
        Ok(Self { call, effects, commands, summary, risk, verdict, preview, basis, ..settled }
            .with_updated_binding())
    }

    /// Ends an approved call that may no longer start: the rules now deny it.
    pub fn withdraw(
        self,
        failure: ExecutionFailure,
        now: Timestamp,
    ) -> Result<Self, StateConflict> {
        match self.state {
            ExecutionState::Approved { .. } => {
                let state =
                    ExecutionState::Failed { by: None, at: now, failure, replaced_by: None };
                Ok(Self { state, ..self })
            }
            _ => Err(StateConflict(Box::new(self))),
        }
    }

    /// Ends a started call that would not have done what was approved; it is asked for again.
    pub fn supersede(
        self,
        failure: ExecutionFailure,
        by_request: ApprovalId,
        now: Timestamp,
    ) -> Result<Self, StateConflict> {
        match self.state {
            ExecutionState::Executing { by, .. } => {
                let replaced_by = Some(by_request);
                let state = ExecutionState::Failed { by: Some(by), at: now, failure, replaced_by };
                Ok(Self { state, ..self })
            }
            _ => Err(StateConflict(Box::new(self))),
        }
    }

    /// Starts an approved call: the only source of permits.
    ///
    /// The permit counts only once the store has recorded the start; the gate keeps it until then.
    pub fn start(self, now: Timestamp) -> Result<(Self, Permit), StartRejection> {
        // What somebody else is to run gets a lease, see `lend`, and no permit.
        let elsewhere = self.call.executor.is_remote();
        let ExecutionState::Approved { by, at, .. } = self.state.clone() else {
            return Err(StartRejection(Box::new(self)));
        };
        if elsewhere {
            return Err(StartRejection(Box::new(self)));
        }
        let permit = Permit {
            approval: self.id,
            call: self.call.clone(),
            effects: self.effects.clone(),
            outside: self.permitted_outside_files(&by),
            preimages: self.preview.as_ref().map(Preview::preimages).unwrap_or_default().to_vec(),
            rehearsal: self.kept_rehearsal().cloned(),
            canonical: self.canonical.clone().filter(|_| by == ApprovedBy::Policy),
        };
        let state = ExecutionState::Executing { by, approved_at: at, since: now, lease: None };
        Ok((Self { state, ..self }, permit))
    }

    /// Records what the tool gave back.
    pub fn complete(self, output: ToolOutput, now: Timestamp) -> Result<Self, StateConflict> {
        let ExecutionState::Executing { by, approved_at, since, .. } = self.state else {
            return Err(StateConflict(Box::new(self)));
        };
        let ToolOutput { content: result, is_error, attachments } = output;
        let state = ExecutionState::Completed {
            by,
            approved_at,
            since,
            at: now,
            is_error,
            result,
            attachments,
            reported: false,
        };
        Ok(Self { state, ..self })
    }

    /// Records that the tool broke off.
    pub fn fail(self, failure: ExecutionFailure, now: Timestamp) -> Result<Self, StateConflict> {
        match self.state {
            ExecutionState::Executing { by, .. } => Ok(Self {
                state: ExecutionState::Failed { by: Some(by), at: now, failure, replaced_by: None },
                ..self
            }),
            _ => Err(StateConflict(Box::new(self))),
        }
    }

    /// Leave to start; where somebody else is to start it, not for ever.
    fn approved(&self, by: ApprovedBy, now: Timestamp) -> ExecutionState {
        let until = self.call.executor.claim_timeout_secs().map(|seconds| {
            // In whole milliseconds, as the table holds it: both must agree on when it is over.
            let until = now.as_millisecond().saturating_add(seconds.saturating_mul(1000));
            Timestamp::from_millisecond(until).unwrap_or(Timestamp::MAX)
        });
        ExecutionState::Approved { by, at: now, until }
    }

    fn leave_pending(self, state: ExecutionState) -> Result<Self, StateConflict> {
        match self.state {
            ExecutionState::Pending => Ok(Self { state, ..self }),
            _ => Err(StateConflict(Box::new(self))),
        }
    }
}

fn cancellation_failure() -> ExecutionFailure {
    ExecutionFailure {
        error_type: "interrupted".to_owned(),
        error: "Interrupted: the run was stopped while this ran elsewhere. Whether it took effect \
                is unknown; look before trying again."
            .to_owned(),
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
