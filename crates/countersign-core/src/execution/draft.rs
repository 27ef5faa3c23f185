//! A call on its way to its first state: planned, judged, previewed, and then asked for, allowed or refused.

use std::ops::Deref;

use countersign_seal::GateToken;
use jiff::Timestamp;

use super::{
    ApprovedBy, DecisionContext, EditedInput, Execution, ExecutionFailure, ExecutionState,
    StartRejection, StartedExecution, StateConflict,
};
use crate::{ApprovalId, CallPlan, Digest, ExecutionId, Preview, Risk, ToolCall, Verdict};

/// An execution that is not recorded yet. Its digest is computed when it leaves the draft.
// INVARIANT: its state is `Pending`.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionDraft(pub(super) Execution);

impl ExecutionDraft {
    /// Returns a call that nobody has judged yet: what it would do is unknown, so it counts as high.
    pub fn new(id: ApprovalId, call: ToolCall, now: Timestamp, _: GateToken) -> Self {
        Self(Execution {
            id,
            digest: Digest::for_bytes(&[]),
            summary: format!("Use `{}`", call.tool_name),
            call,
            effects: Vec::new(),
            commands: Vec::new(),
            canonical: None,
            basis: DecisionContext::default(),
            risk: Risk::High,
            verdict: Verdict::from_reasons(Vec::new()),
            preview: None,
            created_at: now,
            state: ExecutionState::Pending,
        })
    }

    /// Returns the same under other ids: it takes the place of another request.
    #[must_use]
    pub fn with_ids(self, id: ApprovalId, call: ExecutionId) -> Self {
        let call = ToolCall { id: call, ..self.0.call };
        Self(Execution { id, call, ..self.0 })
    }

    /// Returns the same with what its tool says it would do.
    #[must_use]
    pub fn with_plan(self, plan: CallPlan, risk: Risk) -> Self {
        let CallPlan { effects, summary, commands, sandboxed: _, canonical } = plan;
        Self(Execution { effects, commands, canonical, summary, risk, ..self.0 })
    }

    /// Returns the same with what the policy says of it.
    #[must_use]
    pub fn with_verdict(self, verdict: Verdict) -> Self {
        Self(Execution { verdict, ..self.0 })
    }

    /// Returns the same with what else its decision depends on.
    #[must_use]
    pub fn with_context(self, basis: DecisionContext) -> Self {
        Self(Execution { basis, ..self.0 })
    }

    /// Returns the same with what a person is shown.
    #[must_use]
    pub fn with_preview(self, preview: Preview) -> Self {
        Self(Execution { preview: Some(preview), ..self.0 })
    }

    /// Puts the call before a person.
    pub fn ask(self, deadline: Timestamp) -> Execution {
        self.leave(ExecutionState::AwaitingApproval { deadline })
    }

    /// Lets the call pass because the policy allows it; somebody elsewhere is to run it.
    pub fn allow(self, now: Timestamp) -> Execution {
        let state = self.0.approved(ApprovedBy::Policy, now);
        self.leave(state)
    }

    /// Lets the call pass because the policy allows it, and starts it here.
    pub fn allow_and_start(self, now: Timestamp) -> Result<StartedExecution, StartRejection> {
        self.allow(now).start(now)
    }

    /// Ends a call that is invalid or denied.
    pub fn refuse(self, failure: ExecutionFailure, now: Timestamp) -> Execution {
        self.leave(ExecutionState::Failed { by: None, at: now, failure, replaced_by: None })
    }

    /// Records that a call was let pass elsewhere: by the rules, or by somebody at the agent's prompt.
    ///
    /// It counts as running until its result is told of, or until nothing was heard of it for long.
    pub fn record_observed_start(
        self,
        by: ApprovedBy,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Execution, StateConflict> {
        self.0.with_updated_binding().record_observed_start(by, until, now)
    }

    /// Returns the draft as the input that a person changed a request to; none if it has no preview.
    pub fn into_edited_input(self) -> Option<EditedInput> {
        let Execution { call, effects, commands, summary, risk, verdict, preview, basis, .. } =
            self.0;
        Some(EditedInput {
            input: call.input,
            effects,
            commands,
            summary,
            risk,
            verdict,
            preview: preview?,
            rules: basis.rules,
            witness: basis.witness,
        })
    }

    fn leave(self, state: ExecutionState) -> Execution {
        Execution { state, ..self.0 }.with_updated_binding()
    }
}

impl Deref for ExecutionDraft {
    type Target = Execution;

    fn deref(&self) -> &Execution {
        &self.0
    }
}
