//! Approvals as rows: made once, changed only by compare-and-set, each change with its events.

mod columns;
mod execution_list;
mod mask_existing;
mod row;
mod state_change;

use std::time::Duration;

use countersign_core::{
    ApprovalId, Digest, Execution, ExecutionId, ExecutionStatus, Executor, ProjectId, RunId,
    ToolCall,
};
use jiff::Timestamp;

pub(super) use self::columns::find_secrets;
pub use self::execution_list::ExecutionFilter;
pub(super) use self::mask_existing::mask_calls;
use self::row::{CALLS, FIELDS, IS_LOST, approval, insert};
pub(super) use self::state_change::apply_transition;
use self::state_change::log_change;
use super::database::SqlConnection;
use super::value::{SqlRow, SqlValue, values};
use super::write_txn::WriteTxn;
use super::{Store, StoreError, StoredRule, rules};

/// How many calls one sweep of deadlines settles: bounds how long others wait for it.
const SWEEP: usize = 256;

/// How long before it was told of a call may have been recorded otherwise.
const RECENT: Duration = Duration::from_hours(1);

/// What a transition found and left.
#[derive(Debug)]
pub enum Transition<E> {
    /// There is no such approval.
    Unknown,
    /// The rules of the state said no.
    Refused(E),
    /// It is now so.
    Made(Box<Execution>),
}

/// What came of keeping a new approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InsertOutcome {
    /// It is kept.
    New,
    /// Whoever hands it in has done so before: this is what it was kept as.
    Before(ApprovalId),
    /// Too many wait already.
    TooMany,
}

impl Store {
    /// Keeps a new approval in whatever state it has come to, with the events that tell of it.
    ///
    /// One that is to wait is not kept if `limit` of the project wait already, and one that was
    /// handed in before neither.
    pub(crate) async fn insert_execution(
        &self,
        approval: Execution,
        limit: u64,
        now: Timestamp,
    ) -> Result<InsertOutcome, StoreError> {
        self.writer
            .write(move |ledger| {
                let waits = approval.status() == ExecutionStatus::AwaitingApproval;
                let pending = ledger.lock_counters(&approval.call.project)?.pending;
                if let Some(known) = find_submitted(ledger, &approval)? {
                    return Ok(InsertOutcome::Before(known));
                }
                if pending >= limit && waits {
                    return Ok(InsertOutcome::TooMany);
                }
                let kept = insert(ledger, &approval)?;
                rules::count_uses(ledger, &approval, now)?;
                log_change(ledger, ExecutionStatus::Pending, &approval, kept, now)?;
                Ok(InsertOutcome::New)
            })
            .await
    }

    /// Takes an approval from one state to the next, as the pure rule `step` says.
    ///
    /// `step` may be asked more than once: what it said the last time is what counts.
    pub(crate) async fn transition<E, F>(
        &self,
        id: ApprovalId,
        now: Timestamp,
        step: F,
    ) -> Result<Transition<E>, StoreError>
    where
        E: Send + 'static,
        F: Fn(Execution) -> Result<Execution, E> + Send + 'static,
    {
        self.writer.write(move |ledger| apply_transition(ledger, id, now, &step)).await
    }

    /// Takes an approval to the next state and, if that approves it, keeps the rules it grants.
    pub(crate) async fn transition_granting<E, F>(
        &self,
        id: ApprovalId,
        now: Timestamp,
        rules: Vec<StoredRule>,
        step: F,
    ) -> Result<Transition<E>, StoreError>
    where
        E: Send + 'static,
        F: Fn(Execution) -> Result<Execution, E> + Send + 'static,
    {
        self.writer
            .write(move |ledger| {
                let made = apply_transition(ledger, id, now, &step)?;
                let approved = |it: &Execution| it.status() == ExecutionStatus::Approved;
                if matches!(&made, Transition::Made(settled) if approved(settled)) {
                    rules::insert_grants(ledger, &rules, now)?;
                }
                Ok(made)
            })
            .await
    }

