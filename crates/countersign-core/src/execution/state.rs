//! Where one execution stands, and the names of those places.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{CallLease, ExecutionFailure};
use crate::{ApprovalId, Attachment, Secrets};

/// Who gave leave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "name", rename_all = "snake_case")]
pub enum ApprovedBy {
    /// The policy: nobody had to be asked.
    Policy,
    /// A person, by name.
    Person(String),
    /// A person who had something to say with it.
    PersonSaying {
        /// Their name.
        name: String,
        /// What they said.
        words: String,
    },
    /// The callback of a program that embeds the library.
    Callback,
    /// Somebody at the prompt of another agent, which reported that it asked there.
    AgentPrompt,
}

impl ApprovedBy {
    /// Returns a person, and what they said with their yes.
    pub fn person(name: impl Into<String>, words: Option<String>) -> Self {
        let name = name.into();
        match words {
            Some(words) => Self::PersonSaying { name, words },
            None => Self::Person(name),
        }
    }

    /// Returns what they said.
    pub fn comment(&self) -> Option<&str> {
        match self {
            Self::PersonSaying { words, .. } => Some(words),
            Self::Policy | Self::Person(_) | Self::Callback | Self::AgentPrompt => None,
        }
    }
}

impl ApprovedBy {
    fn hide(&mut self, secrets: &Secrets) {
        if let Self::PersonSaying { words, .. } = self {
            *words = secrets.hide_in_text(words);
        }
    }
}

/// Returns a result without secrets. A report is JSON, and must stay that.
fn hidden_result(secrets: &Secrets, result: &str, reported: bool) -> String {
    match serde_json::from_str::<serde_json::Value>(result) {
        Ok(report) if reported => match secrets.hide_in(&report) {
            // As it was written: nothing was in it.
            hidden if hidden == report => result.to_owned(),
            hidden => hidden.to_string(),
        },
        _ => secrets.hide_in_text(result),
    }
}

impl fmt::Display for ApprovedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy => f.write_str("policy"),
            Self::Person(name) | Self::PersonSaying { name, .. } => f.write_str(name),
            Self::Callback => f.write_str("callback"),
            Self::AgentPrompt => f.write_str("agent prompt"),
        }
    }
}

/// Where one execution stands. What is known only in one state lives in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ExecutionState {
    /// Judged, not yet admitted or asked for.
    Pending,
    /// A person is to decide.
    AwaitingApproval {
        /// From this moment on no consent counts.
        deadline: Timestamp,
    },
    /// It may start, once.
    Approved {
        /// Who said so.
        by: ApprovedBy,
        /// When.
        at: Timestamp,
        /// Until when somebody may come to run it, where it runs elsewhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// It has started.
    Executing {
        /// Who gave leave.
        by: ApprovedBy,
        /// When that was.
        approved_at: Timestamp,
        /// When it started.
        since: Timestamp,
        /// Who has it, where it runs elsewhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease: Option<CallLease>,
    },
    /// It ran and gave an answer.
    Completed {
        /// Who gave leave.
        by: ApprovedBy,
        /// When that was.
        approved_at: Timestamp,
        /// When it started.
        since: Timestamp,
        /// When it ended.
        at: Timestamp,
        /// Whether the answer tells of a failure of what was run.
        is_error: bool,
        /// The answer; where it was reported from elsewhere, the report as JSON.
        result: String,
        /// What was shown beside it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        /// Whether the answer is a report from elsewhere.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reported: bool,
    },
    /// It could not run, or broke off.
    Failed {
        /// Who gave leave, if it came to that.
        by: Option<ApprovedBy>,
        /// When it failed.
        at: Timestamp,
        /// Why.
        #[serde(flatten)]
        failure: ExecutionFailure,
        /// The request that took its place, if one did.
        #[serde(default)]
        replaced_by: Option<ApprovalId>,
    },
    /// A person said no.
    Rejected {
        /// Who.
        by: ApprovedBy,
        /// When.
        at: Timestamp,
        /// What they want instead.
        feedback: Option<String>,
    },
    /// Nobody decided in time.
    Timeout {
        /// When that was noticed.
        at: Timestamp,
    },
    /// The run was interrupted, or the asker went away.
    Cancelled {
        /// When.
        at: Timestamp,
        /// The request that took its place, if one did.
        #[serde(default)]
        replaced_by: Option<ApprovalId>,
    },
}

