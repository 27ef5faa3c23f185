//! Calls that somebody else runs: lent for a while, and reported.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Approval, Failure, NotStartable, State};
use crate::mask::fits_mask;
use crate::{Executor, Reported};

/// Leave to run a call elsewhere, for a while: whoever has the token has the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The secret of the one who got it. A result that brings another is foreign.
    pub token: String,
    /// The client it was given to.
    pub holder: String,
    /// From this moment on the holder counts as lost, unless the lease is renewed before.
    pub until: Timestamp,
}

/// Why a result, or a sign of life, was not taken; what stands comes along.
#[derive(Debug, thiserror::Error)]
pub enum NotTaken {
    /// Nothing can follow any more.
    #[error("the call is already settled: {}", .0.status().as_str().to_lowercase())]
    Settled(Box<Approval>),
    /// Nobody has been told to run it.
    #[error("the call has not started: it is {}", .0.status().as_str().to_lowercase())]
    NotStarted(Box<Approval>),
    /// Somebody else has it.
    #[error("somebody else was told to run this call")]
    Foreign(Box<Approval>),
    /// Nobody reports it: who drives its run sees what comes of it.
    #[error("nobody has to report what came of this call")]
    NotElsewhere(Box<Approval>),
}

impl NotTaken {
    /// Returns what stands.
    pub fn stands(&self) -> &Approval {
        match self {
            Self::Settled(stands)
            | Self::NotStarted(stands)
            | Self::Foreign(stands)
            | Self::NotElsewhere(stands) => stands,
        }
    }
}

impl Approval {
    /// Returns until when somebody may come, decide or report, before the call lapses.
    pub fn lapses_at(&self) -> Option<Timestamp> {
        match &self.state {
            State::AwaitingApproval { deadline } => Some(*deadline),
            State::Approved { until, .. } => *until,
            State::Executing { lease, .. } => lease.as_ref().map(|lease| lease.until),
            _ => None,
        }
    }

    /// Returns the lease it is held by, if somebody elsewhere runs it.
    pub fn lease(&self) -> Option<&Lease> {
        match &self.state {
            State::Executing { lease, .. } => lease.as_ref(),
            _ => None,
        }
    }

    /// Lends an approved call to somebody elsewhere, once.
    ///
    /// One that has waited too long for somebody to come has lapsed: it comes back as failed.
    pub fn lend(self, lease: Lease, now: Timestamp) -> Result<Self, NotStartable> {
        if self.has_lapsed(now) {
            return Ok(self.lapsed(now));
        }
        match self.state {
            State::Approved { by, at, .. } if self.call.executor.is_elsewhere() => {
                let lease = Some(lease);
                let state = State::Executing { by, approved_at: at, since: now, lease };
                Ok(Self { state, ..self })
            }
            _ => Err(NotStartable(Box::new(self))),
        }
    }

    /// Prolongs a lease. One that is over is not prolonged: the call comes back as failed.
    pub fn renew(self, token: &str, until: Timestamp, now: Timestamp) -> Result<Self, NotTaken> {
        let mut held = self.held_by(Some(token))?;
        if held.has_lapsed(now) {
            return Ok(held.lapsed(now));
        }
        if let State::Executing { lease: Some(lease), .. } = &mut held.state {
            lease.until = until.max(lease.until);
        }
        Ok(held)
    }

    /// Records what came of a call that ran elsewhere.
    ///
    /// Without a token it is taken from whoever brings it. What comes after the lease, or after the
    /// time an approved call may wait, comes too late: the call comes back as failed.
    pub fn report(
        self,
        reported: &Reported,
        token: Option<&str>,
        now: Timestamp,
    ) -> Result<Self, NotTaken> {
        let held = self.held_by(token)?;
        if held.has_lapsed(now) {
            return Ok(held.lapsed(now));
        }
        let (by, approved_at, since) = match &held.state {
            State::Executing { by, approved_at, since, .. } => (by.clone(), *approved_at, *since),
            State::Approved { by, at, .. } => (by.clone(), *at, *at),
            _ => return Err(NotTaken::Settled(Box::new(held))),
        };
        let state = match reported {
            Reported::Done(report) => State::Completed {
                by,
                approved_at,
                since,
                at: now,
                is_error: report.is_error(),
                result: report.written(),
                attachments: Vec::new(),
                reported: true,
            },
            Reported::Failed(error) => State::Failed {
                by: Some(by),
                at: now,
                failure: tool_error(error),
                replaced_by: None,
            },
            Reported::Drifted(error) => failed(by, now, drifted(error)),
        };
        Ok(Self { state, ..held })
    }

