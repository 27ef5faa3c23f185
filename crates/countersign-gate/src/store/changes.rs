//! What calls did to files, and which of it was undone.

use countersign_core::{
    ApprovalId, Event, ExecutionId, FileChange, ProjectId, RunId, SessionId, ToolCall,
};
use jiff::Timestamp;

use super::audit::AuditAction;
use super::value::{SqlRow, values};
use super::{Store, StoreError, to_json};

const KEEP: &str = "INSERT INTO changes
                      (approval_id, tool_id, project_id, session_id, run_id, begun_at, changes)
                    VALUES ($1, $2, $3, $4, $5, $6, $7)";

const COLUMNS: &str =
    "SELECT approval_id, tool_id, session_id, run_id, changes, undone_by, undone_at
                       FROM changes";

/// What is to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoTarget {
    /// One call.
    Call(ExecutionId),
    /// All calls of a run.
    Run(RunId),
}

/// What one call did to files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFiles {
    /// The request.
    pub approval: ApprovalId,
    /// The call.
    pub execution: ExecutionId,
    /// The conversation.
    pub session: SessionId,
    /// The run, where there is one.
    pub run: Option<RunId>,
    /// What it did.
    pub changes: Vec<FileChange>,
    /// Who undid it, and when.
    pub undone: Option<(String, Timestamp)>,
}

impl Store {
    /// Keeps what is there before a call runs, unless something is kept of it already.
    pub(crate) async fn record_state_before(
        &self,
        approval: ApprovalId,
        call: &ToolCall,
        changes: &[FileChange],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.put_changes("ON CONFLICT DO NOTHING", approval, call, changes, now).await
    }

    /// Keeps what a call does to files; what is kept of it already is replaced.
    pub(crate) async fn record_changes(
        &self,
        approval: ApprovalId,
        call: &ToolCall,
        changes: &[FileChange],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let replace = "ON CONFLICT (approval_id) DO UPDATE SET changes = excluded.changes";
        self.put_changes(replace, approval, call, changes, now).await
    }

    async fn put_changes(
        &self,
        otherwise: &'static str,
        approval: ApprovalId,
        call: &ToolCall,
        changes: &[FileChange],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (call, changes, sql) =
            (call.clone(), to_json(&changes)?, format!("{KEEP} {otherwise}"));
        self.writer
            .write(move |ledger| {
                ledger.execute(
                    &sql,
                    values![
                        approval.to_string(),
                        call.id.to_string(),
                        call.project.as_str(),
                        call.session.as_str(),
                        call.run.map(|run| run.to_string()),
                        now,
                        &changes
                    ],
                )?;
                Ok(())
            })
            .await
    }

    /// Returns what calls did to files, in the order they ran.
    pub async fn changes(
        &self,
        project: &ProjectId,
        of: UndoTarget,
    ) -> Result<Vec<ChangedFiles>, StoreError> {
        let (which, id) = match of {
            UndoTarget::Call(id) => ("tool_id", id.to_string()),
            UndoTarget::Run(id) => ("run_id", id.to_string()),
        };
        let project = project.clone();
        let sql = format!(
            "{COLUMNS} WHERE project_id = $1 AND {which} = $2 ORDER BY begun_at, approval_id"
        );
        self.readers
            .read(move |db| {
                let rows = db.query(&sql, values![project.as_str(), &id])?;
                rows.into_iter().map(changed_files).collect()
            })
            .await
    }

    /// Records that calls of one conversation were undone; those that were already stay as they are.
    pub(crate) async fn record_undo(
        &self,
        project: &ProjectId,
        undone: &[ChangedFiles],
        files: u64,
        by: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let Some(first) = undone.first() else { return Ok(()) };
        let (project, by, undone, first) =
            (project.clone(), by.to_owned(), undone.to_vec(), first.clone());
        self.writer
            .write(move |ledger| {
                for call in &undone {
                    ledger.execute(
                        "UPDATE changes SET undone_by = $1, undone_at = $2
                         WHERE approval_id = $3 AND undone_by IS NULL",
                        values![&by, now, call.approval.to_string()],
                    )?;
                }
                let executions: Vec<_> = undone.iter().map(|call| call.execution).collect();
                let event = Event::Undone { executions: executions.clone(), by: by.clone(), files };
                ledger.append_event(&project, Some(&first.session), first.run, now, &event)?;
                let (who, tool_ids) = (by.clone(), executions);
                ledger.append_audit(&project, now, &AuditAction::Undone { who, tool_ids, files })
            })
            .await
    }
}

fn changed_files(mut row: SqlRow) -> Result<ChangedFiles, StoreError> {
    let (approval, execution) = (row.parse("approval id")?, row.parse("execution id")?);
    let session = row.take::<String>()?.into();
    let run: Option<String> = row.take()?;
    let run = run.map(|run| run.parse()).transpose();
    let run = run.map_err(|error| StoreError::corrupt("run id", error))?;
    let changes = row.json("changes")?;
    let undone = row.take::<Option<String>>()?.zip(row.take::<Option<Timestamp>>()?);
    Ok(ChangedFiles { approval, execution, session, run, changes, undone })
}