    /// Takes an approval out of the way and keeps the one that takes its place, both or neither.
    pub(crate) async fn replace<E, F>(
        &self,
        id: ApprovalId,
        next: Execution,
        now: Timestamp,
        step: F,
    ) -> Result<Transition<E>, StoreError>
    where
        E: Send + 'static,
        F: Fn(Execution) -> Result<Execution, E> + Send + 'static,
    {
        self.writer
            .write(move |ledger| {
                let made = apply_transition(ledger, id, now, &step)?;
                if matches!(made, Transition::Made(_)) {
                    let kept = insert(ledger, &next)?;
                    log_change(ledger, ExecutionStatus::Pending, &next, kept, now)?;
                }
                Ok(made)
            })
            .await
    }

    /// Settles calls whose time has come, all in one step; returns those that it settled.
    pub(crate) async fn expire(
        &self,
        due: Vec<ApprovalId>,
        now: Timestamp,
    ) -> Result<Vec<ApprovalId>, StoreError> {
        self.writer
            .write(move |ledger| {
                let mut expired = Vec::new();
                for id in &due {
                    // One that was decided meanwhile is no longer ours to settle.
                    let made = apply_transition(ledger, *id, now, &|it: Execution| it.expire(now))?;
                    if let Transition::Made(approval) = made {
                        expired.push(approval.id);
                    }
                }
                Ok(expired)
            })
            .await
    }

    /// Returns an approval.
    pub async fn approval(&self, id: ApprovalId) -> Result<Option<Execution>, StoreError> {
        match self.fresh.get(id) {
            Some(fresh) => Ok(Some(Execution::clone(&fresh))),
            None => self.readers.read(move |db| row::find(db, id)).await,
        }
    }

    /// Returns a call by the id of its execution, if it is one of this project's.
    pub async fn execution(
        &self,
        project: &ProjectId,
        id: ExecutionId,
    ) -> Result<Option<Execution>, StoreError> {
        let project = project.clone();
        let own = "tool_executions.id = $1 AND project_id = $2";
        self.readers
            .read(move |db| {
                let found = list(db, own, values![id.to_string(), project.as_str()])?;
                Ok(found.into_iter().next())
            })
            .await
    }

    /// Returns approvals of a project that wait for a person, oldest first, after one of them.
    pub async fn waiting_requests(
        &self,
        project: &ProjectId,
        after: Option<(Timestamp, ApprovalId)>,
        limit: usize,
    ) -> Result<Vec<Execution>, StoreError> {
        let project = project.clone();
        self.readers
            .read(move |db| match after {
                None => list(
                    db,
                    "tool_executions.project_id = $1 AND status = 'AWAITING_APPROVAL'
                     ORDER BY created_at, tool_executions.approval_id LIMIT $2",
                    values![project.as_str(), limit],
                ),
                Some((at, id)) => list(
                    db,
                    "tool_executions.project_id = $1 AND status = 'AWAITING_APPROVAL'
                       AND (created_at, tool_executions.approval_id) > ($2, $3)
                     ORDER BY created_at, tool_executions.approval_id LIMIT $4",
                    values![project.as_str(), at, id.to_string(), limit],
                ),
            })
            .await
    }

    /// Returns what a run has not finished.
    pub async fn open_in_run(&self, run: RunId) -> Result<Vec<Execution>, StoreError> {
        let open = "run_id = $1 AND status IN ('AWAITING_APPROVAL', 'APPROVED', 'EXECUTING')";
        self.readers.read(move |db| list(db, open, values![run.to_string()])).await
    }

    /// Returns the newest calls of a project, newest first: without what was shown and what came of
    /// them, which may be long.
    pub(crate) async fn recent_executions(
        &self,
        project: &ProjectId,
        limit: usize,
    ) -> Result<Vec<Execution>, StoreError> {
        let project = project.clone();
        self.readers
            .read(move |db| {
                let rows = db.query(
                    "SELECT approval_id, risk_level, digest, request, NULL, state, NULL, NULL, FALSE
                     FROM tool_executions WHERE project_id = $1
                     ORDER BY created_at DESC, approval_id DESC LIMIT $2",
                    values![project.as_str(), limit],
                )?;
                rows.into_iter().map(approval).collect()
            })
            .await
    }

