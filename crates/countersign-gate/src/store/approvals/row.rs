//! The row of an approval: the columns people read, and those it is made of again.

use std::borrow::Cow;
use std::sync::Arc;

use countersign_core::{
    ApprovalId, Digest, Execution, ExecutionParts, ExecutionStatus, Risk, Secrets, ToolUseId,
    VerdictAction,
};
use countersign_seal::GateToken;

use super::columns::{
    RequestColumns, StateColumns, StoredRequest, digest_columns, find_secrets, is_long,
    restore_long_result,
};
use super::readable_columns::ReadableColumns;
use crate::store::database::SqlConnection;
use crate::store::value::{SqlRow, values};
use crate::store::write_cache::LONG as LONG_CALL;
use crate::store::write_txn::WriteTxn;
use crate::store::{StoreError, diffs, from_json, to_json};

/// Who the calls of an embedded or single-user server belong to.
const LOCAL_USER: &str = "00000000-0000-8000-8000-000000000001";

/// What [`approval`] reads, but for whether the clear text is lost.
pub(super) const FIELDS: &str = "tool_executions.approval_id, risk_level, digest,
    coalesce(clear_calls.request, tool_executions.request),
    coalesce(clear_calls.preview, tool_executions.preview),
    tool_executions.state, results.body, clear_calls.state";

/// Whether a call that can still run has lost its clear text.
pub(super) const IS_LOST: &str = "(has_secrets AND clear_calls.approval_id IS NULL
    AND status IN ('AWAITING_APPROVAL', 'APPROVED', 'EXECUTING'))";

/// Calls, each with what is kept beside it.
pub(super) const CALLS: &str = "tool_executions
    LEFT JOIN results ON results.approval_id = tool_executions.approval_id
    LEFT JOIN clear_calls ON clear_calls.approval_id = tool_executions.approval_id";

pub(super) fn find(
    db: &mut dyn SqlConnection,
    id: ApprovalId,
) -> Result<Option<Execution>, StoreError> {
    let sql =
        format!("SELECT {FIELDS}, {IS_LOST} FROM {CALLS} WHERE tool_executions.approval_id = $1");
    db.query_one(&sql, values![id.to_string()])?.map(approval).transpose()
}

pub(super) fn approval(mut row: SqlRow) -> Result<Execution, StoreError> {
    let id = row.parse("approval id")?;
    let risk = parse_risk(&row.take::<String>()?)?;
    let digest = Digest::from(row.take::<String>()?);
    let StoredRequest { call, effects, summary, verdict, created_at, commands, basis, canonical } =
        row.json::<StoredRequest<'static>>("request")?;
    let preview: Option<String> = row.take()?;
    let mut state = row.json("state")?;
    let long: Option<String> = row.take()?;
    match row.take::<Option<String>>()? {
        Some(clear) => state = from_json("state", &clear)?,
        None => restore_long_result(&mut state, long.as_deref())?,
    }
    if row.take()? {
        // A mask must not run in the place of what was approved.
        return Err(StoreError::corrupt("request", format!("`{id}` has lost its clear text")));
    }
    let parts = ExecutionParts {
        id,
        call: call.into_owned(),
        effects: effects.into_owned(),
        commands: commands.into_owned(),
        canonical: canonical.map(Cow::into_owned),
        summary: summary.into_owned(),
        basis: basis.into_owned(),
        risk,
        verdict: verdict.into_owned(),
        preview: preview.map(|preview| from_json("preview", &preview)).transpose()?,
        digest,
        created_at,
        state,
    };
    Ok(Execution::from_row(parts, GateToken::for_gate()))
}

fn parse_risk(text: &str) -> Result<Risk, StoreError> {
    from_json("risk", &format!("\"{text}\""))
}

