//! Conversations: sessions, and the messages as the model's API has them.

use countersign_core::{ProjectId, RunId, Secrets, SessionId, masked_text};
use jiff::Timestamp;
use serde_json::Value;

use super::hidden_message::hide_in_message;
use super::ledger::Ledger;
use super::runs::{NewMessage, RunKey};
use super::value::{Row, values};
use super::{Store, StoreError, from_json, json};

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

/// A message as it is recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The run it belongs to.
    pub run: RunId,
    /// The message, as the model's API has it.
    pub body: Value,
    /// How the answer ended, where that was noted.
    pub outcome: Option<Value>,
}

/// A message as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageRow {
    /// Its place in the conversation, from 1.
    pub position: u64,
    /// The run it belongs to.
    pub run: RunId,
    /// The message, as the model's API has it.
    pub body: Value,
    /// When it was said.
    pub created_at: Timestamp,
}

/// What a message says, in clear where that is still kept.
const BODY: &str = "coalesce(clear_messages.body, messages.body)";

/// The messages of a conversation, each with its clear text.
const IN_CLEAR: &str = "FROM messages LEFT JOIN clear_messages
      ON clear_messages.project_id = messages.project_id
      AND clear_messages.session_id = messages.session_id
      AND clear_messages.position = messages.position
    WHERE messages.project_id = $1 AND messages.session_id = $2";

/// How many messages are masked at a time.
const PAGE: usize = 256;

impl Store {
    /// Returns messages of a conversation after a place in it, oldest first, without secrets.
    pub async fn messages_after(
        &self,
        project: &ProjectId,
        session: &SessionId,
        position: u64,
        limit: usize,
    ) -> Result<Vec<MessageRow>, StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.readers
            .read(move |db| {
                let rows = db.query(
                    "SELECT position, run_id, body, created_at FROM messages
                     WHERE project_id = $1 AND session_id = $2 AND position > $3
                     ORDER BY position LIMIT $4",
                    values![project.as_str(), session.as_str(), position, limit],
                )?;
                rows.into_iter().map(message_row).collect()
            })
            .await
    }

    /// Returns the place of the message a run began with, if there is such a run.
    pub async fn first_message(
        &self,
        project: &ProjectId,
        session: &SessionId,
        run: RunId,
    ) -> Result<Option<u64>, StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.readers
            .read(move |db| {
                let row = db.one(
                    "SELECT position FROM messages
                     WHERE project_id = $1 AND session_id = $2 AND run_id = $3
                     ORDER BY position LIMIT 1",
                    values![project.as_str(), session.as_str(), run.to_string()],
                )?;
                row.map(|mut row| row.take()).transpose()
            })
            .await
    }

    /// Returns the messages of a conversation with what is known beside them, oldest first: those of
    /// a run that goes on in clear.
    pub async fn recorded(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<Vec<Recorded>, StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.readers
            .read(move |db| {
                let rows = db.query(
                    &format!(
                        "SELECT run_id, {BODY}, outcome {IN_CLEAR} ORDER BY messages.position"
                    ),
                    values![project.as_str(), session.as_str()],
                )?;
                rows.into_iter().map(recorded).collect()
            })
            .await
    }

    /// Returns the messages of a conversation, oldest first: those of a run that goes on in clear.
    pub async fn messages(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<Vec<Value>, StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.readers
            .read(move |db| {
                let rows = db.query(
                    &format!("SELECT {BODY} {IN_CLEAR} ORDER BY messages.position"),
                    values![project.as_str(), session.as_str()],
                )?;
                rows.into_iter().map(|mut row| row.json("message")).collect()
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
                let found = db.one(
                    "SELECT id FROM sessions WHERE project_id = $1 AND id = $2",
                    values![project.as_str(), session.as_str()],
                )?;
                Ok(found.is_some())
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
        let (at, id) =
            before.map_or((Timestamp::MAX, String::new()), |(at, id)| (at, id.to_string()));
        self.readers
            .read(move |db| {
                let rows = db.query(
                    "SELECT id, title, created_at, updated_at, EXISTS (SELECT 1 FROM runs
                       WHERE runs.project_id = sessions.project_id AND runs.session_id = sessions.id
                         AND runs.status = 'RUNNING')
                     FROM sessions WHERE project_id = $1
                       AND (updated_at < $2 OR (updated_at = $2 AND id > $3))
                     ORDER BY updated_at DESC, id LIMIT $4",
                    values![project.as_str(), at, &id, limit],
                )?;
                rows.into_iter().map(session_row).collect()
            })
            .await
    }
}

