//! Diffs that are too long to go with their request, whole.

use countersign_core::{ApprovalId, DiffPreview, Execution, Preview, Secrets};

use super::value::{SqlRow, values};
use super::write_txn::WriteTxn;
use super::{Store, StoreError};

/// A stretch of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLines {
    /// The lines.
    pub lines: Vec<String>,
    /// How many the whole diff has.
    pub total: usize,
}

impl Store {
    /// Returns some lines of a request's diff; none if nothing of it was left out.
    ///
    /// `file` counts the files of the preview as they are kept, from 0.
    pub async fn diff_lines(
        &self,
        id: ApprovalId,
        file: usize,
        from: usize,
        limit: usize,
    ) -> Result<Option<DiffLines>, StoreError> {
        self.readers
            .read(move |db| {
                let row = db.query_one(
                    "SELECT body FROM diffs WHERE approval_id = $1 AND file = $2",
                    values![id.to_string(), file],
                )?;
                let body: Option<String> = row.map(|mut row| row.take()).transpose()?;
                Ok(body.map(|body| DiffLines {
                    total: body.split('\n').count(),
                    lines: body.split('\n').skip(from).take(limit).map(str::to_owned).collect(),
                }))
            })
            .await
    }
}

/// Returns whether diffs of a request are too long to go with it.
pub(super) fn has_stored_diffs(approval: &Execution) -> bool {
    files(approval).iter().any(|file| file.whole.is_some())
}

fn files(approval: &Execution) -> &[DiffPreview] {
    approval.preview().map(Preview::files).unwrap_or_default()
}

/// Keeps what a request's preview does not hold of its diffs.
pub(super) fn store_diffs(
    ledger: &mut WriteTxn<'_>,
    approval: &Execution,
) -> Result<(), StoreError> {
    for (at, file) in files(approval).iter().enumerate() {
        let Some(whole) = &file.whole else { continue };
        ledger.execute(
            "INSERT INTO diffs (approval_id, file, body) VALUES ($1, $2, $3)
             ON CONFLICT (approval_id, file) DO UPDATE SET body = excluded.body",
            values![approval.id().to_string(), at, whole.as_ref()],
        )?;
    }
    Ok(())
}

/// Masks secrets in what is kept of a request's diffs.
pub(super) fn mask_diffs(
    ledger: &mut WriteTxn<'_>,
    approval: &Execution,
    secrets: &Secrets,
) -> Result<(), StoreError> {
    if !approval.preview().is_some_and(Preview::leaves_lines_out) {
        return Ok(());
    }
    let id = approval.id().to_string();
    let rows = ledger.query("SELECT file, body FROM diffs WHERE approval_id = $1", values![&id])?;
    let read = |mut row: SqlRow| Ok((row.take::<u64>()?, row.take::<String>()?));
    for (file, body) in rows.into_iter().map(read).collect::<Result<Vec<_>, StoreError>>()? {
        let masked = secrets.hide_in_text(&body);
        if masked != body {
            ledger.execute(
                "UPDATE diffs SET body = $1 WHERE approval_id = $2 AND file = $3",
                values![&masked, &id, file],
            )?;
        }
    }
    Ok(())
}