    /// Returns whether this is what was reported before.
    pub fn was_reported_as(&self, reported: &Reported) -> bool {
        match (&self.state, reported) {
            (State::Completed { result, reported: true, .. }, Reported::Done(report)) => {
                let said = report.written();
                // Without its secrets it is no longer written as it was.
                let parsed = serde_json::from_str::<serde_json::Value>(&said);
                *result == said || parsed.is_ok_and(|it| fits_mask(result, &it.to_string()))
            }
            (State::Failed { by: Some(_), failure, .. }, Reported::Failed(error)) => {
                let said = tool_error(error);
                *failure == said
                    || (failure.error_type == said.error_type
                        && fits_mask(&failure.error, &said.error))
            }
            (State::Failed { by: Some(_), failure, .. }, Reported::Drifted(error)) => {
                *failure == drifted(error)
            }
            _ => false,
        }
    }

    /// Whoever brings the token has the call; without one, it is enough that somebody may.
    fn held_by(self, token: Option<&str>) -> Result<Self, NotTaken> {
        if !self.call.executor.reports() {
            return Err(NotTaken::NotElsewhere(Box::new(self)));
        }
        match (&self.state, token) {
            (State::Executing { lease: Some(lease), .. }, Some(token)) if lease.token != token => {
                Err(NotTaken::Foreign(Box::new(self)))
            }
            (State::Executing { .. }, _) => Ok(self),
            // Who handed it in runs it, with or without asking for a lease first.
            (State::Approved { .. }, None) if self.call.executor == Executor::Caller => Ok(self),
            (State::Pending | State::AwaitingApproval { .. } | State::Approved { .. }, _) => {
                Err(NotTaken::NotStarted(Box::new(self)))
            }
            _ => Err(NotTaken::Settled(Box::new(self))),
        }
    }

    /// Returns whether nobody came, decided or reported in time.
    pub(super) fn has_lapsed(&self, now: Timestamp) -> bool {
        self.lapses_at().is_some_and(|until| now >= until)
    }

    /// What becomes of a call whose time is over.
    pub(super) fn lapsed(self, now: Timestamp) -> Self {
        let state = match self.state {
            State::AwaitingApproval { .. } => State::Timeout { at: now },
            State::Approved { by, .. } => failed(by, now, unclaimed(self.call.executor)),
            State::Executing { by, lease: Some(_), .. } if self.basis.reported_by.is_some() => {
                let failure = super::seen::without_result(&by);
                failed(by, now, failure)
            }
            State::Executing { by, lease: Some(_), .. } => failed(by, now, client_lost()),
            other => other,
        };
        Self { state, ..self }
    }
}

fn failed(by: super::By, at: Timestamp, failure: Failure) -> State {
    State::Failed { by: Some(by), at, failure, replaced_by: None }
}

pub(super) fn tool_error(error: &str) -> Failure {
    Failure { error_type: "tool_error".to_owned(), error: error.to_owned() }
}

fn drifted(error: &str) -> Failure {
    Failure { error_type: "file_changed".to_owned(), error: error.to_owned() }
}

fn unclaimed(executor: Executor) -> Failure {
    let (error_type, error) = match executor {
        Executor::Local | Executor::Client | Executor::ClaudeCli => (
            "no_client",
            "No client came to run this within 5 minutes of its approval; it was not run.",
        ),
        Executor::Caller => (
            "no_result",
            "Nobody reported a result within an hour of the approval. Whether it ran is unknown.",
        ),
    };
    Failure { error_type: error_type.to_owned(), error: error.to_owned() }
}

fn client_lost() -> Failure {
    Failure {
        error_type: "client_lost".to_owned(),
        error: "The client that was to run this is gone. Whether it took effect is unknown; look \
                before trying again."
            .to_owned(),
    }
}

#[cfg(test)]
mod tests;