fn recorded(mut row: Row) -> Result<Recorded, StoreError> {
    let (run, body) = (row.parse("run id")?, row.json("message")?);
    let outcome = row.take::<Option<String>>()?;
    let outcome = outcome.map(|it| from_json("outcome", &it)).transpose()?;
    Ok(Recorded { run, body, outcome })
}

fn message_row(mut row: Row) -> Result<MessageRow, StoreError> {
    Ok(MessageRow {
        position: row.take()?,
        run: row.parse("run id")?,
        body: row.json("message")?,
        created_at: row.take()?,
    })
}

fn session_row(mut row: Row) -> Result<SessionRow, StoreError> {
    Ok(SessionRow {
        id: row.take::<String>()?.into(),
        title: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
        active: row.take()?,
    })
}

/// Makes sure a conversation is there, and notes that something happened in it.
pub(super) fn touch(
    ledger: &mut Ledger<'_>,
    project: &ProjectId,
    session: &SessionId,
    title: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    ledger.execute(
        "INSERT INTO sessions (project_id, id, title, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $4)
         ON CONFLICT (project_id, id) DO UPDATE SET updated_at = excluded.updated_at",
        values![project.as_str(), session.as_str(), masked_text(title), now],
    )?;
    Ok(())
}

/// Appends a message of a run. The books are open, so nobody else appends at the same time.
pub(super) fn append(
    ledger: &mut Ledger<'_>,
    key: &RunKey,
    message: &NewMessage,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (project, session) = (key.project.as_str(), key.session.as_str());
    let last = ledger.one(
        "SELECT position FROM messages WHERE project_id = $1 AND session_id = $2
         ORDER BY position DESC LIMIT 1",
        values![project, session],
    )?;
    let last: i64 = last.map_or(Ok(0), |mut row| row.take())?;
    let mut secrets = Secrets::found_in(&message.body);
    for mut row in ledger.query(CLEAR_OF_RUN, values![key.run.to_string()])? {
        secrets.learn(&row.json::<Value>("message")?);
    }
    let hidden = hide_in_message(&message.body, &secrets.for_model());
    if hidden != message.body {
        keep_clear(ledger, key, last + 1, &json(&message.body)?)?;
    }
    ledger.execute(
        "INSERT INTO messages
           (project_id, session_id, position, run_id, body, outcome, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        values![
            project,
            session,
            last + 1,
            key.run.to_string(),
            json(&hidden)?,
            message.outcome.as_ref().map(json).transpose()?,
            now
        ],
    )?;
    ledger.execute(
        "UPDATE sessions SET updated_at = $1 WHERE project_id = $2 AND id = $3",
        values![now, project, session],
    )?;
    Ok(())
}

/// What the messages of a run say that have secrets.
const CLEAR_OF_RUN: &str = "SELECT body FROM clear_messages WHERE for_run = $1 ORDER BY position";

/// Keeps what a message says in clear, for as long as its run goes on.
fn keep_clear(
    ledger: &mut Ledger<'_>,
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
pub(super) fn forget_answers(ledger: &mut Ledger<'_>, key: &RunKey) -> Result<(), StoreError> {
    let forgotten = ledger.execute(
        "DELETE FROM clear_calls WHERE for_run = $1 AND request IS NULL",
        values![key.run.to_string()],
    )?;
    if forgotten > 0 {
        ledger.scrub();
    }
    Ok(())
}

/// Forgets what a run that is over has said and done in clear. What is not settled yet keeps its clear
/// text until it is.
pub(super) fn forget_clear(ledger: &mut Ledger<'_>, key: &RunKey) -> Result<(), StoreError> {
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
        ledger.scrub();
    }
    Ok(())
}

/// Masks secrets in the messages of a project, and in what its conversations are called; returns
/// whether there were any.
pub(super) fn mask_messages(
    ledger: &mut Ledger<'_>,
    project: &ProjectId,
) -> Result<bool, StoreError> {
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
            values![project.as_str(), &session, position, PAGE],
        )?;
        let is_last = rows.len() < PAGE;
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
                values![json(&hidden)?, project.as_str(), &session, position],
            )?;
        }
        if is_last {
            return Ok(any);
        }
    }
}

fn mask_titles(ledger: &mut Ledger<'_>, project: &ProjectId) -> Result<bool, StoreError> {
    let mut any = false;
    let rows = ledger
        .query("SELECT id, title FROM sessions WHERE project_id = $1", values![project.as_str()])?;
    for mut row in rows {
        let (id, title): (String, String) = (row.take()?, row.take()?);
        let masked = masked_text(&title);
        if masked != title {
            any = true;
            ledger.execute(
                "UPDATE sessions SET title = $1 WHERE project_id = $2 AND id = $3",
                values![&masked, project.as_str(), &id],
            )?;
        }
    }
    Ok(any)
}
