//! A change of state: compare-and-set on the old one, with the events and the audit that tell of it.

use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use countersign_core::{
    ApprovalId, Digest, Event, Execution, ExecutionStatus, LockedExecution, Preview, RehearsalState,
};
use countersign_seal::GateToken;
use jiff::Timestamp;

use super::Transition;
use super::columns::find_secrets;
use super::row::{RowUpdate, find, has_long_result, update, update_request};
use crate::call_events::events_for_change;
use crate::store::StoreError;
use crate::store::audit::AuditAction;
use crate::store::write_txn::WriteTxn;

/// How often a change is tried that others are faster than: each of them ends one state for good, and
/// no call has as many.
const TRIES: usize = 8;

pub(in crate::store) fn apply_transition<E, S: AsRef<Execution>>(
    ledger: &mut WriteTxn<'_>,
    id: ApprovalId,
    now: Timestamp,
    step: &impl Fn(LockedExecution) -> Result<S, E>,
) -> Result<Transition<E, S>, StoreError> {
    for _ in 0..TRIES {
        let (found, is_fresh) = load_current(ledger, id)?;
        let Some(mut approval) = found else { return Ok(Transition::Unknown) };
        if changes_in_place(&approval) && !is_fresh {
            // What counts is read with the book in hand: nobody is taken for lost who has just been
            // heard of, and no yes keeps a rehearsal that came after the look.
            ledger.lock_counters(&approval.call().project)?;
            let found = find(ledger.db(), id);
            match ledger.note_failure(found)? {
                Some(stands) => approval = stands,
                None => return Ok(Transition::Unknown),
            }
        }
        let before = approval.status();
        let (bound_to, rehearsed) = (approval.digest().clone(), rehearsal_progress(&approval));
        let made = match step(LockedExecution::in_transaction(approval, GateToken::for_gate())) {
            Err(refused) => return Ok(Transition::Refused(refused)),
            Ok(made) => made,
        };
        let approval = made.as_ref();
        ledger.lock_counters(&approval.call().project)?;
        let RowUpdate::Done { has_secrets, kept } = update(ledger, before, approval)? else {
            // Somebody else was faster: what was known of it no longer holds.
            ledger.cache_call(id, None);
            continue;
        };
        let is_rehearsed = self::rehearsal_progress(approval) != rehearsed;
        let is_amended = *approval.digest() != bound_to || is_rehearsed;
        if is_amended {
            update_request(ledger, approval)?;
        }
        let is_masked = has_secrets && approval.state().is_settled();
        let stays = is_fresh && !is_amended && !is_masked && !has_long_result(approval);
        ledger.cache_call(id, stays.then(|| Arc::new(approval.clone())));
        log_change(ledger, before, approval, kept, now)?;
        if is_rehearsed && approval.status() == ExecutionStatus::AwaitingApproval {
            let (call, event) = (&approval.call(), Event::Rehearsed { approval: id });
            ledger.append_event(&call.project, Some(&call.session), call.run, now, &event)?;
        }
        return Ok(Transition::Made(Box::new(made)));
    }
    Err(StoreError::contended(format!("`{id}` does not stay what it is")))
}

/// Whether more of a call may change than its status: a lease is renewed, a rehearsal comes to its end.
fn changes_in_place(approval: &Execution) -> bool {
    let is_command = matches!(approval.preview(), Some(Preview::Command(_)));
    approval.lease().is_some()
        || (is_command && approval.status() == ExecutionStatus::AwaitingApproval)
}

/// Returns how far a rehearsal has come, and what it found.
fn rehearsal_progress(
    approval: &Execution,
) -> Option<(Discriminant<RehearsalState>, Option<Digest>)> {
    let rehearsal = approval.preview().and_then(Preview::rehearsal)?;
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
    let call = &approval.call();
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
    for event in events_for_change(before, approval, || find_secrets(approval)) {
        ledger.append_event(&call.project, Some(&call.session), call.run, now, &event)?;
    }
    Ok(())
}
