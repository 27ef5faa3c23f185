//! Calls that somebody else runs: lent for a while, and reported.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Execution, ExecutionFailure, ExecutionState, FailureKind, StartRejection};
use crate::mask::fits_mask;
use crate::{Executor, ReportedOutcome};

/// Leave to run a call elsewhere, for a while: whoever has the token has the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallLease {
    /// The secret of the one who got it. A result that brings another is foreign.
    pub token: String,
    /// The client it was given to.
    pub holder: String,
    /// From this moment on the holder counts as lost, unless the lease is renewed before.
    pub until: Timestamp,
}

/// Why a result, or a sign of life, was not taken; what stands comes along.
#[derive(Debug, thiserror::Error)]
pub enum ReportRejection {
    /// Nothing can follow any more.
    #[error("the call is already settled: {}", .0.status().as_str().to_lowercase())]
    Settled(Box<Execution>),
    /// Nobody has been told to run it.
    #[error("the call has not started: it is {}", .0.status().as_str().to_lowercase())]
    NotStarted(Box<Execution>),
    /// Somebody else has it.
    #[error("another client holds this call")]
    Foreign(Box<Execution>),
    /// Nobody reports it: who drives its run sees what comes of it.
    #[error("no client is expected to report on this call")]
    NotElsewhere(Box<Execution>),
}

impl ReportRejection {
    /// Returns what stands.
    pub fn execution(&self) -> &Execution {
        match self {
            Self::Settled(stands)
            | Self::NotStarted(stands)
            | Self::Foreign(stands)
            | Self::NotElsewhere(stands) => stands,
        }
    }
}

impl Execution {
    /// Returns until when somebody may come, decide or report, before the call lapses.
    pub fn lapses_at(&self) -> Option<Timestamp> {
        match &self.state {
            ExecutionState::AwaitingApproval { deadline } => Some(*deadline),
            ExecutionState::Approved { until, .. } => *until,
            ExecutionState::Executing { lease, .. } => lease.as_ref().map(|lease| lease.until),
            _ => None,
        }
    }

    /// Returns the lease it is held by, if somebody elsewhere runs it.
    pub fn lease(&self) -> Option<&CallLease> {
        match &self.state {
            ExecutionState::Executing { lease, .. } => lease.as_ref(),
            _ => None,
        }
    }

    /// Lends an approved call to somebody elsewhere, once.
    ///
    /// One that has waited too long for somebody to come has lapsed: it comes back as failed.
    pub(crate) fn lend(self, lease: CallLease, now: Timestamp) -> Result<Self, StartRejection> {
        if self.has_lapsed(now) {
            return Ok(self.expire_lapsed(now));
        }
        match self.state {
            ExecutionState::Approved { by, at, .. } if self.call.executor.is_remote() => {
                let lease = Some(lease);
                let state = ExecutionState::Executing { by, approved_at: at, since: now, lease };
                Ok(Self { state, ..self })
            }
            _ => Err(StartRejection(Box::new(self))),
        }
    }