/// The name of a state: upper case in the store, lower case on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    /// See [`ExecutionState::Pending`].
    Pending,
    /// See [`ExecutionState::AwaitingApproval`].
    AwaitingApproval,
    /// See [`ExecutionState::Approved`].
    Approved,
    /// See [`ExecutionState::Executing`].
    Executing,
    /// See [`ExecutionState::Completed`].
    Completed,
    /// See [`ExecutionState::Failed`].
    Failed,
    /// See [`ExecutionState::Rejected`].
    Rejected,
    /// See [`ExecutionState::Timeout`].
    Timeout,
    /// See [`ExecutionState::Cancelled`].
    Cancelled,
}

impl ExecutionStatus {
    /// Every status, in the order of the way through.
    pub const ALL: [Self; 9] = [
        Self::Pending,
        Self::AwaitingApproval,
        Self::Approved,
        Self::Executing,
        Self::Completed,
        Self::Failed,
        Self::Rejected,
        Self::Timeout,
        Self::Cancelled,
    ];

    /// Returns the name as it stands in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::AwaitingApproval => "AWAITING_APPROVAL",
            Self::Approved => "APPROVED",
            Self::Executing => "EXECUTING",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Rejected => "REJECTED",
            Self::Timeout => "TIMEOUT",
            Self::Cancelled => "CANCELLED",
        }
    }

    /// Returns whether nothing can follow.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Pending | Self::AwaitingApproval | Self::Approved | Self::Executing => false,
            Self::Completed | Self::Failed | Self::Rejected | Self::Timeout | Self::Cancelled => {
                true
            }
        }
    }
}

impl fmt::Display for ExecutionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ExecutionStatus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| format!("no status is called `{text}`"))
    }
}

impl ExecutionState {
    /// Returns the name of the state.
    pub fn status(&self) -> ExecutionStatus {
        match self {
            Self::Pending => ExecutionStatus::Pending,
            Self::AwaitingApproval { .. } => ExecutionStatus::AwaitingApproval,
            Self::Approved { .. } => ExecutionStatus::Approved,
            Self::Executing { .. } => ExecutionStatus::Executing,
            Self::Completed { .. } => ExecutionStatus::Completed,
            Self::Failed { .. } => ExecutionStatus::Failed,
            Self::Rejected { .. } => ExecutionStatus::Rejected,
            Self::Timeout { .. } => ExecutionStatus::Timeout,
            Self::Cancelled { .. } => ExecutionStatus::Cancelled,
        }
    }

    /// Returns whether nothing can follow.
    pub fn is_settled(&self) -> bool {
        self.status().is_terminal()
    }

    /// Returns the same without secrets: what was given back, what went wrong, what people said.
    #[must_use]
    pub fn without_secrets(&self, secrets: &Secrets) -> Self {
        let mut state = self.clone();
        match &mut state {
            Self::Approved { by, .. } | Self::Executing { by, .. } => by.hide(secrets),
            Self::Completed { by, result, reported, .. } => {
                by.hide(secrets);
                *result = hidden_result(secrets, result, *reported);
            }
            Self::Failed { by, failure, .. } => {
                for by in by.iter_mut() {
                    by.hide(secrets);
                }
                failure.error = secrets.hide_in_text(&failure.error);
            }
            Self::Rejected { by, feedback, .. } => {
                by.hide(secrets);
                *feedback = feedback.as_deref().map(|text| secrets.hide_in_text(text));
            }
            Self::Pending
            | Self::AwaitingApproval { .. }
            | Self::Timeout { .. }
            | Self::Cancelled { .. } => {}
        }
        state
    }

    /// Returns what the person said who decided.
    pub fn decision_comment(&self) -> Option<&str> {
        match self {
            Self::Approved { by, .. }
            | Self::Executing { by, .. }
            | Self::Completed { by, .. }
            | Self::Failed { by: Some(by), .. } => by.comment(),
            Self::Rejected { feedback, .. } => feedback.as_deref(),
            Self::Pending
            | Self::AwaitingApproval { .. }
            | Self::Failed { by: None, .. }
            | Self::Timeout { .. }
            | Self::Cancelled { .. } => None,
        }
    }
}
