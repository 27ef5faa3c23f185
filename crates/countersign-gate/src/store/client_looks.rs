//! What clients are asked of their machines, for the seconds that takes.

use countersign_core::{ClientLook, Event, ExecutionId, ProjectId, ToolCall};
use jiff::Timestamp;

use super::value::values;
use super::{Store, StoreError};

/// A client that runs calls, as the table has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectedExecutor {
    /// The name under which calls are lent to it.
    pub client: String,
    /// Whether it says what is on its machine when it is asked.
    pub shows_files: bool,
}

impl Store {
    /// Returns the client that runs the calls of a project, if one is connected.
    pub async fn connected_executor(
        &self,
        project: &ProjectId,
    ) -> Result<Option<ConnectedExecutor>, StoreError> {
        let project = project.clone();
        self.readers
            .read(move |db| {
                let row = db.query_one(
                    "SELECT client_id, shows_files FROM executors WHERE project_id = $1
                       AND EXISTS (SELECT 1 FROM servers WHERE id = server_id AND NOT fenced)",
                    values![project.as_str()],
                )?;
                row.map(|mut row| {
                    Ok(ConnectedExecutor { client: row.take()?, shows_files: row.take()? })
                })
                .transpose()
            })
            .await
    }

    /// Asks a client for a look. What nobody fetched in time is forgotten, whoever had asked.
    pub(crate) async fn ask_for_look(
        &self,
        call: ToolCall,
        holder: String,
        stale: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let written = serde_json::to_string(&call)
            .map_err(|error| StoreError::corrupt("client_looks", error))?;
        self.writer
            .write(move |ledger| {
                let (id, project) = (call.id.to_string(), call.project.as_str());
                ledger.execute(
                    "DELETE FROM client_looks WHERE asked_at < $1 OR execution_id = $2",
                    values![stale, &id],
                )?;
                ledger.execute(
                    "INSERT INTO client_looks (execution_id, project_id, holder, call, asked_at)
                     VALUES ($1, $2, $3, $4, $5)",
                    values![&id, project, &holder, &written, now],
                )?;
                let event = Event::ClientLookWanted { execution: call.id, holder: holder.clone() };
                ledger.append_event(&call.project, Some(&call.session), call.run, now, &event)
            })
            .await
    }

    /// Returns the call that a client is asked about, as long as that is waited for.
    pub async fn find_requested_look(
        &self,
        execution: ExecutionId,
    ) -> Result<Option<ToolCall>, StoreError> {
        self.readers
            .read(move |db| {
                let row = db.query_one(
                    "SELECT call FROM client_looks WHERE execution_id = $1 AND answer IS NULL",
                    values![&execution.to_string()],
                )?;
                let Some(mut row) = row else { return Ok(None) };
                let call: String = row.take()?;
                serde_json::from_str(&call)
                    .map(Some)
                    .map_err(|error| StoreError::corrupt("client_looks", error))
            })
            .await
    }

    /// Keeps what a client says; returns whether it was asked, and nobody had answered yet.
    pub(crate) async fn answer_look(
        &self,
        project: ProjectId,
        execution: ExecutionId,
        holder: String,
        look: ClientLook,
    ) -> Result<bool, StoreError> {
        let answer = serde_json::to_string(&look)
            .map_err(|error| StoreError::corrupt("client_looks", error))?;
        self.writer
            .write(move |ledger| {
                let changed = ledger.execute(
                    "UPDATE client_looks SET answer = $1 WHERE execution_id = $2
                       AND project_id = $3 AND holder = $4 AND answer IS NULL",
                    values![&answer, &execution.to_string(), project.as_str(), &holder],
                )?;
                Ok(changed > 0)
            })
            .await
    }

    /// Returns what a client has said of a call, if it has.
    pub(crate) async fn find_look_answer(
        &self,
        execution: ExecutionId,
    ) -> Result<Option<ClientLook>, StoreError> {
        self.readers
            .read(move |db| {
                let row = db.query_one(
                    "SELECT answer FROM client_looks WHERE execution_id = $1 AND answer IS NOT NULL",
                    values![&execution.to_string()],
                )?;
                let Some(mut row) = row else { return Ok(None) };
                let answer: String = row.take()?;
                serde_json::from_str(&answer)
                    .map(Some)
                    .map_err(|error| StoreError::corrupt("client_looks", error))
            })
            .await
    }

    /// Forgets what was asked and said of a call.
    pub(crate) async fn end_look(&self, execution: ExecutionId) -> Result<(), StoreError> {
        self.writer
            .write(move |ledger| {
                ledger.execute(
                    "DELETE FROM client_looks WHERE execution_id = $1",
                    values![&execution.to_string()],
                )?;
                Ok(())
            })
            .await
    }
}
