//! Runs: begun, recorded step by step, and ended; who drives them, and what is needed to go on.

use countersign_core::{ApprovalId, Event, Execution, ProjectId, RunId, SessionId};
use jiff::Timestamp;
use serde_json::Value;

use super::clear_messages::{forget_answers, forget_clear};
use super::conversations::{append_message, append_prompt};
use super::run_record::{NewRun, NewRunMessage, OrphanedRun, RunEnd, RunKey};
use super::sessions::touch_session;
use super::value::{SqlRow, values};
use super::write_txn::WriteTxn;
use super::{Store, StoreError, from_json, to_json};

/// The runs of a project whose driver is gone.
const LEFT: &str = "SELECT id, project_id, session_id, settings, coalesce(owner, '') FROM runs
    WHERE project_id = $1 AND status = 'RUNNING'
      AND NOT EXISTS (SELECT 1 FROM servers WHERE id = owner AND NOT fenced)
    ORDER BY created_at, runs.id";

impl Store {
    /// Begins a run unless its conversation has one; returns whether it did.
    pub(crate) async fn begin_run(&self, run: NewRun, now: Timestamp) -> Result<bool, StoreError> {
        self.writer.write(move |ledger| begin(ledger, &run, now)).await
    }

    /// Appends messages and events of a run in one step.
    pub(crate) async fn record(
        &self,
        key: &RunKey,
        messages: Vec<NewRunMessage>,
        events: Vec<Event>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let key = key.clone();
        self.writer.write(move |ledger| append_to_run(ledger, &key, &messages, &events, now)).await
    }

    /// Ends a run with its last words; a run that has ended already stays as it is.
    pub(crate) async fn end_run(
        &self,
        key: &RunKey,
        end: RunEnd,
        messages: Vec<NewRunMessage>,
        events: Vec<Event>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let key = key.clone();
        self.writer
            .write(move |ledger| {
                ledger.lock_counters(&key.project)?;
                ensure_driver(ledger, &key)?;
                // `status = 'RUNNING'` is the lock: of two that would end it, one does.
                let ended = ledger.execute(
                    "UPDATE runs SET status = $1, ended_at = $2
                     WHERE id = $3 AND status = 'RUNNING'",
                    values![end.as_str(), now, key.run.to_string()],
                )?;
                if ended == 1 {
                    append_to_run(ledger, &key, &messages, &events, now)?;
                    forget_clear(ledger, &key)?;
                }
                Ok(())
            })
            .await
    }

    /// Takes over the runs of some projects that nobody drives any more, the oldest first: of several
    /// servers that try, one gets each.
    pub(crate) async fn take_over(
        &self,
        projects: Vec<ProjectId>,
    ) -> Result<Vec<OrphanedRun>, StoreError> {
        // Most looks find nothing: those cost no commit.
        let looked_at = projects.clone();
        let left = self.readers.read(move |db| {
            let mut left = looked_at.iter().map(|it| db.query_one(LEFT, values![it.as_str()]));
            left.try_fold(false, |any, found| Ok(any | found?.is_some()))
        });
        if !left.await? {
            return Ok(Vec::new());
        }
        self.writer
            .write(move |ledger| {
                let mut taken = Vec::new();
                for project in &projects {
                    take_over(ledger, project, &mut taken)?;
                }
                Ok(taken)
            })
            .await
    }

    /// Tells the log that a run goes on; returns false if it has ended.
    pub(crate) async fn resume_run(
        &self,
        key: &RunKey,
        event: Event,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let key = key.clone();
        self.writer
            .write(move |ledger| {
                ledger.lock_counters(&key.project)?;
                let goes_on = ledger.query_one(
                    "SELECT id FROM runs WHERE id = $1 AND status = 'RUNNING'",
                    values![key.run.to_string()],
                )?;
                if goes_on.is_some() {
                    append_to_run(ledger, &key, &[], std::slice::from_ref(&event), now)?;
                }
                Ok(goes_on.is_some())
            })
            .await
    }

    /// Returns the run that goes on in a conversation, whoever drives it.
    pub async fn active_run(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<Option<RunId>, StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.readers
            .read(move |db| {
                let row = db.query_one(
                    "SELECT id FROM runs
                     WHERE project_id = $1 AND session_id = $2 AND status = 'RUNNING'",
                    values![project.as_str(), session.as_str()],
                )?;
                row.map(|mut row| row.parse("run id")).transpose()
            })
            .await
    }

    /// Returns what the latest run of a conversation was begun with: the run of its last message,
    /// since every run begins with one.
    pub async fn last_settings(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<Option<Value>, StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.readers
            .read(move |db| {
                let row = db.query_one(
                    "SELECT settings FROM runs WHERE id =
                       (SELECT run_id FROM messages WHERE project_id = $1 AND session_id = $2
                        ORDER BY position DESC LIMIT 1)",
                    values![project.as_str(), session.as_str()],
                )?;
                row.map(|mut row| row.json("settings")).transpose()
            })
            .await
    }

    /// Asks whoever drives a run to stop it.
    pub(crate) async fn ask_to_stop(&self, run: RunId) -> Result<(), StoreError> {
        self.writer
            .write(move |ledger| {
                ledger.execute(
                    "UPDATE runs SET stopping = TRUE WHERE id = $1 AND status = 'RUNNING'",
                    values![run.to_string()],
                )?;
                Ok(())
            })
            .await
    }

    /// Returns the runs that are driven here and that somebody wants stopped.
    pub(crate) async fn asked_to_stop(&self) -> Result<Vec<RunId>, StoreError> {
        let me = self.server().unwrap_or_default();
        self.readers
            .read(move |db| {
                let rows = db.query(
                    "SELECT id FROM runs WHERE status = 'RUNNING' AND stopping AND owner = $1",
                    values![&me],
                )?;
                rows.into_iter().map(|mut row| row.parse("run id")).collect()
            })
            .await
    }

