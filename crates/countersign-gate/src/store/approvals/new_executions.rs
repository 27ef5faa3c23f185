//! New executions: recorded once, in their first state, with the events that tell of them.

use std::time::Duration;

use countersign_core::{
    ApprovalId, Execution, ExecutionDraft, ExecutionStatus, Executor, StartRejection,
    StartedExecution, ToolCall,
};
use countersign_seal::CommittedWrite;
use jiff::Timestamp;

use super::row::{self, insert};
use super::state_change::log_change;
use crate::store::value::values;
use crate::store::write_txn::WriteTxn;
use crate::store::{Store, StoreError, rules};

/// How long before it was told of a call may have been recorded otherwise.
const RECENT: Duration = Duration::from_hours(1);

/// What came of recording a call that its caller may have submitted before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InsertOutcome {
    /// It is recorded.
    New,
    /// Its caller has submitted it before: this is the execution it is.
    Before(ApprovalId),
    /// Too many wait already.
    TooMany,
}

impl Store {
    /// Records a new execution in its first state, with the events that tell of it.
    pub(crate) async fn insert_execution(
        &self,
        approval: Execution,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.writer.write(move |ledger| insert_with_events(ledger, &approval, now)).await
    }

    /// Records a new request, unless `limit` requests of its project wait already.
    ///
    /// Returns whether it is recorded.
    pub(crate) async fn insert_request(
        &self,
        request: Execution,
        limit: u64,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.writer
            .write(move |ledger| {
                if ledger.lock_counters(&request.call().project)?.pending >= limit {
                    return Ok(false);
                }
                insert_with_events(ledger, &request, now)?;
                Ok(true)
            })
            .await
    }

    /// Records a new execution that runs elsewhere, unless its caller has submitted it before.
    ///
    /// One that is to wait is not recorded if `limit` of the project wait already.
    pub(crate) async fn insert_submitted(
        &self,
        approval: Execution,
        limit: u64,
        now: Timestamp,
    ) -> Result<InsertOutcome, StoreError> {
        self.writer
            .write(move |ledger| {
                let waits = approval.status() == ExecutionStatus::AwaitingApproval;
                let pending = ledger.lock_counters(&approval.call().project)?.pending;
                if let Some(known) = find_submitted(ledger, &approval)? {
                    return Ok(InsertOutcome::Before(known));
                }
                if pending >= limit && waits {
                    return Ok(InsertOutcome::TooMany);
                }
                insert_with_events(ledger, &approval, now)?;
                Ok(InsertOutcome::New)
            })
            .await
    }

    /// Records a call that the policy allows and its start in the same commit.
    pub(crate) async fn insert_started(
        &self,
        draft: ExecutionDraft,
        now: Timestamp,
    ) -> Result<Result<CommittedWrite<StartedExecution>, StartRejection>, StoreError> {
        let written = self
            .writer
            .write(move |ledger| {
                let started = match draft.clone().allow_and_start(now) {
                    Ok(started) => started,
                    Err(refused) => return Ok(Err(refused)),
                };
                insert_with_events(ledger, started.execution(), now)?;
                Ok(Ok(started))
            })
            .await;
        // The writer answers when the commit is durable, so from here on the start is on disk.
        written.map(|started: Result<_, _>| started.map(CommittedWrite::after_commit))
    }
}

/// Writes a new execution, counts the rules it used, and tells the log and the audit of it.
pub(super) fn insert_with_events(
    ledger: &mut WriteTxn<'_>,
    approval: &Execution,
    now: Timestamp,
) -> Result<(), StoreError> {
    ledger.lock_counters(&approval.call().project)?;
    let kept = insert(ledger, approval)?;
    rules::count_uses(ledger, approval, now)?;
    log_change(ledger, ExecutionStatus::Pending, approval, kept, now)
}

/// Returns the call that this one is, where its caller has handed it in before.
///
/// Who takes another's place is a new call, whatever the caller calls it.
fn find_submitted(
    ledger: &mut WriteTxn<'_>,
    approval: &Execution,
) -> Result<Option<ApprovalId>, StoreError> {
    let (call, basis) = (&approval.call(), &approval.basis());
    let is_heir = basis.asked_again.is_some() || basis.edited_from.is_some();
    if basis.reported_by.is_some() {
        return find_seen(ledger, approval);
    }
    if call.executor != Executor::Caller || is_heir {
        return Ok(None);
    }
    find_by_caller(ledger, call)
}

/// Returns the call that was handed in under the same name in the same conversation.
fn find_by_caller(
    ledger: &mut WriteTxn<'_>,
    call: &ToolCall,
) -> Result<Option<ApprovalId>, StoreError> {
    let row = ledger.query_one(
        "SELECT approval_id FROM tool_executions
         WHERE project_id = $1 AND session_id = $2 AND tool_use_id = $3 AND executor = 'caller'
         ORDER BY created_at, approval_id LIMIT 1",
        values![
            call.project.as_str(),
            call.session.as_str(),
            row::tool_use_text(&call.tool_use_id)?
        ],
    )?;
    row.map(|mut row| row.parse("approval id")).transpose()
}

/// Returns the call that one of which we are told after the fact is: told of before, handed in, or made
/// in a run of ours a while ago.
fn find_seen(
    ledger: &mut WriteTxn<'_>,
    approval: &Execution,
) -> Result<Option<ApprovalId>, StoreError> {
    let call = &approval.call();
    if let Some(known) = find_by_caller(ledger, call)? {
        return Ok(Some(known));
    }
    // Its id says which call it is, see `Gate::record_seen_call`.
    let row = ledger.query_one(
        "SELECT approval_id FROM tool_executions
         WHERE approval_id = $1 OR (project_id = $2 AND created_at >= $3 AND tool_use_id = $4)
         ORDER BY created_at, approval_id LIMIT 1",
        values![
            approval.id().to_string(),
            call.project.as_str(),
            time_before(approval.created_at(), RECENT),
            row::tool_use_text(&call.tool_use_id)?
        ],
    )?;
    row.map(|mut row| row.parse("approval id")).transpose()
}

/// Returns an earlier moment.
fn time_before(at: Timestamp, duration: Duration) -> Timestamp {
    at.checked_sub(duration).unwrap_or(Timestamp::MIN)
}
