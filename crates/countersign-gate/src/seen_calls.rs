//! Calls of other agents that were seen and not decided here: recorded after the fact, each once.
//!
//! They come from a file that the agents themselves may be able to write. So such a record says who told
//! of it, stands at no state that lets anybody run anything, and takes the place of no call that was
//! decided here.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{
    ApprovalId, ApprovedBy, CallPlan, DecisionContext, Digest, Execution, ExecutionDraft,
    ExecutionFailure, FailureKind, LockedExecution, Planner, ProjectId, ReportedOutcome, SessionId,
    StateConflict, ToolCall, ToolUseId, Verdict, VerdictAction, VerdictReason, mask_text, risk,
};
use countersign_seal::GateToken;
use jiff::Timestamp;
use uuid::Uuid;

use crate::gate::Gate;
use crate::planner_task::{ask_planner, deadline_after};
use crate::store::{InsertOutcome, StoreError, Transition};

/// For how long the result of a call is waited for.
const PATIENCE: Duration = Duration::from_hours(1);

/// What an agent's hook said to a call that it saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenCall {
    /// Who tells of it.
    pub reported_by: String,
    /// What was said: `Ask` where it was left to the agent's own prompt.
    pub outcome: VerdictAction,
    /// Why.
    pub why: String,
    /// When that was, as far as whoever tells of it knows.
    pub at: Timestamp,
}

impl Gate {
    /// Records a call that was seen; returns whether it was not known before.
    pub async fn record_seen_call(
        &self,
        call: ToolCall,
        planner: Arc<dyn Planner>,
        seen: SeenCall,
    ) -> Result<bool, StoreError> {
        let now = self.inner().clock.now();
        let judged = seen.plan_and_judge(call, &planner, now).await;
        let until = deadline_after(now, PATIENCE);
        let settled = match seen.outcome {
            VerdictAction::Allow => judged.record_observed_start(ApprovedBy::Policy, until, now),
            VerdictAction::Ask => judged.record_observed_start(ApprovedBy::AgentPrompt, until, now),
            VerdictAction::Deny => {
                let why = mask_text(&seen.why);
                Ok(judged.refuse(ExecutionFailure::new(FailureKind::Denied, why), now))
            }
        };
        // Only a call that somebody told of after the fact is recorded as started here.
        let Ok(settled) = settled else { return Ok(false) };
        match self.inner().store.insert_submitted(settled.clone(), u64::MAX, now).await? {
            InsertOutcome::New => {
                self.notify_changed(None, &settled);
                Ok(true)
            }
            InsertOutcome::Before(_) | InsertOutcome::TooMany => Ok(false),
        }
    }

    /// Records what came of a call that was seen; returns whether somebody had to be told.
    pub async fn record_seen_call_result(
        &self,
        project: &ProjectId,
        session: &SessionId,
        tool_use_id: &ToolUseId,
        reported: ReportedOutcome,
    ) -> Result<bool, StoreError> {
        let id = seen_id("approval", project, session, tool_use_id);
        let now = self.inner().clock.now();
        let step = move |stands: LockedExecution| -> Result<Execution, StateConflict> {
            stands.record_observed_result(&reported, now)
        };
        Ok(matches!(self.transition(ApprovalId::from(id), step).await?, Transition::Made(_)))
    }
}

impl SeenCall {
    /// Returns the call with what we make of it, and what was said to it.
    async fn plan_and_judge(
        &self,
        call: ToolCall,
        planner: &Arc<dyn Planner>,
        now: Timestamp,
    ) -> ExecutionDraft {
        // What comes from a file may claim any time; it was not seen after now.
        let id = |what| seen_id(what, &call.project, &call.session, &call.tool_use_id);
        let (approval_id, execution_id) = (id("approval"), id("execution"));
        let call = ToolCall { id: execution_id.into(), ..call };
        let reported_by = Some(self.reported_by.clone());
        let reason = VerdictReason::new(self.outcome, mask_text(&self.why));
        let gate = GateToken::for_gate();
        let draft = ExecutionDraft::new(approval_id.into(), call.clone(), self.at.min(now), gate)
            .with_context(DecisionContext { reported_by, ..DecisionContext::default() })
            .with_verdict(Verdict::from_reasons(vec![reason]));
        // Where a plan cannot be made, the call counts as unknown, hence high.
        match ask_planner(call, planner, <dyn Planner>::plan).await {
            Ok(plan) => {
                let risk = risk::assess(&plan.effects);
                draft.with_plan(CallPlan { summary: mask_text(&plan.summary), ..plan }, risk)
            }
            Err(_) => draft,
        }
    }
}

/// Returns an id that a call of an agent always gets: told of twice, it is the same.
fn seen_id(what: &str, project: &ProjectId, session: &SessionId, tool_use_id: &ToolUseId) -> Uuid {
    let (session, tool_use_id) = (session.to_string(), tool_use_id.to_string());
    let parts = ["seen", what, project.as_str(), &session, &tool_use_id];
    let digest = Digest::for_parts(parts.map(str::as_bytes));
    let mut bytes = [0; 16];
    for (byte, text) in bytes.iter_mut().zip(digest.as_str().as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(text).unwrap_or_default();
        *byte = u8::from_str_radix(digits, 16).unwrap_or_default();
    }
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}