    /// Returns the open calls of runs that are over, and those without a run that had started: nobody
    /// goes on with them.
    pub(crate) async fn orphaned_calls(&self) -> Result<Vec<Execution>, StoreError> {
        self.readers
            .read(|db| {
                super::approvals::list(
                    db,
                    "(status IN ('AWAITING_APPROVAL', 'APPROVED', 'EXECUTING')
                       AND EXISTS (SELECT 1 FROM runs
                                   WHERE runs.id = run_id AND runs.status <> 'RUNNING'))
                     OR (status = 'EXECUTING' AND run_id IS NULL AND executor = 'local'
                       AND NOT EXISTS (SELECT 1 FROM servers WHERE id = owner AND NOT fenced))",
                    &[],
                )
            })
            .await
    }

    /// Returns the runs that nobody has ended, the oldest first.
    pub(crate) async fn unfinished_runs(&self) -> Result<Vec<OrphanedRun>, StoreError> {
        self.readers
            .read(|db| {
                let rows = db.query(
                    "SELECT id, project_id, session_id, settings, '' FROM runs
                     WHERE status = 'RUNNING' ORDER BY created_at, id",
                    &[],
                )?;
                rows.into_iter().map(|row| orphaned_run(row).map(|(run, _)| run)).collect()
            })
            .await
    }

    /// Returns all calls that wait or run, of whatever project.
    pub(crate) async fn open_calls(&self) -> Result<Vec<ApprovalId>, StoreError> {
        self.readers
            .read(|db| {
                let rows = db.query(
                    "SELECT approval_id FROM tool_executions
                     WHERE status IN ('AWAITING_APPROVAL', 'APPROVED', 'EXECUTING')",
                    &[],
                )?;
                rows.into_iter().map(|mut row| row.parse("approval id")).collect()
            })
            .await
    }

    /// Returns all calls of a run, in the order they were made.
    pub(crate) async fn calls_in_run(&self, run: RunId) -> Result<Vec<Execution>, StoreError> {
        let all = "run_id = $1 ORDER BY created_at, tool_executions.id";
        self.readers.read(move |db| super::approvals::list(db, all, values![run.to_string()])).await
    }
}

fn begin(ledger: &mut WriteTxn<'_>, run: &NewRun, now: Timestamp) -> Result<bool, StoreError> {
    let owner = ledger.server();
    ledger.lock_counters(&run.project)?;
    // The index on runs that go on lets a conversation have one.
    let began = ledger.execute(
        "INSERT INTO runs (id, project_id, session_id, status, owner, settings, created_at)
         VALUES ($1, $2, $3, 'RUNNING', $4, $5, $6) ON CONFLICT DO NOTHING",
        values![
            run.id.to_string(),
            run.project.as_str(),
            run.session.as_str(),
            owner,
            to_json(&run.settings)?,
            now
        ],
    )?;
    if began == 0 {
        return Ok(false);
    }
    touch_session(ledger, &run.project, &run.session, &run.title, now)?;
    let key = RunKey { project: run.project.clone(), session: run.session.clone(), run: run.id };
    append_prompt(ledger, &key, &run.message.clone().into(), now)?;
    append_to_run(ledger, &key, &[], &run.events, now)?;
    Ok(true)
}

/// Appends to the conversation and to the log.
fn append_to_run(
    ledger: &mut WriteTxn<'_>,
    key: &RunKey,
    messages: &[NewRunMessage],
    events: &[Event],
    now: Timestamp,
) -> Result<(), StoreError> {
    ledger.lock_counters(&key.project)?;
    ensure_driver(ledger, key)?;
    for message in messages {
        append_message(ledger, key, message, now)?;
    }
    if !messages.is_empty() {
        forget_answers(ledger, key)?;
    }
    for event in events {
        ledger.append_event(&key.project, Some(&key.session), Some(key.run), now, event)?;
    }
    Ok(())
}

/// Makes sure that a run is still driven here: after a pause somebody else may do that, and what is
/// said here must not come between.
fn ensure_driver(ledger: &mut WriteTxn<'_>, key: &RunKey) -> Result<(), StoreError> {
    let Some(me) = ledger.server() else { return Ok(()) };
    let mine = ledger.query_one(
        "SELECT id FROM runs WHERE id = $1 AND coalesce(owner, $2) = $2",
        values![key.run.to_string(), &me],
    )?;
    if mine.is_some() { Ok(()) } else { Err(StoreError::Fenced) }
}

fn take_over(
    ledger: &mut WriteTxn<'_>,
    project: &ProjectId,
    taken: &mut Vec<OrphanedRun>,
) -> Result<(), StoreError> {
    for row in ledger.query(LEFT, values![project.as_str()])? {
        let (run, owner) = orphaned_run(row)?;
        // The old owner is the lock.
        let mine = ledger.execute(
            "UPDATE runs SET owner = $1
             WHERE id = $2 AND status = 'RUNNING' AND coalesce(owner, '') = $3",
            values![ledger.server(), run.id.to_string(), &owner],
        )?;
        if mine == 1 {
            taken.push(run);
        }
    }
    Ok(())
}

fn orphaned_run(mut row: SqlRow) -> Result<(OrphanedRun, String), StoreError> {
    let run = OrphanedRun {
        id: row.parse("run id")?,
        project: row.take::<String>()?.into(),
        session: row.take::<String>()?.into(),
        // One that cannot be read must not keep the others from going on.
        settings: from_json("settings", &row.take::<String>()?).unwrap_or_default(),
    };
    Ok((run, row.take()?))
}
