//! Calls of another agent that were seen and not decided here: told of after the fact, as a record.
//!
//! Such a call never stands at `APPROVED`, and whoever runs it has no lease of ours to show: nothing can
//! be started on its account.

use jiff::Timestamp;

use super::remote::tool_failure;
use super::{
    ApprovedBy, CallLease, Execution, ExecutionFailure, ExecutionState, FailureKind, StateConflict,
};
use crate::ReportedOutcome;

impl Execution {
    /// Records that a call was let pass elsewhere: by the rules, or by somebody at the agent's prompt.
    ///
    /// It counts as running until its result is told of, or until nothing was heard of it for long.
    pub(crate) fn record_observed_start(
        self,
        by: ApprovedBy,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Self, StateConflict> {
        let is_report = self.basis.reported_by.is_some();
        match self.state {
            ExecutionState::Pending if is_report => {
                // Nobody is told the token, so nobody can show it.
                let lease =
                    CallLease { token: self.id.to_string(), holder: HOLDER.to_owned(), until };
                let state = ExecutionState::Executing {
                    by,
                    approved_at: now,
                    since: now,
                    lease: Some(lease),
                };
                Ok(Self { state, ..self })
            }
            _ => Err(StateConflict(Box::new(self))),
        }
    }

    /// Records what came of a call that was only seen.
    pub(crate) fn record_observed_result(
        self,
        reported: &ReportedOutcome,
        now: Timestamp,
    ) -> Result<Self, StateConflict> {
        let is_report = self.basis.reported_by.is_some();
        let ExecutionState::Executing { by, approved_at, since, .. } = &self.state else {
            return Err(StateConflict(Box::new(self)));
        };
        if !is_report {
            return Err(StateConflict(Box::new(self)));
        }
        let (by, approved_at, since) = (by.clone(), *approved_at, *since);
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
            ReportedOutcome::Failed(error) | ReportedOutcome::Drifted(error) => {
                ExecutionState::Failed {
                    by: Some(by),
                    at: now,
                    failure: tool_failure(error),
                    replaced_by: None,
                }
            }
        };
        Ok(Self { state, ..self })
    }
}

/// Who has a call that was only seen.
const HOLDER: &str = "hook";

/// Why a call that was only seen is over without a result.
pub(super) fn missing_result_failure(by: &ApprovedBy) -> ExecutionFailure {
    let error = match by {
        ApprovedBy::AgentPrompt => {
            "The agent was to ask at its own prompt, and reported no result within an hour. Most \
             likely it was not run."
        }
        _ => "The agent reported no result within an hour. Whether it ran is unknown.",
    };
    ExecutionFailure::new(FailureKind::NoResult, error)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::ExecutionDraft;
    use super::*;
    use crate::{
        DecisionContext, Digest, ExecutionReport, ExecutionStatus, Executor, Risk, ToolCall,
        ToolOutput, Verdict,
    };

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    #[test]
    fn what_was_seen_runs_until_its_result_is_told_and_gives_leave_to_nobody() {
        let started =
            seen(Some("hook")).record_observed_start(ApprovedBy::Policy, later(), NOW).unwrap();
        assert_eq!(started.status(), ExecutionStatus::Executing);
        assert!(started.clone().start(NOW).is_err(), "there is no permit in it");
        let report = ExecutionReport::from_json(&json!({"success": true, "stdout": "ok"})).unwrap();
        let token = started.lease().unwrap().token.clone();
        let over_the_wire =
            started.clone().report(&ReportedOutcome::Done(report.clone()), Some(&token), NOW);
        assert!(over_the_wire.is_err(), "nobody reports it but who saw it");
        let done =
            started.record_observed_result(&ReportedOutcome::Done(report.clone()), NOW).unwrap();
        assert_eq!(done.to_tool_output(), Some(ToolOutput::ok("ok")));
        assert!(done.record_observed_result(&ReportedOutcome::Done(report), NOW).is_err(), "once");
    }

    #[test]
    fn a_call_that_the_gate_decides_is_never_taken_for_one_that_was_seen() {
        assert!(seen(None).record_observed_start(ApprovedBy::Policy, later(), NOW).is_err());
        let asked = ExecutionDraft(seen(None)).ask(later());
        assert!(
            asked.record_observed_result(&ReportedOutcome::Failed("x".to_owned()), NOW).is_err()
        );
    }

    #[test]
    fn one_that_is_not_heard_of_again_says_what_is_known() {
        for (by, part) in
            [(ApprovedBy::Policy, "unknown"), (ApprovedBy::AgentPrompt, "its own prompt")]
        {
            let lapsed = seen(Some("hook")).record_observed_start(by, later(), NOW).unwrap();
            let lapsed = lapsed.expire(later()).unwrap();
            assert_eq!(lapsed.status(), ExecutionStatus::Failed);
            assert!(lapsed.to_tool_output().unwrap().content.contains(part));
        }
    }

    fn later() -> Timestamp {
        Timestamp::from_second(3600).unwrap()
    }

    fn seen(reported_by: Option<&str>) -> Execution {
        let call = ToolCall {
            id: "00000000-0000-0000-0000-000000000001".parse().unwrap(),
            project: "p".into(),
            session: "s".into(),
            run: None,
            tool_use_id: "t".into(),
            tool_name: "Read".to_owned(),
            input: json!({"file_path": "a"}),
            cwd: "/w".into(),
            executor: Executor::ClaudeCli,
            agent: None,
        };
        let basis = DecisionContext {
            reported_by: reported_by.map(str::to_owned),
            ..DecisionContext::default()
        };
        Execution {
            id: "00000000-0000-0000-0000-000000000002".parse().unwrap(),
            call,
            effects: Vec::new(),
            commands: Vec::new(),
            canonical: None,
            summary: String::new(),
            risk: Risk::High,
            verdict: Verdict::from_reasons(Vec::new()),
            preview: None,
            basis,
            digest: Digest::for_bytes(&[]),
            created_at: NOW,
            state: ExecutionState::Pending,
        }
    }
}