    /// Prolongs a lease. One that is over is not prolonged: the call comes back as failed.
    pub(crate) fn renew(
        self,
        token: &str,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Self, ReportRejection> {
        let mut held = self.check_lease_token(Some(token))?;
        if held.has_lapsed(now) {
            return Ok(held.expire_lapsed(now));
        }
        if let ExecutionState::Executing { lease: Some(lease), .. } = &mut held.state {
            lease.until = until.max(lease.until);
        }
        Ok(held)
    }

    /// Records what came of a call that ran elsewhere.
    ///
    /// Without a token it is taken from whoever brings it. What comes after the lease, or after the
    /// time an approved call may wait, comes too late: the call comes back as failed.
    pub(crate) fn report(
        self,
        reported: &ReportedOutcome,
        token: Option<&str>,
        now: Timestamp,
    ) -> Result<Self, ReportRejection> {
        let held = self.check_lease_token(token)?;
        if held.has_lapsed(now) {
            return Ok(held.expire_lapsed(now));
        }
        let (by, approved_at, since) = match &held.state {
            ExecutionState::Executing { by, approved_at, since, .. } => {
                (by.clone(), *approved_at, *since)
            }
            ExecutionState::Approved { by, at, .. } => (by.clone(), *at, *at),
            _ => return Err(ReportRejection::Settled(Box::new(held))),
        };
        let state = match reported {
            ReportedOutcome::Done(report) => ExecutionState::Completed {
                by,
                approved_at,
                since,
                at: now,
                is_error: report.is_error(),
                result: report.to_json_text(),
                attachments: Vec::new(),
                reported: true,
            },
            ReportedOutcome::Failed(error) => ExecutionState::Failed {
                by: Some(by),
                at: now,
                failure: tool_failure(error),
                replaced_by: None,
            },
            ReportedOutcome::Drifted(error) => failed_state(by, now, drift_failure(error)),
        };
        Ok(Self { state, ..held })
    }

    /// Returns whether this is what was reported before.
    pub fn was_reported_as(&self, reported: &ReportedOutcome) -> bool {
        match (&self.state, reported) {
            (
                ExecutionState::Completed { result, reported: true, .. },
                ReportedOutcome::Done(report),
            ) => {
                let said = report.to_json_text();
                // Without its secrets it is no longer written as it was.
                let parsed = serde_json::from_str::<serde_json::Value>(&said);
                *result == said || parsed.is_ok_and(|it| fits_mask(result, &it.to_string()))
            }
            (
                ExecutionState::Failed { by: Some(_), failure, .. },
                ReportedOutcome::Failed(error),
            ) => {
                let said = tool_failure(error);
                *failure == said
                    || (failure.kind == said.kind && fits_mask(&failure.error, &said.error))
            }
            (
                ExecutionState::Failed { by: Some(_), failure, .. },
                ReportedOutcome::Drifted(error),
            ) => *failure == drift_failure(error),
            _ => false,
        }
    }

    /// Whoever brings the token has the call; without one, it is enough that somebody may.
    fn check_lease_token(self, token: Option<&str>) -> Result<Self, ReportRejection> {
        if !self.call.executor.sends_reports() {
            return Err(ReportRejection::NotElsewhere(Box::new(self)));
        }
        match (&self.state, token) {
            (ExecutionState::Executing { lease: Some(lease), .. }, Some(token))
                if lease.token != token =>
            {
                Err(ReportRejection::Foreign(Box::new(self)))
            }
            (ExecutionState::Executing { .. }, _) => Ok(self),
            // Who handed it in runs it, with or without asking for a lease first.
            (ExecutionState::Approved { .. }, None) if self.call.executor == Executor::Caller => {
                Ok(self)
            }
            (
                ExecutionState::Pending
                | ExecutionState::AwaitingApproval { .. }
                | ExecutionState::Approved { .. },
                _,
            ) => Err(ReportRejection::NotStarted(Box::new(self))),
            _ => Err(ReportRejection::Settled(Box::new(self))),
        }
    }

    /// Returns whether nobody came, decided or reported in time.
    pub(super) fn has_lapsed(&self, now: Timestamp) -> bool {
        self.lapses_at().is_some_and(|until| now >= until)
    }

    /// What becomes of a call whose time is over.
    pub(super) fn expire_lapsed(self, now: Timestamp) -> Self {
        let state = match self.state {
            ExecutionState::AwaitingApproval { .. } => ExecutionState::Timeout { at: now },
            ExecutionState::Approved { by, .. } => {
                failed_state(by, now, unclaimed_failure(self.call.executor))
            }
            ExecutionState::Executing { by, lease: Some(_), .. }
                if self.basis.reported_by.is_some() =>
            {
                let failure = super::observed_calls::missing_result_failure(&by);
                failed_state(by, now, failure)
            }
            ExecutionState::Executing { by, lease: Some(_), .. } => {
                failed_state(by, now, client_lost_failure())
            }
            other => other,
        };
        Self { state, ..self }
    }
}

fn failed_state(by: super::ApprovedBy, at: Timestamp, failure: ExecutionFailure) -> ExecutionState {
    ExecutionState::Failed { by: Some(by), at, failure, replaced_by: None }
}

pub(super) fn tool_failure(error: &str) -> ExecutionFailure {
    ExecutionFailure::new(FailureKind::ToolError, error)
}

fn drift_failure(error: &str) -> ExecutionFailure {
    ExecutionFailure::new(FailureKind::FileChanged, error)
}

fn unclaimed_failure(executor: Executor) -> ExecutionFailure {
    let (kind, error) = match executor {
        Executor::Local | Executor::Client | Executor::ClaudeCli => (
            FailureKind::NoClient,
            "No client came to run this within 5 minutes of its approval; it was not run.",
        ),
        Executor::Caller => (
            FailureKind::NoResult,
            "Nobody reported a result within an hour of the approval. Whether it ran is unknown.",
        ),
    };
    ExecutionFailure::new(kind, error)
}

fn client_lost_failure() -> ExecutionFailure {
    let error = "The client that was to run this is gone. Whether it took effect is unknown; look \
                 before trying again.";
    ExecutionFailure::new(FailureKind::ClientLost, error)
}

#[cfg(test)]
mod tests;
