//! Masking what is recorded from before secrets were masked at once: done once, project by project.

use countersign_core::ProjectId;
use jiff::Timestamp;

use super::StoreError;
use super::approvals::mask_calls;
use super::audit::{AuditAction, AuditChainWalk, walk_chain};
use super::conversations::mask_messages;
use super::database::{SqlConnection, SqlDatabase};
use super::value::values;
use super::write_cache::WriteCache;
use super::write_txn::{OpenCounters, WriteTxn};

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
