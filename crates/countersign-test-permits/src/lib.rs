//! Permits for tests of tools, which run hundreds of calls and have no gate above them.
//!
//! Only a dev-dependency: a test of the house keeps it out of every product crate.

use countersign_core::{
    ApprovedBy, CallPlan, Decision, ExecutionDraft, LockedExecution, Permit, Preview, Risk,
    StartedExecution, ToolCall,
};
use countersign_seal::{CommittedWrite, GateToken};
use jiff::Timestamp;
use uuid::Uuid;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// Returns the permit of a call that the policy allowed; none if it runs elsewhere.
pub fn permit_by_policy(
    call: ToolCall,
    plan: CallPlan,
    preview: Option<Preview>,
) -> Option<Permit> {
    let draft = draft(call, plan);
    let draft = match preview {
        Some(preview) => draft.with_preview(preview),
        None => draft,
    };
    draft.allow_and_start(NOW).ok().map(to_permit)
}

/// Returns the permit of a call that a person approved; none if it runs elsewhere.
pub fn permit_by_person(call: ToolCall, plan: CallPlan) -> Option<Permit> {
    let decision = Decision::Approve { by: ApprovedBy::person("a person", None) };
    let asked = draft(call, plan).ask(Timestamp::MAX);
    let locked = |found| LockedExecution::in_transaction(found, GateToken::for_gate());
    let approved = locked(asked).settle(decision, NOW).ok()?;
    locked(approved).start(NOW).ok().map(to_permit)
}

fn draft(call: ToolCall, plan: CallPlan) -> ExecutionDraft {
    let draft = ExecutionDraft::new(Uuid::nil().into(), call, NOW, GateToken::for_gate());
    draft.with_plan(plan, Risk::High)
}

fn to_permit(started: StartedExecution) -> Permit {
    Permit::from_committed(CommittedWrite::after_commit(started))
}