/// Writes a new call; returns the digest of what is kept of it, where secrets are masked for good.
pub(super) fn insert(
    ledger: &mut WriteTxn<'_>,
    approval: &Execution,
) -> Result<Option<Digest>, StoreError> {
    let call = &approval.call();
    let secrets = find_secrets(approval);
    let columns = RequestColumns::from_execution(approval, &secrets)?;
    let state = StateColumns::from_state(approval.state(), &secrets)?;
    let readable = ReadableColumns::from_state(&state.shown);
    diffs::store_diffs(ledger, approval)?;
    let has_secrets = columns.has_secrets() || state.clear.is_some();
    let is_masked = has_secrets && approval.state().is_settled();
    // What has more to it than its row is read from there, so that all see the same of it.
    if columns.length() <= LONG_CALL && !diffs::has_stored_diffs(approval) && !is_masked {
        ledger.cache_call(approval.id(), Some(Arc::new(approval.clone())));
    }
    ledger.execute(
        "INSERT INTO tool_executions (id, user_id, project_id, session_id, approval_id, tool_name,
           tool_params, risk_level, requires_approval, status, created_at, run_id, digest, request,
           preview, state, error, error_type, approved_at, completed_at, expires_at, owner,
           executor, tool_use_id, lapses_at, submitted_by, has_secrets)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
           $19, $20, $21, $22, $23, $24, $25, $26, $27)",
        values![
            call.id.to_string(),
            LOCAL_USER,
            call.project.as_str(),
            call.session.as_str(),
            approval.id().to_string(),
            &call.tool_name,
            to_json(&secrets.hide_in(&call.input))?,
            approval.risk().to_string(),
            approval.verdict().outcome == VerdictAction::Ask,
            approval.status().as_str(),
            approval.created_at(),
            call.run.map(|run| run.to_string()),
            approval.digest().as_str(),
            &columns.request.text,
            columns.preview.as_ref().map(|it| &it.text),
            &state.state,
            readable.error,
            readable.error_type,
            readable.approved_at,
            readable.completed_at,
            readable.expires_at,
            starting_server(ledger, approval),
            call.executor.as_str(),
            tool_use_text(&call.tool_use_id)?,
            approval.lapses_at(),
            approval.basis().submitted_by.as_deref(),
            has_secrets,
        ],
    )?;
    if is_masked {
        diffs::mask_diffs(ledger, approval, &secrets)?;
        let preview = columns.preview.as_ref().map(|it| it.text.as_str());
        return Ok(Some(digest_columns(&columns.request.text, preview, &state.state, None)));
    }
    if has_secrets {
        keep_clear(ledger, approval, &columns, state.clear)?;
    }
    Ok(None)
}

/// Keeps in clear what a call needs to go on, beside its row.
pub(super) fn keep_clear(
    ledger: &mut WriteTxn<'_>,
    approval: &Execution,
    columns: &RequestColumns,
    state: Option<String>,
) -> Result<(), StoreError> {
    ledger.execute(
        "INSERT INTO clear_calls (approval_id, for_run, request, preview, state)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (approval_id) DO UPDATE SET request = excluded.request,
           preview = excluded.preview, state = excluded.state",
        values![
            approval.id().to_string(),
            approval.call().run.map(|run| run.to_string()),
            columns.request.clear.as_ref().unwrap_or(&columns.request.text),
            columns.preview.as_ref().map(|it| it.clear.as_ref().unwrap_or(&it.text)),
            state,
        ],
    )?;
    Ok(())
}

/// Returns the id of a call as its column has it: as it is, but where that would not come back.
pub(in crate::store) fn tool_use_text(id: &ToolUseId) -> Result<String, StoreError> {
    let id = id.as_str();
    if id.contains('\0') || id.starts_with('"') { to_json(&id) } else { Ok(id.to_owned()) }
}

/// Writes what a person has changed of a request, and what followed from that.
pub(super) fn update_request(
    ledger: &mut WriteTxn<'_>,
    approval: &Execution,
) -> Result<(), StoreError> {
    let secrets = find_secrets(approval);
    let columns = RequestColumns::from_execution(approval, &secrets)?;
    let state = StateColumns::from_state(approval.state(), &secrets)?;
    let has_secrets = columns.has_secrets() || state.clear.is_some();
    diffs::store_diffs(ledger, approval)?;
    ledger.execute(
        "UPDATE tool_executions SET tool_params = $1, risk_level = $2, digest = $3, request = $4,
           preview = $5, state = $6, has_secrets = $7
         WHERE approval_id = $8",
        values![
            to_json(&secrets.hide_in(&approval.call().input))?,
            approval.risk().to_string(),
            approval.digest().as_str(),
            &columns.request.text,
            columns.preview.as_ref().map(|it| &it.text),
            &state.state,
            has_secrets,
            approval.id().to_string(),
        ],
    )?;
    if has_secrets {
        return keep_clear(ledger, approval, &columns, state.clear);
    }
    ledger.execute(
        "DELETE FROM clear_calls WHERE approval_id = $1",
        values![approval.id().to_string()],
    )?;
    Ok(())
}

/// What a change of state came to.
pub(super) enum RowUpdate {
    /// It no longer stood where it was found.
    Not,
    /// It is so.
    Done {
        /// Whether its row has secrets masked.
        has_secrets: bool,
        /// The digest of what is kept of it, where secrets are masked for good.
        kept: Option<Digest>,
    },
}

