//! Diffs that are too long to go with their request, whole.

use countersign_core::{Approval, ApprovalId, Preview};
use rusqlite::{Connection, OptionalExtension, params};

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
        let file = i64::try_from(file).unwrap_or(i64::MAX);
        self.readers
            .read(move |db| {
                let body: Option<String> = db
                    .prepare_cached("SELECT body FROM diffs WHERE approval_id = ? AND file = ?")?
                    .query_row(params![id.to_string(), file], |row| row.get(0))
                    .optional()?;
                Ok(body.map(|body| DiffLines {
                    total: body.split('\n').count(),
                    lines: body.split('\n').skip(from).take(limit).map(str::to_owned).collect(),
                }))
            })
            .await
    }
}

/// Keeps what a request's preview does not hold of its diffs.
pub(super) fn keep(db: &Connection, approval: &Approval) -> Result<(), StoreError> {
    let files = match &approval.preview {
        Some(Preview::Diff(file)) => std::slice::from_ref(file),
        Some(Preview::MultiDiff { files, .. }) => files.as_slice(),
        Some(Preview::Command(_) | Preview::Generic { .. }) | None => &[],
    };
    for (at, file) in files.iter().enumerate() {
        let Some(whole) = &file.whole else { continue };
        db.prepare_cached(
            "INSERT OR REPLACE INTO diffs (approval_id, file, body) VALUES (?, ?, ?)",
        )?
        .execute(params![
            approval.id.to_string(),
            i64::try_from(at).unwrap_or(i64::MAX),
            whole.as_ref()
        ])?;
    }
    Ok(())
}
