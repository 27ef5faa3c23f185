//! A change of state: compare-and-set on the old one, with the events and the audit that tell of it.

use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use countersign_core::{
    ApprovalId, Digest, Event, Execution, ExecutionState, ExecutionStatus, Executor, Preview,
    RehearsalState,
};
use jiff::Timestamp;

use super::Transition;
use super::columns::find_secrets;
use super::row::{RowUpdate, find, has_long_result, update, update_request};
use crate::store::StoreError;
use crate::store::audit::AuditAction;
use crate::store::write_txn::WriteTxn;

/// How often a change is tried that others are faster than: each of them ends one state for good, and
/// no call has as many.
const TRIES: usize = 8;

pub(in crate::store) fn apply_transition<E>(
    ledger: &mut WriteTxn<'_>,
    id: ApprovalId,
    now: Timestamp,
    step: &impl Fn(Execution) -> Result<Execution, E>,
) -> Result<Transition<E>, StoreError> {
    for _ in 0..TRIES {
        let (found, is_fresh) = load_current(ledger, id)?;
        let Some(mut approval) = found else { return Ok(Transition::Unknown) };
        if changes_in_place(&approval) && !is_fresh {
            // What counts is read with the book in hand: nobody is taken for lost who has just been
            // heard of, and no yes keeps a rehearsal that came after the look.
            ledger.lock_counters(&approval.call.project)?;
            let found = find(ledger.db(), id);
            match ledger.note_failure(found)? {
                Some(stands) => approval = stands,
                None => return Ok(Transition::Unknown),
            }
        }
        let before = approval.status();
        let (bound_to, rehearsed) = (approval.digest.clone(), rehearsal_progress(&approval));
        let approval = match step(approval) {
            Err(refused) => return Ok(Transition::Refused(refused)),
            Ok(approval) => approval,
        };
        ledger.lock_counters(&approval.call.project)?;
        let RowUpdate::Done { has_secrets, kept } = update(ledger, before, &approval)? else {
            // Somebody else was faster: what was known of it no longer holds.
            ledger.cache_call(id, None);
            continue;
        };
        let is_rehearsed = self::rehearsal_progress(&approval) != rehearsed;
        let is_amended = approval.digest != bound_to || is_rehearsed;
        if is_amended {
            update_request(ledger, &approval)?;
        }
        let is_masked = has_secrets && approval.state.is_settled();
        let stays = is_fresh && !is_amended && !is_masked && !has_long_result(&approval);
        ledger.cache_call(id, stays.then(|| Arc::new(approval.clone())));
        log_change(ledger, before, &approval, kept, now)?;
        if is_rehearsed && approval.status() == ExecutionStatus::AwaitingApproval {
            let (call, event) = (&approval.call, Event::Rehearsed { approval: id });
            ledger.append_event(&call.project, Some(&call.session), call.run, now, &event)?;
        }
        return Ok(Transition::Made(Box::new(approval)));
    }
    Err(StoreError::corrupt("approval", format!("`{id}` does not stay what it is")))
}

/// Whether more of a call may change than its status: a lease is renewed, a rehearsal comes to its end.
fn changes_in_place(approval: &Execution) -> bool {
    let is_command = matches!(approval.preview, Some(Preview::Command(_)));
    approval.lease().is_some()
        || (is_command && approval.status() == ExecutionStatus::AwaitingApproval)
}

/// Returns how far a rehearsal has come, and what it found.
fn rehearsal_progress(
    approval: &Execution,
) -> Option<(Discriminant<RehearsalState>, Option<Digest>)> {
    let rehearsal = approval.preview.as_ref().and_then(Preview::rehearsal)?;
    Some((discriminant(rehearsal), rehearsal.digest().cloned()))
}

/// Returns a call as it stands, and whether that was known without asking.
fn load_current(
    ledger: &mut WriteTxn<'_>,
    id: ApprovalId,
) -> Result<(Option<Execution>, bool), StoreError> {
    if let Some(fresh) = ledger.cached_call(id) {
        return Ok((Some(Execution::clone(&fresh)), true));
    }
    let found = find(ledger.db(), id);
    Ok((ledger.note_failure(found)?, false))
}

/// Tells the log and the audit what a change means, and counts who waits.
pub(super) fn log_change(
    ledger: &mut WriteTxn<'_>,
    before: ExecutionStatus,
    approval: &Execution,
    kept: Option<Digest>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let call = &approval.call;
    if before == approval.status() {
        // A sign of life of whoever runs it, or of a rehearsal: nothing came of that.
        return Ok(());
    }
    let book = ledger.lock_counters(&call.project)?;
    if before == ExecutionStatus::AwaitingApproval {
        book.pending = book.pending.saturating_sub(1);
    }
    if approval.status() == ExecutionStatus::AwaitingApproval {
        book.pending += 1;
    }
    ledger.append_audit(&call.project, now, &AuditAction::for_call(approval, kept))?;
    for event in events_for_change(before, approval) {
        ledger.append_event(&call.project, Some(&call.session), call.run, now, &event)?;
    }
    Ok(())
}

fn events_for_change(before: ExecutionStatus, approval: &Execution) -> Vec<Event> {
    let mut events = Vec::new();
    let after = approval.status();
    match (before, after) {
        (_, ExecutionStatus::AwaitingApproval) => {
            events.push(Event::ApprovalRequested { approval: approval.id });
        }
        (ExecutionStatus::AwaitingApproval, _) => events.push(resolved_event(approval)),
        _ => {
            if was_reported(approval) {
                events.push(Event::ResultReceived { execution: approval.call.id });
            }
            events.push(Event::ToolState {
                execution: approval.call.id,
                tool_use_id: Some(approval.call.tool_use_id.clone()),
                tool_name: approval.call.tool_name.clone(),
                status: after,
                executor: approval.call.executor,
            });
        }
    }
    if let Some(lease) = approval.lease()
        && approval.call.executor == Executor::Client
    {
        events.push(Event::ExecutionSignal {
            execution: approval.call.id,
            approval: approval.id,
            holder: lease.holder.clone(),
        });
    }
    // What a child of our own agent is answered is no part of the conversation of its parent.
    let of_child = approval.call.agent.is_some() && approval.call.executor == Executor::Local;
    if let Some(answer) = approval.to_tool_output().filter(|_| !of_child) {
        events.push(Event::ToolResult {
            tool_use_id: approval.call.tool_use_id.clone(),
            content: find_secrets(approval).hide_in_text(&answer.content),
            is_error: answer.is_error,
        });
    }
    events
}

/// Whether whoever ran it elsewhere has said what came of it.
fn was_reported(approval: &Execution) -> bool {
    match &approval.state {
        ExecutionState::Completed { reported, .. } => *reported,
        ExecutionState::Failed { by: Some(_), failure, .. } => {
            approval.call.executor.is_remote() && failure.error_type == "tool_error"
        }
        _ => false,
    }
}

fn resolved_event(approval: &Execution) -> Event {
    let by = match &approval.state {
        ExecutionState::Approved { by, .. } | ExecutionState::Rejected { by, .. } => {
            Some(by.to_string())
        }
        _ => None,
    };
    let is_edited = approval.basis.edited_from.is_some() && approval.was_approved();
    Event::ApprovalResolved {
        approval: approval.id,
        status: approval.status(),
        by,
        feedback: approval.state.decision_comment().map(str::to_owned),
        edited_input: is_edited.then(|| approval.call.input.clone()),
    }
}
