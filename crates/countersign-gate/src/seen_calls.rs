//! Calls of other agents that were seen and not decided here: recorded after the fact, each once.
//!
//! They come from a file that the agents themselves may be able to write. So such a record says who told
//! of it, stands at no state that lets anybody run anything, and takes the place of no call that was
//! decided here.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{
    ApprovalId, ApprovedBy, CallPlan, Digest, Execution, ExecutionFailure, Planner, ProjectId,
    ReportedOutcome, SessionId, StateConflict, ToolCall, ToolUseId, Verdict, VerdictAction,
    VerdictReason, mask_text, risk,
};
use jiff::Timestamp;
use uuid::Uuid;

use crate::gate::Gate;
use crate::store::{InsertOutcome, StoreError, Transition};
use crate::submit::{ask_planner, corrupt_state, deadline_after, new_draft};

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
                let error = mask_text(&seen.why);
                judged.refuse(ExecutionFailure { error_type: "denied".to_owned(), error }, now)
            }
        };
        let settled = settled.map_err(corrupt_state)?;
        match self.inner().store.insert_execution(settled.clone(), u64::MAX, now).await? {
            InsertOutcome::New => {
                self.notify_changed(&settled);
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
        let step = move |stands: Execution| -> Result<Execution, StateConflict> {
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
    ) -> Execution {
        // What comes from a file may claim any time; it was not seen after now.
        let id = |what| seen_id(what, &call.project, &call.session, &call.tool_use_id);
        let (approval_id, execution_id) = (id("approval"), id("execution"));
        let mut approval = new_draft(call, self.at.min(now));
        approval.id = approval_id.into();
        approval.call.id = execution_id.into();
        approval.basis.reported_by = Some(self.reported_by.clone());
        approval.verdict =
            Verdict::from_reasons(vec![VerdictReason::new(self.outcome, mask_text(&self.why))]);
        // Where a plan cannot be made, the call counts as unknown, hence high.
        if let Ok(plan) = ask_planner(approval.call.clone(), planner, <dyn Planner>::plan).await {
            let CallPlan { effects, summary, commands, canonical, sandboxed: _ } = plan;
            let risk = risk::assess(&effects);
            let summary = mask_text(&summary);
            approval = Execution { effects, summary, commands, canonical, risk, ..approval };
        }
        approval.with_updated_binding()
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
