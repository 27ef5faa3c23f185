//! Conversations: sessions, their runs, and the messages as the model's API has them.

use countersign_core::{Event, ProjectId, RunId, SessionId};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use super::writer::Ledger;
use super::{Store, StoreError, from_json, iso, json, moment};

/// A run about to begin.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// Where it belongs.
    pub project: ProjectId,
    /// The conversation it begins or goes on with.
    pub session: SessionId,
    /// What a new conversation is called in lists.
    pub title: String,
    /// The person's message, as the model's API has it.
    pub message: Value,
    /// What the log tells first.
    pub events: Vec<Event>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The model had its say.
    Done,
    /// Something broke.
    Failed,
    /// A person stopped it.
    Cancelled,
}

impl RunEnd {
    fn as_str(self) -> &'static str {
        match self {
            Self::Done => "DONE",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        }
    }
}

/// A conversation, as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// Its first words.
    pub title: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub updated_at: Timestamp,
    /// Whether a run is going on.
    pub active: bool,
}

impl Store {
    /// Begins a run unless its conversation has one; returns whether it did.
    pub(crate) async fn begin_run(&self, run: NewRun, now: Timestamp) -> Result<bool, StoreError> {
        self.writer.write(move |ledger| begin(ledger, &run, now)).await
    }

    /// Appends messages and events of a run in one step.
    pub(crate) async fn record(
        &self,
        project: &ProjectId,
        session: &SessionId,
        run: RunId,
        messages: Vec<Value>,
        events: Vec<Event>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.writer
            .write(move |ledger| {
                for message in &messages {
                    append(ledger.db, &project, &session, run, message, now)?;
                }
                log_all(ledger, &project, &session, run, &events, now)
            })
            .await
    }

    /// Ends a run; a run that has ended already stays as it is.
    pub(crate) async fn end_run(
        &self,
        project: &ProjectId,
        session: &SessionId,
        run: RunId,
        end: RunEnd,
        event: Event,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.writer
            .write(move |ledger| {
                let ended = ledger.db.execute(
                    "UPDATE runs SET status = ?, ended_at = ? WHERE id = ? AND status = 'RUNNING'",
                    params![end.as_str(), iso(now), run.to_string()],
                )?;
                if ended == 1 {
                    log_all(ledger, &project, &session, run, &[event], now)
                } else {
                    Ok(())
                }
            })
            .await
    }

    /// Returns the runs that no process has ended.
    pub(crate) async fn running(&self) -> Result<Vec<(ProjectId, SessionId, RunId)>, StoreError> {
        self.readers
            .read(|db| {
                let mut query = db.prepare(
                    "SELECT project_id, session_id, id FROM runs WHERE status = 'RUNNING'",
                )?;
                let mut rows = query.query([])?;
                let mut runs = Vec::new();
                while let Some(row) = rows.next()? {
                    let id: String = row.get(2)?;
                    let id = id.parse().map_err(|error| StoreError::corrupt("run id", error))?;
                    runs.push((
                        row.get::<_, String>(0)?.into(),
                        row.get::<_, String>(1)?.into(),
                        id,
                    ));
                }
                Ok(runs)
            })
            .await
    }

    /// Returns the messages of a conversation, oldest first.
    pub async fn messages(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<Vec<Value>, StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.readers
            .read(move |db| {
                let mut query = db.prepare_cached(
                    "SELECT body FROM messages WHERE project_id = ? AND session_id = ? ORDER BY position",
                )?;
                let mut rows = query.query([project.as_str(), session.as_str()])?;
                let mut messages = Vec::new();
                while let Some(row) = rows.next()? {
                    messages.push(from_json("message", &row.get::<_, String>(0)?)?);
                }
                Ok(messages)
            })
            .await
    }

    /// Returns whether there is such a conversation.
    pub async fn has_session(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<bool, StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.readers
            .read(move |db| {
                let mut query =
                    db.prepare_cached("SELECT 1 FROM sessions WHERE project_id = ? AND id = ?")?;
                Ok(query.exists([project.as_str(), session.as_str()])?)
            })
            .await
    }