    /// Returns the ids of calls whose time has come, and when the next one's will.
    pub(crate) async fn find_due(
        &self,
        now: Timestamp,
    ) -> Result<(Vec<ApprovalId>, Option<Timestamp>), StoreError> {
        self.readers
            .read(move |db| {
                let rows = db.query(
                    "SELECT approval_id, lapses_at FROM tool_executions
                     WHERE lapses_at IS NOT NULL ORDER BY lapses_at LIMIT $1",
                    values![SWEEP],
                )?;
                let mut due = Vec::new();
                for mut row in rows {
                    let id = row.parse("approval id")?;
                    let at: Timestamp = row.take()?;
                    if at > now {
                        return Ok((due, Some(at)));
                    }
                    due.push(id);
                }
                // A full page of due ones: come back at once for the rest.
                let more = (!due.is_empty()).then_some(now);
                Ok((due, more))
            })
            .await
    }
}

/// Returns the call that this one is, where its caller has handed it in before.
///
/// Who takes another's place is a new call, whatever the caller calls it.
fn find_submitted(
    ledger: &mut WriteTxn<'_>,
    approval: &Execution,
) -> Result<Option<ApprovalId>, StoreError> {
    let (call, basis) = (&approval.call, &approval.basis);
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
    let call = &approval.call;
    if let Some(known) = find_by_caller(ledger, call)? {
        return Ok(Some(known));
    }
    // Its id says which call it is, see `Gate::record_seen_call`.
    let row = ledger.query_one(
        "SELECT approval_id FROM tool_executions
         WHERE approval_id = $1 OR (project_id = $2 AND created_at >= $3 AND tool_use_id = $4)
         ORDER BY created_at, approval_id LIMIT 1",
        values![
            approval.id.to_string(),
            call.project.as_str(),
            time_before(approval.created_at, RECENT),
            row::tool_use_text(&call.tool_use_id)?
        ],
    )?;
    row.map(|mut row| row.parse("approval id")).transpose()
}

/// Returns an earlier moment.
fn time_before(at: Timestamp, duration: Duration) -> Timestamp {
    at.checked_sub(duration).unwrap_or(Timestamp::MIN)
}

/// Returns calls of a project in the order of their ids, after one of them, each with the status
/// that stands in its column.
/// A call as the audit is checked against it.
pub(super) struct AuditedCall {
    /// The status that stands in its column.
    pub(super) status: ExecutionStatus,
    pub(super) call: Execution,
    /// The digest of what is left of it, where its secrets are masked for good.
    pub(super) kept: Option<Digest>,
}

/// Returns calls of a project in the order of their ids, after one of them.
pub(super) fn list_for_audit(
    db: &mut dyn SqlConnection,
    project: &ProjectId,
    id: &str,
    limit: usize,
) -> Result<Vec<AuditedCall>, StoreError> {
    let sql = format!(
        "SELECT status, (has_secrets AND clear_calls.request IS NULL), tool_executions.request,
           tool_executions.preview, tool_executions.state, results.body, {FIELDS}, FALSE
         FROM {CALLS} WHERE project_id = $1 AND tool_executions.approval_id > $2
         ORDER BY tool_executions.approval_id LIMIT $3"
    );
    let rows = db.query(&sql, values![project.as_str(), id, limit])?;
    rows.into_iter().map(audited_call).collect()
}

fn audited_call(mut row: SqlRow) -> Result<AuditedCall, StoreError> {
    let (status, is_masked) = (row.parse("status")?, row.take()?);
    let (request, preview): (String, Option<String>) = (row.take()?, row.take()?);
    let (state, long): (String, Option<String>) = (row.take()?, row.take()?);
    let kept = || columns::digest_columns(&request, preview.as_deref(), &state, long.as_deref());
    let kept = if is_masked { Some(kept()) } else { None };
    Ok(AuditedCall { status, call: approval(row)?, kept })
}

pub(super) fn list(
    db: &mut dyn SqlConnection,
    condition: &str,
    with: &[SqlValue<'_>],
) -> Result<Vec<Execution>, StoreError> {
    let sql = format!("SELECT {FIELDS}, {IS_LOST} FROM {CALLS} WHERE {condition}");
    let rows: Vec<SqlRow> = db.query(&sql, with)?;
    rows.into_iter().map(approval).collect()
}
