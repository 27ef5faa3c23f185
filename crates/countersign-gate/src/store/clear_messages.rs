//! What messages say in clear, kept for as long as their run goes on.

use super::StoreError;
use super::run_record::RunKey;
use super::value::values;
use super::write_txn::WriteTxn;

/// What the messages of a run say that have secrets.
pub(super) const CLEAR_OF_RUN: &str =
    "SELECT body FROM clear_messages WHERE for_run = $1 ORDER BY position";

/// Keeps what a message says in clear, for as long as its run goes on.
pub(super) fn keep_clear(
    ledger: &mut WriteTxn<'_>,
    key: &RunKey,
    position: i64,
    body: &str,
) -> Result<(), StoreError> {
    ledger.execute(
        "INSERT INTO clear_messages (project_id, session_id, position, for_run, body)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (project_id, session_id, position) DO UPDATE SET body = excluded.body",
        values![key.project.as_str(), key.session.as_str(), position, key.run.to_string(), body],
    )?;
    Ok(())
}

/// Forgets what calls of a run gave back in clear: the model has been told.
pub(super) fn forget_answers(ledger: &mut WriteTxn<'_>, key: &RunKey) -> Result<(), StoreError> {
    let forgotten = ledger.execute(
        "DELETE FROM clear_calls WHERE for_run = $1 AND request IS NULL",
        values![key.run.to_string()],
    )?;
    if forgotten > 0 {
        ledger.request_scrub();
    }
    Ok(())
}

/// Forgets what a run that is over has said and done in clear. What is not settled yet keeps its clear
/// text until it is.
pub(super) fn forget_clear(ledger: &mut WriteTxn<'_>, key: &RunKey) -> Result<(), StoreError> {
    let run = key.run.to_string();
    let calls = ledger.execute(
        "DELETE FROM clear_calls WHERE for_run = $1 AND NOT EXISTS (SELECT 1 FROM tool_executions
           WHERE tool_executions.approval_id = clear_calls.approval_id
             AND status IN ('PENDING', 'AWAITING_APPROVAL', 'APPROVED', 'EXECUTING'))",
        values![&run],
    )?;
    let messages =
        ledger.execute("DELETE FROM clear_messages WHERE for_run = $1", values![&run])?;
    if calls + messages > 0 {
        ledger.request_scrub();
    }
    Ok(())
}