    /// Returns conversations, the latest first, before a place in that order.
    pub async fn sessions(
        &self,
        project: &ProjectId,
        before: Option<(Timestamp, SessionId)>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let project = project.clone();
        self.readers
            .read(move |db| {
                let (at, id) = before.map_or((iso(Timestamp::MAX), String::new()), |(at, id)| {
                    (iso(at), id.to_string())
                });
                let mut query = db.prepare_cached(
                    "SELECT id, title, created_at, updated_at, EXISTS (SELECT 1 FROM runs
                       WHERE runs.project_id = sessions.project_id AND runs.session_id = sessions.id
                         AND runs.status = 'RUNNING') AS active
                     FROM sessions WHERE project_id = ?1
                       AND (updated_at < ?2 OR (updated_at = ?2 AND id > ?3))
                     ORDER BY updated_at DESC, id LIMIT ?4",
                )?;
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                let mut rows = query.query(params![project.as_str(), at, id, limit])?;
                let mut sessions = Vec::new();
                while let Some(row) = rows.next()? {
                    sessions.push(SessionRow {
                        id: row.get::<_, String>("id")?.into(),
                        title: row.get("title")?,
                        created_at: moment(&row.get::<_, String>("created_at")?)?,
                        updated_at: moment(&row.get::<_, String>("updated_at")?)?,
                        active: row.get("active")?,
                    });
                }
                Ok(sessions)
            })
            .await
    }
}

fn begin(ledger: &mut Ledger<'_>, run: &NewRun, now: Timestamp) -> Result<bool, StoreError> {
    let busy = ledger
        .db
        .prepare_cached(
            "SELECT 1 FROM runs WHERE project_id = ? AND session_id = ? AND status = 'RUNNING'",
        )?
        .query_row([run.project.as_str(), run.session.as_str()], |_| Ok(()))
        .optional()?
        .is_some();
    if busy {
        return Ok(false);
    }
    ledger.db.execute(
        "INSERT INTO sessions (project_id, id, title, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)
         ON CONFLICT DO UPDATE SET updated_at = excluded.updated_at",
        params![run.project.as_str(), run.session.as_str(), run.title, iso(now)],
    )?;
    ledger.db.execute(
        "INSERT INTO runs (id, project_id, session_id, status, created_at) VALUES (?, ?, ?, 'RUNNING', ?)",
        params![run.id.to_string(), run.project.as_str(), run.session.as_str(), iso(now)],
    )?;
    append(ledger.db, &run.project, &run.session, run.id, &run.message, now)?;
    log_all(ledger, &run.project, &run.session, run.id, &run.events, now)?;
    Ok(true)
}

fn append(
    db: &Connection,
    project: &ProjectId,
    session: &SessionId,
    run: RunId,
    message: &Value,
    now: Timestamp,
) -> Result<(), StoreError> {
    db.prepare_cached(
        "INSERT INTO messages (project_id, session_id, position, run_id, body, created_at)
         SELECT ?1, ?2, coalesce(max(position), 0) + 1, ?3, ?4, ?5
         FROM messages WHERE project_id = ?1 AND session_id = ?2",
    )?
    .execute(params![
        project.as_str(),
        session.as_str(),
        run.to_string(),
        json(message)?,
        iso(now)
    ])?;
    db.prepare_cached("UPDATE sessions SET updated_at = ? WHERE project_id = ? AND id = ?")?
        .execute(params![iso(now), project.as_str(), session.as_str()])?;
    Ok(())
}

fn log_all(
    ledger: &mut Ledger<'_>,
    project: &ProjectId,
    session: &SessionId,
    run: RunId,
    events: &[Event],
    now: Timestamp,
) -> Result<(), StoreError> {
    for event in events {
        ledger.log(project, Some(session), Some(run), now, event)?;
    }
    Ok(())
}
