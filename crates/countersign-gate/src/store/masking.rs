//! Masking what is recorded from before secrets were masked at once: done once, project by project.

use countersign_core::{ProjectId, RunId, Secrets};
use jiff::Timestamp;
use serde_json::Value;

use super::approvals::mask_calls;
use super::audit::{AuditAction, AuditChainWalk, walk_chain};
use super::clear_messages::keep_clear;
use super::database::{SqlConnection, SqlDatabase};
use super::message_masking::hide_in_message;
use super::run_record::RunKey;
use super::sessions::mask_titles;
use super::value::values;
use super::write_cache::WriteCache;
use super::write_txn::{OpenCounters, WriteTxn};
use super::{StoreError, from_json, to_json};

/// How many masked calls one row of the audit tells of.
const TOLD: usize = 256;

/// Masks secrets in what older versions have recorded, and has the files forget them. Blocks.
///
/// What is left to do stands in the ledgers, so that it can be broken off at any time.
pub(super) fn mask_existing_records(
    database: &dyn SqlDatabase,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut connection = database.writer()?;
    let db = connection.as_mut();
    while let Some(project) = next_project(db)? {
        db.begin()?;
        if let Err(error) = mask_project(db, &project, now) {
            db.rollback();
            return Err(error);
        }
        db.commit()?;
        tracing::info!(%project, "secrets in the record of before are masked");
    }
    if db.query_one("SELECT project_id FROM ledgers WHERE masking = 1 LIMIT 1", &[])?.is_none() {
        return Ok(());
    }
    match database.rewrite() {
        Ok(()) => db.execute("UPDATE ledgers SET masking = 2 WHERE masking = 1", &[]).map(drop),
        Err(error) => {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(
                error,
                "what was masked may still be in free parts of the database file; the next start tries again"
            );
            Ok(())
        }
    }
}

fn next_project(db: &mut dyn SqlConnection) -> Result<Option<ProjectId>, StoreError> {
    let row = db.query_one(
        "SELECT project_id FROM ledgers WHERE masking = 0 ORDER BY project_id LIMIT 1",
        &[],
    )?;
    row.map(|mut row| row.take::<String>().map(ProjectId::from)).transpose()
}

fn mask_project(
    db: &mut dyn SqlConnection,
    project: &ProjectId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (mut books, fresh) = (OpenCounters::new(), WriteCache::default());
    let mut ledger = WriteTxn::new(db, &mut books, &fresh, None);
    ledger.lock_counters(project)?;
    // With the book in hand: another server may have been faster.
    let left = ledger.query_one(
        "SELECT project_id FROM ledgers WHERE project_id = $1 AND masking = 0",
        values![project.as_str()],
    )?;
    if left.is_none() {
        return Ok(());
    }
    let mut walk = AuditChainWalk::new(project.clone());
    let is_whole = walk_chain(ledger.db(), &mut walk)?.is_ok();
    let (calls, any_call) = mask_calls(&mut ledger, project, &mut walk)?;
    // A chain that is broken stays so: it is not told what would have to be checked against it.
    for told in calls.chunks(TOLD).filter(|_| is_whole) {
        ledger.append_audit(project, now, &AuditAction::Masked { calls: told.to_vec() })?;
    }
    let any_message = mask_messages(&mut ledger, project)?;
    let masking: i64 = if any_call || any_message { 1 } else { 2 };
    ledger.execute(
        "UPDATE ledgers SET masking = $1 WHERE project_id = $2",
        values![masking, project.as_str()],
    )?;
    ledger.finish().map(drop)
}

/// How many messages are masked at a time.
const MESSAGE_PAGE: usize = 256;

/// Masks secrets in the messages of a project, and in what its conversations are called; returns
/// whether there were any.
fn mask_messages(ledger: &mut WriteTxn<'_>, project: &ProjectId) -> Result<bool, StoreError> {
    let mut any = mask_titles(ledger, project)?;
    let (mut session, mut position) = (String::new(), 0_i64);
    let mut known: Option<(RunId, Secrets)> = None;
    loop {
        let rows = ledger.query(
            "SELECT session_id, position, run_id, body, EXISTS (SELECT 1 FROM runs
               WHERE runs.id = run_id AND runs.status = 'RUNNING')
             FROM messages WHERE project_id = $1
               AND (session_id > $2 OR (session_id = $2 AND position > $3))
             ORDER BY session_id, position LIMIT $4",
            values![project.as_str(), &session, position, MESSAGE_PAGE],
        )?;
        let is_last = rows.len() < MESSAGE_PAGE;
        for mut row in rows {
            (session, position) = (row.take()?, row.take()?);
            let (run, text): (RunId, String) = (row.parse("run id")?, row.take()?);
            let goes_on: bool = row.take()?;
            let Ok(body) = from_json::<Value>("message", &text) else { continue };
            let of_run = known.take().filter(|(of, _)| *of == run);
            let mut secrets = of_run.map_or_else(|| Secrets::default().for_model(), |(_, it)| it);
            secrets.learn(&body);
            let hidden = hide_in_message(&body, &secrets);
            known = Some((run, secrets));
            if hidden == body {
                continue;
            }
            any = true;
            let key = RunKey { project: project.clone(), session: session.as_str().into(), run };
            if goes_on {
                keep_clear(ledger, &key, position, &text)?;
            }
            ledger.execute(
                "UPDATE messages SET body = $1
                 WHERE project_id = $2 AND session_id = $3 AND position = $4",
                values![to_json(&hidden)?, project.as_str(), &session, position],
            )?;
        }
        if is_last {
            return Ok(any);
        }
    }
}