/// Changes the state of a row that still stands where it was found.
pub(super) fn update(
    ledger: &mut WriteTxn<'_>,
    before: ExecutionStatus,
    approval: &Execution,
) -> Result<RowUpdate, StoreError> {
    // Most states have nothing in them that could be a secret.
    let says = approval.state().is_settled() || approval.state().decision_comment().is_some();
    let secrets = if says { find_secrets(approval) } else { Secrets::default() };
    let state = StateColumns::from_state(approval.state(), &secrets)?;
    let readable = ReadableColumns::from_state(&state.shown);
    // `status = …` is the lock: of two that would change the row, one does.
    let changed = ledger.query_one(
        "UPDATE tool_executions SET status = $1, state = $2, result = $3, error = $4,
           error_type = $5, execution_time_ms = $6, approved_at = coalesce($7, approved_at),
           completed_at = $8, expires_at = coalesce($9, expires_at), owner = coalesce($10, owner),
           holder = coalesce($11, holder), lapses_at = $12, has_secrets = (has_secrets OR $13)
         WHERE approval_id = $14 AND status = $15 RETURNING has_secrets",
        values![
            approval.status().as_str(),
            &state.state,
            readable.result,
            readable.error,
            readable.error_type,
            readable.execution_time.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX)),
            readable.approved_at,
            readable.completed_at,
            readable.expires_at,
            starting_server(ledger, approval),
            approval.lease().map(|lease| lease.holder.as_str()),
            approval.lapses_at(),
            state.clear.is_some(),
            approval.id().to_string(),
            before.as_str(),
        ],
    )?;
    let Some(mut row) = changed else { return Ok(RowUpdate::Not) };
    if let Some(long) = &state.long {
        ledger.execute(
            "INSERT INTO results (approval_id, body) VALUES ($1, $2)",
            values![approval.id().to_string(), long],
        )?;
    }
    let has_secrets = row.take()?;
    let kept = if has_secrets { update_clear(ledger, approval, state)? } else { None };
    Ok(RowUpdate::Done { has_secrets, kept })
}

/// Keeps in clear what a call still needs after a change of state, and no more.
pub(super) fn update_clear(
    ledger: &mut WriteTxn<'_>,
    approval: &Execution,
    state: StateColumns,
) -> Result<Option<Digest>, StoreError> {
    let id = approval.id().to_string();
    let secrets = find_secrets(approval);
    let columns = RequestColumns::from_execution(approval, &secrets)?;
    if !approval.state().is_settled() {
        keep_clear(ledger, approval, &columns, state.clear)?;
        return Ok(None);
    }
    diffs::mask_diffs(ledger, approval, &secrets)?;
    let preview = columns.preview.as_ref().map(|it| it.text.as_str());
    let kept = digest_columns(&columns.request.text, preview, &state.state, state.long.as_deref());
    // Who takes its place is made of it, and the model has yet to be readable: by whoever drives the run.
    let has_heir = approval.replaced_by().is_some();
    if (has_heir || state.clear.is_some()) && run_goes_on(ledger, approval)? {
        if has_heir {
            keep_clear(ledger, approval, &columns, state.clear)?;
        } else {
            ledger.execute(
                "INSERT INTO clear_calls (approval_id, for_run, state) VALUES ($1, $2, $3)
                 ON CONFLICT (approval_id) DO UPDATE SET request = NULL, preview = NULL,
                   state = excluded.state",
                values![&id, approval.call().run.map(|run| run.to_string()), state.clear],
            )?;
        }
    } else {
        ledger.execute("DELETE FROM clear_calls WHERE approval_id = $1", values![&id])?;
    }
    ledger.request_scrub();
    Ok(Some(kept))
}

fn run_goes_on(ledger: &mut WriteTxn<'_>, approval: &Execution) -> Result<bool, StoreError> {
    let Some(run) = approval.call().run else { return Ok(false) };
    let running = ledger.query_one(
        "SELECT id FROM runs WHERE id = $1 AND status = 'RUNNING'",
        values![run.to_string()],
    )?;
    Ok(running.is_some())
}

/// The server in which a call runs, if this is where it starts.
fn starting_server(ledger: &WriteTxn<'_>, approval: &Execution) -> Option<String> {
    ledger
        .server()
        .filter(|_| approval.status() == ExecutionStatus::Executing && approval.lease().is_none())
}

/// Whether what a call gave back has a place of its own.
pub(super) fn has_long_result(approval: &Execution) -> bool {
    is_long(approval.state())
}
