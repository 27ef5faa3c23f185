//! Who runs the calls of a project elsewhere: one client at a time, whichever server it is connected to.

use countersign_core::{
    ApprovalId, Digest, Event, Execution, LockedExecution, ProjectId, StartRejection,
};
use jiff::Timestamp;

use super::approvals::{self, Transition, apply_transition};
use super::audit::AuditAction;
use super::value::values;
use super::write_txn::WriteTxn;
use super::{Store, StoreError};

/// A stream on which a client hears what it is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExecutorStream {
    pub(crate) project: ProjectId,
    /// The client, by the name it gave itself.
    pub(crate) client: String,
    /// The stream, by a name that no other ever has.
    pub(crate) stream: String,
    /// Whether the client named itself.
    pub(crate) is_named: bool,
    /// Whether it says what is on its machine when it is asked.
    pub(crate) shows_files: bool,
}

/// What came of lending a call to a client.
#[derive(Debug)]
pub(crate) enum LendOutcome {
    /// The stream is no longer the one that runs the project's calls.
    NotOnPost,
    /// What the rules of the state said.
    Tried(Transition<StartRejection>),
}

impl Store {
    /// Makes a client the one that runs the calls of its project; returns whether it now is.
    ///
    /// Another one keeps its post as long as its server is there, unless only this one has a name.
    pub(crate) async fn take_executor_lease(
        &self,
        post: ExecutorStream,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let server = self.server().unwrap_or_default();
        self.writer
            .write(move |ledger| {
                ledger.execute(
                    "DELETE FROM executors WHERE project_id = $1 AND server_id <> $2
                       AND NOT EXISTS (SELECT 1 FROM servers WHERE id = server_id AND NOT fenced)",
                    values![post.project.as_str(), &server],
                )?;
                if post.is_named {
                    ledger.execute(
                        "DELETE FROM executors WHERE project_id = $1 AND NOT is_named",
                        values![post.project.as_str()],
                    )?;
                }
                ledger.execute(
                    "INSERT INTO executors
                       (project_id, client_id, stream_id, server_id, since, is_named, shows_files)
                     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
                    values![
                        post.project.as_str(),
                        &post.client,
                        &post.stream,
                        &server,
                        now,
                        post.is_named,
                        post.shows_files,
                    ],
                )?;
                is_current_executor(ledger, &post)
            })
            .await
    }

    /// Returns whether a client still is the one that runs the calls of its project.
    pub(crate) async fn holds_executor_lease(
        &self,
        post: ExecutorStream,
    ) -> Result<bool, StoreError> {
        self.readers
            .read(move |db| {
                let found = db.query_one(
                    "SELECT 1 FROM executors WHERE project_id = $1 AND stream_id = $2",
                    values![post.project.as_str(), &post.stream],
                )?;
                Ok(found.is_some())
            })
            .await
    }

    /// Leaves a post to the next one.
    pub(crate) async fn release_executor_lease(
        &self,
        post: ExecutorStream,
    ) -> Result<(), StoreError> {
        self.writer
            .write(move |ledger| {
                ledger.execute(
                    "DELETE FROM executors WHERE project_id = $1 AND stream_id = $2",
                    values![post.project.as_str(), &post.stream],
                )?;
                Ok(())
            })
            .await
    }

    /// Takes a call to the next state, if the client is still the one that runs the project's calls.
    pub(crate) async fn lend_to(
        &self,
        post: ExecutorStream,
        id: ApprovalId,
        now: Timestamp,
        step: impl Fn(LockedExecution) -> Result<Execution, StartRejection> + Send + 'static,
    ) -> Result<LendOutcome, StoreError> {
        self.writer
            .write(move |ledger| {
                // The book first: no other server takes the post or the call until the commit.
                ledger.lock_counters(&post.project)?;
                if !is_current_executor(ledger, &post)? {
                    return Ok(LendOutcome::NotOnPost);
                }
                apply_transition(ledger, id, now, &step).map(LendOutcome::Tried)
            })
            .await
    }

    /// Records that what somebody said came of a call was not taken.
    pub(crate) async fn refuse_result(
        &self,
        stands: Execution,
        reason: String,
        result: Digest,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.writer
            .write(move |ledger| {
                let call = &stands.call();
                let (approval_id, tool_id) = (stands.id(), call.id);
                let (reason, result) = (reason.clone(), result.clone());
                let event = Event::ResultRefused { execution: tool_id, reason: reason.clone() };
                let act = AuditAction::ResultRefused { approval_id, tool_id, reason, result };
                ledger.append_audit(&call.project, now, &act)?;
                ledger.append_event(&call.project, Some(&call.session), call.run, now, &event)
            })
            .await
    }

    /// Returns the client that runs the calls of a project, if one is connected.
    pub async fn connected_client(
        &self,
        project: &ProjectId,
    ) -> Result<Option<String>, StoreError> {
        let project = project.clone();
        self.readers
            .read(move |db| {
                let row = db.query_one(
                    "SELECT client_id FROM executors WHERE project_id = $1
                       AND EXISTS (SELECT 1 FROM servers WHERE id = server_id AND NOT fenced)",
                    values![project.as_str()],
                )?;
                row.map(|mut row| row.take()).transpose()
            })
            .await
    }

    /// Returns the approved calls of a project that wait for a client, oldest first.
    pub(crate) async fn unclaimed_calls(
        &self,
        project: &ProjectId,
    ) -> Result<Vec<Execution>, StoreError> {
        let project = project.clone();
        let waits = "project_id = $1 AND status = 'APPROVED' AND executor = 'client'
                     ORDER BY created_at, tool_executions.approval_id";
        self.readers.read(move |db| approvals::list(db, waits, values![project.as_str()])).await
    }

    /// Returns what a client was told to run and has not reported, oldest first.
    pub async fn lent_calls(
        &self,
        project: &ProjectId,
        client: &str,
    ) -> Result<Vec<Execution>, StoreError> {
        let (project, client) = (project.clone(), client.to_owned());
        let runs = "project_id = $1 AND status = 'EXECUTING' AND holder = $2
                    ORDER BY created_at, tool_executions.approval_id";
        self.readers
            .read(move |db| approvals::list(db, runs, values![project.as_str(), &client]))
            .await
    }
}

fn is_current_executor(
    ledger: &mut WriteTxn<'_>,
    post: &ExecutorStream,
) -> Result<bool, StoreError> {
    let found = ledger.query_one(
        "SELECT 1 FROM executors WHERE project_id = $1 AND stream_id = $2",
        values![post.project.as_str(), &post.stream],
    )?;
    Ok(found.is_some())
}
