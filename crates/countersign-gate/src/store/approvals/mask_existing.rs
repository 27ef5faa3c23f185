//! Calls of before secrets were masked at once: masked when the database is brought up to date.

use countersign_core::{ApprovalId, Execution, Preview, ProjectId, Secrets};
use serde_json::Value;

use super::AuditedCall;
use super::columns::{RequestColumns, StateColumns, find_secrets};
use super::readable_columns::ReadableColumns;
use super::row::{find, tool_use_text, update_clear};
use crate::store::audit::{AuditChainWalk, MaskedCall};
use crate::store::value::{SqlRow, values};
use crate::store::write_txn::WriteTxn;
use crate::store::{StoreError, diffs, from_json, to_json};

/// How many ids are read at a time.
const PAGE: usize = 512;

/// Masks secrets in the calls of a project; returns those that the chain has to tell of, and whether
/// there were any.
///
/// A call that is not what its chain tells is masked, too, but stays what is found when it is checked.
pub(in crate::store) fn mask_calls(
    ledger: &mut WriteTxn<'_>,
    project: &ProjectId,
    walk: &mut AuditChainWalk,
) -> Result<(Vec<MaskedCall>, bool), StoreError> {
    let (mut masked, mut any, mut after) = (Vec::new(), false, String::new());
    loop {
        let page = ids_after(ledger, project, &after)?;
        for (id, status) in &page {
            // What has no id of ours, nobody finds and nobody checks.
            let (Ok(id), Ok(status)) = (id.parse(), status.parse()) else { continue };
            let Some(call) = read_or_mask(ledger, id, &mut any)? else { continue };
            write_tool_use(ledger, &call)?;
            if !has_secrets(ledger, &call)? {
                continue;
            }
            any = true;
            let standing = AuditedCall { status, call, kept: None };
            let is_sound = walk.check_call(&standing).is_ok();
            let kept = mask(ledger, &standing.call)?;
            masked.extend(kept.filter(|_| is_sound));
        }
        match page.last() {
            Some((last, _)) if page.len() == PAGE => after.clone_from(last),
            _ => return Ok((masked, any)),
        }
    }
}

/// Reads a call; one that cannot be read is masked as it is.
fn read_or_mask(
    ledger: &mut WriteTxn<'_>,
    id: ApprovalId,
    any: &mut bool,
) -> Result<Option<Execution>, StoreError> {
    match find(ledger.db(), id) {
        Ok(found) => Ok(found),
        Err(StoreError::Corrupt { .. }) => {
            *any |= mask_unreadable(ledger, id)?;
            Ok(None)
        }
        Err(error) => ledger.note_failure(Err(error)),
    }
}

fn ids_after(
    ledger: &mut WriteTxn<'_>,
    project: &ProjectId,
    after: &str,
) -> Result<Vec<(String, String)>, StoreError> {
    let rows = ledger.query(
        "SELECT approval_id, status FROM tool_executions
         WHERE project_id = $1 AND approval_id > $2 ORDER BY approval_id LIMIT $3",
        values![project.as_str(), after, PAGE],
    )?;
    rows.into_iter().map(|mut row: SqlRow| Ok((row.take()?, row.take()?))).collect()
}

fn has_secrets(ledger: &mut WriteTxn<'_>, call: &Execution) -> Result<bool, StoreError> {
    let secrets = find_secrets(call);
    if call.state().is_settled() && call.preview().is_some_and(Preview::leaves_lines_out) {
        diffs::mask_diffs(ledger, call, &secrets)?;
    }
    let state = StateColumns::from_state(call.state(), &secrets)?;
    Ok(state.clear.is_some() || RequestColumns::from_execution(call, &secrets)?.has_secrets())
}

/// Masks secrets in the row of a call; returns what the chain has to tell of it, if it is settled.
fn mask(ledger: &mut WriteTxn<'_>, call: &Execution) -> Result<Option<MaskedCall>, StoreError> {
    let secrets = find_secrets(call);
    let columns = RequestColumns::from_execution(call, &secrets)?;
    let state = StateColumns::from_state(call.state(), &secrets)?;
    let readable = ReadableColumns::from_state(&state.shown);
    ledger.execute(
        "UPDATE tool_executions SET tool_params = $1, request = $2, preview = $3, state = $4,
           result = $5, error = $6, has_secrets = TRUE
         WHERE approval_id = $7",
        values![
            to_json(&secrets.hide_in(&call.call().input))?,
            &columns.request.text,
            columns.preview.as_ref().map(|it| &it.text),
            &state.state,
            readable.result,
            readable.error,
            call.id().to_string(),
        ],
    )?;
    if let Some(long) = &state.long {
        ledger.execute(
            "UPDATE results SET body = $1 WHERE approval_id = $2",
            values![long, call.id().to_string()],
        )?;
    }
    let kept = update_clear(ledger, call, state)?;
    Ok(kept.map(|kept| MaskedCall { approval_id: call.id(), kept }))
}

/// Writes the agent's own id of a call as it is: it was JSON before.
fn write_tool_use(ledger: &mut WriteTxn<'_>, call: &Execution) -> Result<(), StoreError> {
    let text = tool_use_text(&call.call().tool_use_id)?;
    ledger.execute(
        "UPDATE tool_executions SET tool_use_id = $1
         WHERE approval_id = $2 AND tool_use_id IS NOT NULL AND tool_use_id <> $1",
        values![&text, call.id().to_string()],
    )?;
    Ok(())
}

/// Masks secrets in a row that cannot be read as a call; returns whether there were any.
fn mask_unreadable(ledger: &mut WriteTxn<'_>, id: ApprovalId) -> Result<bool, StoreError> {
    let row = ledger.query_one(
        "SELECT request, state FROM tool_executions WHERE approval_id = $1",
        values![id.to_string()],
    )?;
    let Some(mut row) = row else { return Ok(false) };
    let texts: [String; 2] = [row.take()?, row.take()?];
    let [request, state] = texts.each_ref().map(|text| hide_secrets(text));
    if [&request, &state] == texts.each_ref() {
        return Ok(false);
    }
    ledger.execute(
        "UPDATE tool_executions SET request = $1, state = $2 WHERE approval_id = $3",
        values![&request, &state, id.to_string()],
    )?;
    Ok(true)
}

fn hide_secrets(text: &str) -> String {
    let secrets = Secrets::default();
    match from_json::<Value>("column", text) {
        Ok(value) => match secrets.hide_in(&value) {
            hidden if hidden == value => text.to_owned(),
            hidden => hidden.to_string(),
        },
        Err(_) => secrets.hide_in_text(text),
    }
}
