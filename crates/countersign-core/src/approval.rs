//! Approvals: the way of one call from the asking to the result, and the permit it may earn.
//!
//! Every transition consumes the old value, checks where it stands and returns the new one. The store
//! repeats the check as a compare-and-set on the old [`Status`]; of two that race, one wins.

mod elsewhere;
mod outside;
mod permit;
mod rehearsing;
mod seen;
mod state;

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use serde_json::Value;

pub use self::elsewhere::{Lease, NotTaken};
pub use self::outside::Outside;
pub use self::permit::Permit;
pub use self::state::{By, Failure, State, Status};
use crate::mask::fits_mask;
use crate::shell::{Canonical, Part};
use crate::{
    ApprovalId, ClientWitness, Digest, Effect, Preview, Proposal, Report, Risk, ToolCall,
    ToolOutput, Verdict, canonical_json,
};

/// What a person says to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run exactly this.
    Approve {
        /// Who says so.
        by: By,
    },
    /// Do not run it.
    Reject {
        /// Who says so.
        by: By,
        /// What to do instead.
        feedback: Option<String>,
    },
}

/// What a request stands on beside the call itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Basis {
    /// The version of the rules it was judged by.
    pub rules: Option<Digest>,
    /// What "always" could mean here, narrowest first; nothing where it may not be said.
    pub proposals: Vec<Proposal>,
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
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// The call.
    pub call: ToolCall,
    /// What it would do.
    pub effects: Vec<Effect>,
    /// The commands it would run, one by one.
    pub commands: Vec<Part>,
    /// What is executed in the place of its text if nobody is asked, where it is a command.
    pub canonical: Option<Canonical>,
    /// That in one sentence.
    pub summary: String,
    /// How risky that is.
    pub risk: Risk,
    /// What the policy said of it.
    pub verdict: Verdict,
    /// What a person sees; none where nobody was asked.
    pub preview: Option<Preview>,
    /// What else it stands on.
    pub basis: Basis,
    /// The digest of all of this: what was seen is what runs.
    pub digest: Digest,
    /// When the call was made.
    pub created_at: Timestamp,
    /// Where it stands.
    pub state: State,
}

