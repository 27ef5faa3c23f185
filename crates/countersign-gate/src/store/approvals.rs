//! Approvals as rows: made once, changed only by compare-and-set, each change with its events.

mod columns;
mod execution_list;
mod mask_existing;
mod new_executions;
mod readable_columns;
mod row;
mod state_change;

use countersign_core::{
    ApprovalId, Digest, Execution, ExecutionId, ExecutionStatus, LockedExecution, ProjectId, RunId,
    StartRejection, StartedExecution,
};
use countersign_seal::CommittedWrite;
use jiff::Timestamp;

pub(super) use self::columns::find_secrets;
pub use self::execution_list::ExecutionFilter;
pub(super) use self::mask_existing::mask_calls;
pub(crate) use self::new_executions::InsertOutcome;
use self::new_executions::insert_with_events;
use self::row::{CALLS, FIELDS, IS_LOST, approval};
pub(super) use self::state_change::apply_transition;
use super::database::SqlConnection;
use super::value::{SqlRow, SqlValue, values};
use super::{Store, StoreError, StoredRule, rules};
use crate::prior_state::{PriorCallState, PriorStateProbe};

/// How many calls one sweep of deadlines settles: bounds how long others wait for it.
const SWEEP: usize = 256;

/// What a transition found and left.
#[derive(Debug)]
pub enum Transition<E, S = Execution> {
    /// There is no such approval.
    Unknown,
    /// The rules of the state said no.
    Refused(E),
    /// It is now so.
    Made(Box<S>),
}

/// What came of starting a call.
#[derive(Debug)]
pub(crate) enum StartOutcome {
    /// There is no such execution.
    Unknown,
    /// Its state does not allow it.
    Refused(StartRejection),
    /// It has started, and that is on disk.
    Started(Box<CommittedWrite<StartedExecution>>),
}

impl Store {
    /// Starts an approved call: of all who try, one gets what becomes the permit.
    pub(crate) async fn start_execution(
        &self,
        id: ApprovalId,
        now: Timestamp,
    ) -> Result<StartOutcome, StoreError> {
        let step = move |stands: LockedExecution| stands.start(now);
        let write = self.writer.write(move |ledger| apply_transition(ledger, id, now, &step));
        // The writer answers when the commit is durable, so what was made is on disk.
        Ok(match write.await? {
            Transition::Unknown => StartOutcome::Unknown,
            Transition::Refused(refused) => StartOutcome::Refused(refused),
            Transition::Made(started) => {
                StartOutcome::Started(Box::new(CommittedWrite::after_commit(*started)))
            }
        })
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
        F: Fn(LockedExecution) -> Result<Execution, E> + Send + 'static,
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
        F: Fn(LockedExecution) -> Result<Execution, E> + Send + 'static,
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
        F: Fn(LockedExecution) -> Result<Execution, E> + Send + 'static,
    {
        self.writer
            .write(move |ledger| {
                let made = apply_transition(ledger, id, now, &step)?;
                if matches!(made, Transition::Made(_)) {
                    insert_with_events(ledger, &next, now)?;
                }
                Ok(made)
            })
            .await
    }

    /// Settles calls whose time has come, all in one step; returns those that it settled, and what they were
    /// before.
    pub(crate) async fn expire(
        &self,
        due: Vec<ApprovalId>,
        now: Timestamp,
    ) -> Result<Vec<(Option<PriorCallState>, Execution)>, StoreError> {
        self.writer
            .write(move |ledger| {
                let mut expired = Vec::new();
                for id in &due {
                    let probe = PriorStateProbe::default();
                    let step = probe.watch(move |it: LockedExecution| it.expire(now));
                    // One that was decided meanwhile is no longer ours to settle.
                    if let Transition::Made(made) = apply_transition(ledger, *id, now, &step)? {
                        expired.push((probe.prior_state(), *made));
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

    /// Returns when the oldest request of a project was made that waits for a person.
    pub async fn oldest_request_time(
        &self,
        project: &ProjectId,
    ) -> Result<Option<Timestamp>, StoreError> {
        let project = project.clone();
        let oldest = "SELECT created_at FROM tool_executions
                      WHERE project_id = $1 AND status = 'AWAITING_APPROVAL'
                      ORDER BY created_at LIMIT 1";
        self.readers
            .read(move |db| {
                let row = db.query_one(oldest, values![project.as_str()])?;
                row.map(|mut row| row.take()).transpose()
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
