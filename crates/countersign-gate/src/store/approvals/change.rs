//! A change of state: compare-and-set on the old one, with the events and the audit that tell of it.

use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use countersign_core::{
    Approval, ApprovalId, Digest, Event, Executor, Preview, Rehearsal, State, Status,
};
use jiff::Timestamp;

use super::Transition;
use super::columns::secrets_of;
use super::row::{Updated, amend, find, has_long_result, update};
use crate::store::StoreError;
use crate::store::audit::Act;
use crate::store::ledger::Ledger;

/// How often a change is tried that others are faster than: each of them ends one state for good, and
/// no call has as many.
const TRIES: usize = 8;

pub(in crate::store) fn change<E>(
    ledger: &mut Ledger<'_>,
    id: ApprovalId,
    now: Timestamp,
    step: &impl Fn(Approval) -> Result<Approval, E>,
) -> Result<Transition<E>, StoreError> {
    for _ in 0..TRIES {
        let (found, is_fresh) = standing(ledger, id)?;
        let Some(mut approval) = found else { return Ok(Transition::Unknown) };
        if changes_in_place(&approval) && !is_fresh {
            // What counts is read with the book in hand: nobody is taken for lost who has just been
            // heard of, and no yes keeps a rehearsal that came after the look.
            ledger.book(&approval.call.project)?;
            let found = find(ledger.db(), id);
            match ledger.noting(found)? {
                Some(stands) => approval = stands,
                None => return Ok(Transition::Unknown),
            }
        }
        let before = approval.status();
        let (bound_to, rehearsed) = (approval.digest.clone(), rehearsed(&approval));
        let approval = match step(approval) {
            Err(refused) => return Ok(Transition::Refused(refused)),
            Ok(approval) => approval,
        };
        ledger.book(&approval.call.project)?;
        let Updated::Done { has_secrets, kept } = update(ledger, before, &approval)? else {
            // Somebody else was faster: what was known of it no longer holds.
            ledger.leave(id, None);
            continue;
        };
        let is_rehearsed = self::rehearsed(&approval) != rehearsed;
        let is_amended = approval.digest != bound_to || is_rehearsed;
        if is_amended {
            amend(ledger, &approval)?;
        }
        let is_masked = has_secrets && approval.state.is_settled();
        let stays = is_fresh && !is_amended && !is_masked && !has_long_result(&approval);
        ledger.leave(id, stays.then(|| Arc::new(approval.clone())));
        log_change(ledger, before, &approval, kept, now)?;
        if is_rehearsed && approval.status() == Status::AwaitingApproval {
            let (call, event) = (&approval.call, Event::Rehearsed { approval: id });
            ledger.log(&call.project, Some(&call.session), call.run, now, &event)?;
        }
        return Ok(Transition::Made(Box::new(approval)));
    }
    Err(StoreError::corrupt("approval", format!("`{id}` does not stay what it is")))
}

/// Whether more of a call may change than its status: a lease is renewed, a rehearsal comes to its end.
fn changes_in_place(approval: &Approval) -> bool {
    let is_command = matches!(approval.preview, Some(Preview::Command(_)));
    approval.lease().is_some() || (is_command && approval.status() == Status::AwaitingApproval)
}

/// Returns how far a rehearsal has come, and what it found.
fn rehearsed(approval: &Approval) -> Option<(Discriminant<Rehearsal>, Option<Digest>)> {
    let rehearsal = approval.preview.as_ref().and_then(Preview::rehearsal)?;
    Some((discriminant(rehearsal), rehearsal.digest().cloned()))
}

/// Returns a call as it stands, and whether that was known without asking.
fn standing(
    ledger: &mut Ledger<'_>,
    id: ApprovalId,
) -> Result<(Option<Approval>, bool), StoreError> {
    if let Some(fresh) = ledger.fresh(id) {
        return Ok((Some(Approval::clone(&fresh)), true));
    }
    let found = find(ledger.db(), id);
    Ok((ledger.noting(found)?, false))
}

/// Tells the log and the audit what a change means, and counts who waits.
pub(super) fn log_change(
    ledger: &mut Ledger<'_>,
    before: Status,
    approval: &Approval,
    kept: Option<Digest>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let call = &approval.call;
    if before == approval.status() {
        // A sign of life of whoever runs it, or of a rehearsal: nothing came of that.
        return Ok(());
    }
    let book = ledger.book(&call.project)?;
    if before == Status::AwaitingApproval {
        book.pending = book.pending.saturating_sub(1);
    }
    if approval.status() == Status::AwaitingApproval {
        book.pending += 1;
    }
    ledger.audit(&call.project, now, &Act::of_call(approval, kept))?;
    for event in events_of(before, approval) {
        ledger.log(&call.project, Some(&call.session), call.run, now, &event)?;
    }
    Ok(())
}

fn events_of(before: Status, approval: &Approval) -> Vec<Event> {
    let mut events = Vec::new();
    let after = approval.status();
    match (before, after) {
        (_, Status::AwaitingApproval) => {
            events.push(Event::ApprovalRequested { approval: approval.id });
        }
        (Status::AwaitingApproval, _) => events.push(resolved(approval)),
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
    if let Some(answer) = approval.answer().filter(|_| !of_child) {
        events.push(Event::ToolResult {
            tool_use_id: approval.call.tool_use_id.clone(),
            content: secrets_of(approval).hide_in_text(&answer.content),
            is_error: answer.is_error,
        });
    }
    events
}

/// Whether whoever ran it elsewhere has said what came of it.
fn was_reported(approval: &Approval) -> bool {
    match &approval.state {
        State::Completed { reported, .. } => *reported,
        State::Failed { by: Some(_), failure, .. } => {
            approval.call.executor.is_elsewhere() && failure.error_type == "tool_error"
        }
        _ => false,
    }
}

fn resolved(approval: &Approval) -> Event {
    let by = match &approval.state {
        State::Approved { by, .. } | State::Rejected { by, .. } => Some(by.to_string()),
        _ => None,
    };
    let is_edited = approval.basis.edited_from.is_some() && approval.was_approved();
    Event::ApprovalResolved {
        approval: approval.id,
        status: approval.status(),
        by,
        feedback: approval.state.words().map(str::to_owned),
        edited_input: is_edited.then(|| approval.call.input.clone()),
    }
}