/// An input as a person changed it, judged and previewed like a new call.
#[derive(Clone, Debug, PartialEq)]
pub struct Edited {
    /// The whole input.
    pub input: Value,
    /// What it would do.
    pub effects: Vec<Effect>,
    /// The commands it would run.
    pub commands: Vec<Part>,
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
pub struct AlreadySettled(pub Box<Approval>);

/// The call has no leave to start, or has started already.
#[derive(Debug, thiserror::Error)]
#[error("the call cannot start: it is {}", .0.status().as_str().to_lowercase())]
pub struct NotStartable(pub Box<Approval>);

impl Approval {
    /// Returns the digest that binds a decision to the call, to what it would do with which programs,
    /// to the rules it was judged by and to what was shown.
    pub fn binding(&self) -> Digest {
        let call = &self.call;
        // Said only where it is elsewhere: calls of before there was a choice stay bound as they are.
        let executor = call.executor.is_elsewhere().then(|| call.executor.as_str().as_bytes());
        Digest::of_parts(
            [
                call.id.to_string().as_bytes(),
                call.tool_name.as_bytes(),
                canonical_json(&call.input).as_bytes(),
                call.cwd.as_os_str().as_encoded_bytes(),
                written(&self.effects).as_bytes(),
                written(&self.commands).as_bytes(),
                written(&self.basis).as_bytes(),
                written(&self.preview.as_ref().map(Preview::unrehearsed)).as_bytes(),
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
    pub fn bound(self) -> Self {
        Self { digest: self.binding(), ..self }
    }

    /// Returns whether an input of it, as it is kept, is the one that is given: once it is settled, its
    /// secrets are masked.
    pub fn keeps(&self, kept: &Value, given: &Value) -> bool {
        let fits = || fits_mask(&canonical_json(kept), &canonical_json(given));
        kept == given || (self.state.is_settled() && fits())
    }

    /// Returns the name of the state it is in.
    pub fn status(&self) -> Status {
        self.state.status()
    }

    /// Returns whether leave was given, whatever came of it since.
    pub fn was_approved(&self) -> bool {
        match self.state {
            State::Approved { .. } | State::Executing { .. } | State::Completed { .. } => true,
            State::Failed { ref by, .. } => by.is_some(),
            State::Pending
            | State::AwaitingApproval { .. }
            | State::Rejected { .. }
            | State::Timeout { .. }
            | State::Cancelled { .. } => false,
        }
    }

    /// Returns the input as it may run: where nobody was asked about a command, its canonical form.
    pub fn input_to_run(&self) -> Cow<'_, Value> {
        let by = match &self.state {
            State::Approved { by, .. }
            | State::Executing { by, .. }
            | State::Completed { by, .. } => Some(by),
            _ => None,
        };
        match (&self.canonical, by) {
            // Without a shell it is a program and its words.
            (Some(canonical), Some(By::Policy)) if self.call.tool_name == "execute_command" => {
                canonical.put_words_into(&self.call.input)
            }
            (Some(canonical), Some(By::Policy)) => canonical.put_into(&self.call.input),
            _ => Cow::Borrowed(&self.call.input),
        }
    }

    /// Returns until when a decision counts, if one is waited for.
    pub fn deadline(&self) -> Option<Timestamp> {
        match self.state {
            State::AwaitingApproval { deadline } => Some(deadline),
            _ => None,
        }
    }

    /// Returns whether the call leaves the world as it was.
    pub fn is_read_only(&self) -> bool {
        !self.effects.is_empty() && self.effects.iter().all(Effect::is_read_only)
    }

    /// Returns what the model is told, once nothing can follow.
    pub fn answer(&self) -> Option<ToolOutput> {
        match &self.state {
            State::Pending
            | State::AwaitingApproval { .. }
            | State::Approved { .. }
            | State::Executing { .. }
            // Whoever took its place answers.
            | State::Failed { replaced_by: Some(_), .. }
            | State::Cancelled { replaced_by: Some(_), .. } => None,
            State::Completed { is_error, result, attachments, reported, .. } => {
                let told = reported.then(|| Report::told_of(result).content);
                let content = self.with_edit(told.as_deref().unwrap_or(result));
                let attachments = attachments.clone();
                Some(ToolOutput { content, is_error: *is_error, attachments })
            }
            State::Failed { failure, by, .. } => {
                let told = if by.is_some() {
                    self.with_edit(&failure.error)
                } else {
                    failure.error.clone()
                };
                Some(ToolOutput::error(told))
            }
            State::Rejected { feedback: Some(feedback), .. } => {
                Some(ToolOutput::error(format!("User rejected: {feedback}")))
            }
            State::Rejected { feedback: None, .. } => Some(ToolOutput::error("User rejected")),
            State::Timeout { .. } => Some(ToolOutput::error("Approval timed out")),
            State::Cancelled { .. } => {
                Some(ToolOutput::error("Cancelled: the run was interrupted before this ran"))
            }
        }
    }

    /// Returns the request that took this one's place, if one did.
    pub fn replaced_by(&self) -> Option<ApprovalId> {
        match self.state {
            State::Failed { replaced_by, .. } | State::Cancelled { replaced_by, .. } => replaced_by,
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
    pub fn ask(self, deadline: Timestamp) -> Result<Self, AlreadySettled> {
        self.leave_pending(State::AwaitingApproval { deadline })
    }

    /// Lets a new call pass because the policy allows it.
    pub fn allow(self, now: Timestamp) -> Result<Self, AlreadySettled> {
        let state = self.approved(By::Policy, now);
        self.leave_pending(state)
    }

    /// Ends a new call that is invalid or denied.
    pub fn refuse(self, failure: Failure, now: Timestamp) -> Result<Self, AlreadySettled> {
        self.leave_pending(State::Failed { by: None, at: now, failure, replaced_by: None })
    }

    /// Settles a request that waits.
    ///
    /// A decision that comes at the deadline or later settles it as timed out, whatever it says: late
    /// consent is no consent.
    pub fn settle(self, decision: Decision, now: Timestamp) -> Result<Self, AlreadySettled> {
        let State::AwaitingApproval { deadline } = self.state else {
            return Err(AlreadySettled(Box::new(self)));
        };
        let state = match decision {
            _ if now >= deadline => State::Timeout { at: now },
            Decision::Approve { by } => self.approved(by, now),
            Decision::Reject { by, feedback } => State::Rejected { by, at: now, feedback },
        };
        Ok(Self { state, ..self })
    }

    /// Settles a call whose time has come: nobody decided, came to run it or reported. Gives it back
    /// unchanged if it has not.
    pub fn expire(self, now: Timestamp) -> Result<Self, AlreadySettled> {
        if self.has_lapsed(now) {
            Ok(self.lapsed(now))
        } else {
            Err(AlreadySettled(Box::new(self)))
        }
    }

    /// Takes back a call that has not started; one that runs elsewhere is given up.
    pub fn cancel(self, now: Timestamp) -> Result<Self, AlreadySettled> {
        match self.state {
            State::Pending | State::AwaitingApproval { .. } | State::Approved { .. } => {
                Ok(Self { state: State::Cancelled { at: now, replaced_by: None }, ..self })
            }
            State::Executing { lease: Some(_), .. } => self.fail(given_up(), now),
            _ => Err(AlreadySettled(Box::new(self))),
        }
    }

    /// Gives way to another request: one for the edited input, which is riskier than what was asked.
    pub fn give_way(self, to: ApprovalId, now: Timestamp) -> Result<Self, AlreadySettled> {
        match self.state {
            State::AwaitingApproval { deadline } if now < deadline => {
                Ok(Self { state: State::Cancelled { at: now, replaced_by: Some(to) }, ..self })
            }
            _ => Err(AlreadySettled(Box::new(self))),
        }
    }

    /// Approves a request with the input as a person changed it, judged and previewed anew.
    ///
    /// The original input is kept beside it. Consent that comes late is none, here too.
    pub fn settle_edited(
        self,
        edited: Edited,
        by: By,
        now: Timestamp,
    ) -> Result<Self, AlreadySettled> {
        let settled = self.settle(Decision::Approve { by }, now)?;
        if settled.status() != Status::Approved {
            return Ok(settled);
        }
        let Edited { input, effects, commands, summary, risk, verdict, preview, rules, witness } =
            edited;
        let original = settled.basis.edited_from.clone().unwrap_or(settled.call.input.clone());
        let basis = Basis { edited_from: Some(original), rules, witness, ..settled.basis };
        let call = ToolCall { input, ..settled.call };
        let preview = Some(preview);
        Ok(Self { call, effects, commands, summary, risk, verdict, preview, basis, ..settled }
            .bound())
    }

    /// Ends an approved call that may no longer start: the rules now deny it.
    pub fn withdraw(self, failure: Failure, now: Timestamp) -> Result<Self, AlreadySettled> {
        match self.state {
            State::Approved { .. } => {
                let state = State::Failed { by: None, at: now, failure, replaced_by: None };
                Ok(Self { state, ..self })
            }
            _ => Err(AlreadySettled(Box::new(self))),
        }
    }

    /// Ends a started call that would not have done what was approved; it is asked for again.
    pub fn supersede(
        self,
        failure: Failure,
        by_request: ApprovalId,
        now: Timestamp,
    ) -> Result<Self, AlreadySettled> {
        match self.state {
            State::Executing { by, .. } => {
                let replaced_by = Some(by_request);
                let state = State::Failed { by: Some(by), at: now, failure, replaced_by };
                Ok(Self { state, ..self })
            }
            _ => Err(AlreadySettled(Box::new(self))),
        }
    }

    /// Starts an approved call: the only source of permits.
    ///
    /// The permit counts only once the store has recorded the start; the gate keeps it until then.
    pub fn start(self, now: Timestamp) -> Result<(Self, Permit), NotStartable> {
        // What somebody else is to run gets a lease, see `lend`, and no permit.
        let elsewhere = self.call.executor.is_elsewhere();
        let State::Approved { by, at, .. } = self.state.clone() else {
            return Err(NotStartable(Box::new(self)));
        };
        if elsewhere {
            return Err(NotStartable(Box::new(self)));
        }
        let permit = Permit {
            approval: self.id,
            call: self.call.clone(),
            effects: self.effects.clone(),
            outside: self.outside(&by),
            preimages: self.preview.as_ref().map(Preview::preimages).unwrap_or_default().to_vec(),
            rehearsal: self.kept_rehearsal().cloned(),
            canonical: self.canonical.clone().filter(|_| by == By::Policy),
        };
        let state = State::Executing { by, approved_at: at, since: now, lease: None };
        Ok((Self { state, ..self }, permit))
    }

    /// Records what the tool gave back.
    pub fn complete(self, output: ToolOutput, now: Timestamp) -> Result<Self, AlreadySettled> {
        let State::Executing { by, approved_at, since, .. } = self.state else {
            return Err(AlreadySettled(Box::new(self)));
        };
        let ToolOutput { content: result, is_error, attachments } = output;
        let state = State::Completed {
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
    pub fn fail(self, failure: Failure, now: Timestamp) -> Result<Self, AlreadySettled> {
        match self.state {
            State::Executing { by, .. } => Ok(Self {
                state: State::Failed { by: Some(by), at: now, failure, replaced_by: None },
                ..self
            }),
            _ => Err(AlreadySettled(Box::new(self))),
        }
    }

    /// Leave to start; where somebody else is to start it, not for ever.
    fn approved(&self, by: By, now: Timestamp) -> State {
        let until = self.call.executor.patience().map(|seconds| {
            // In whole milliseconds, as the table holds it: both must agree on when it is over.
            let until = now.as_millisecond().saturating_add(seconds.saturating_mul(1000));
            Timestamp::from_millisecond(until).unwrap_or(Timestamp::MAX)
        });
        State::Approved { by, at: now, until }
    }

    fn leave_pending(self, state: State) -> Result<Self, AlreadySettled> {
        match self.state {
            State::Pending => Ok(Self { state, ..self }),
            _ => Err(AlreadySettled(Box::new(self))),
        }
    }
}

fn given_up() -> Failure {
    Failure {
        error_type: "interrupted".to_owned(),
        error: "Interrupted: the run was stopped while this ran elsewhere. Whether it took effect \
                is unknown; look before trying again."
            .to_owned(),
    }
}

/// What cannot be written down would bind to nothing: the error makes it differ from all else.
fn written(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(value) => canonical_json(&value),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
