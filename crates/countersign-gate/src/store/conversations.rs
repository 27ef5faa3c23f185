//! Conversations: sessions, and the messages as the model's API has them.

use countersign_core::{Event, ProjectId, RunId, SessionId};
use jiff::Timestamp;
use serde_json::Value;

use super::ledger::Ledger;
use super::pairing::{
    Mending, has_results, is_empty, keep_first_results, mend_conversation, open_calls, role,
};
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
    /// What its latest run was begun with; none where it has had none, or that cannot be read.
    pub settings: Option<Value>,
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

impl Store {
    /// Returns messages of a conversation after a place in it, oldest first.
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

    /// Returns the messages of a conversation with what is known beside them, oldest first.
    pub async fn recorded(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<Vec<Recorded>, StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.readers
            .read(move |db| {
                let rows = db.query(
                    "SELECT run_id, body, outcome FROM messages
                     WHERE project_id = $1 AND session_id = $2 ORDER BY position",
                    values![project.as_str(), session.as_str()],
                )?;
                rows.into_iter().map(recorded).collect()
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
                let rows = db.query(
                    "SELECT body FROM messages WHERE project_id = $1 AND session_id = $2
                     ORDER BY position",
                    values![project.as_str(), session.as_str()],
                )?;
                rows.into_iter().map(|mut row| row.json("message")).collect()
            })
            .await
    }

    /// Mends a conversation that the model's API would refuse, and tells of it in the log. One in
    /// which another run than `own_run` goes on is left alone.
    pub(crate) async fn mend_conversation(
        &self,
        project: &ProjectId,
        session: &SessionId,
        own_run: Option<RunId>,
        now: Timestamp,
    ) -> Result<Mending, StoreError> {
        // Hardly any is broken: those that are not cost no commit.
        let mut messages: Vec<_> =
            self.messages(project, session).await?.into_iter().map(Some).collect();
        if !mend_conversation(&mut messages).is_needed() {
            return Ok(Mending::default());
        }
        let (project, session) = (project.clone(), session.clone());
        self.writer.write(move |ledger| mend(ledger, (&project, &session), own_run, now)).await
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

    /// Returns the first words of a conversation; none if there is no such conversation.
    pub async fn session_title(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<Option<String>, StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.readers
            .read(move |db| {
                let row = db.one(
                    "SELECT title FROM sessions WHERE project_id = $1 AND id = $2",
                    values![project.as_str(), session.as_str()],
                )?;
                row.map(|mut row| row.take()).transpose()
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
                         AND runs.status = 'RUNNING'),
                       (SELECT settings FROM runs WHERE runs.id =
                         (SELECT run_id FROM messages
                          WHERE messages.project_id = sessions.project_id
                            AND messages.session_id = sessions.id
                          ORDER BY position DESC LIMIT 1))
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
        settings: row
            .take::<Option<String>>()?
            .and_then(|settings| from_json("settings", &settings).ok()),
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
        values![project.as_str(), session.as_str(), title, now],
    )?;
    Ok(())
}

/// Appends a message of a run. The books are open, so nobody else appends at the same time.
///
/// Of results only those are kept that answer a call which has none: a second one would make the
/// model's API refuse the conversation for good.
pub(super) fn append(
    ledger: &mut Ledger<'_>,
    key: &RunKey,
    message: &NewMessage,
    now: Timestamp,
) -> Result<(), StoreError> {
    if !has_results(&message.body) {
        return insert(ledger, key, message, now);
    }
    let turn = latest_turn(ledger, key)?;
    let said: Vec<_> = turn.into_iter().map(|(_, body)| body).collect();
    let mut kept = message.clone();
    let mending = keep_first_results(&mut kept.body, &mut open_calls(&said));
    if mending.removed > 0 {
        tracing::warn!(run = %key.run, removed = mending.removed, "results nobody waits for");
    }
    if is_empty(&kept.body) { Ok(()) } else { insert(ledger, key, &kept, now) }
}

/// Appends the prompt of a run that has just claimed its conversation: calls that an earlier run left
/// open are answered before it.
pub(super) fn append_prompt(
    ledger: &mut Ledger<'_>,
    key: &RunKey,
    prompt: &NewMessage,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (places, before): (Vec<_>, Vec<_>) = latest_turn(ledger, key)?.into_iter().unzip();
    let mut turn: Vec<_> = before.iter().cloned().map(Some).collect();
    turn.push(Some(prompt.body.clone()));
    mend_conversation(&mut turn);
    let body = turn.pop().flatten().unwrap_or_else(|| prompt.body.clone());
    for ((position, before), after) in places.into_iter().zip(before).zip(turn) {
        rewrite(ledger, (&key.project, &key.session), position, (&before, after.as_ref()))?;
    }
    insert(ledger, key, &NewMessage { body, outcome: prompt.outcome.clone() }, now)
}

/// Returns the messages of a conversation from the model's latest turn on, each with its place.
fn latest_turn(ledger: &mut Ledger<'_>, key: &RunKey) -> Result<Vec<(i64, Value)>, StoreError> {
    const PAGE: usize = 8;
    let (project, session) = (key.project.as_str(), key.session.as_str());
    let mut turn = Vec::new();
    let (mut before, mut is_answer_seen) = (i64::MAX, false);
    loop {
        let rows = ledger.query(
            "SELECT position, body FROM messages
             WHERE project_id = $1 AND session_id = $2 AND position < $3
             ORDER BY position DESC LIMIT $4",
            values![project, session, before, PAGE],
        )?;
        let is_last = rows.len() < PAGE;
        for mut row in rows {
            let (position, body): (i64, Value) = (row.take()?, row.json("message")?);
            let is_answer = role(&body) == "assistant";
            if is_answer_seen && !is_answer {
                turn.reverse();
                return Ok(turn);
            }
            is_answer_seen |= is_answer;
            before = position;
            turn.push((position, body));
        }
        if is_last {
            turn.reverse();
            return Ok(turn);
        }
    }
}

/// Puts a mended message in the place of what stood there; none takes it away.
fn rewrite(
    ledger: &mut Ledger<'_>,
    (project, session): (&ProjectId, &SessionId),
    position: i64,
    (before, after): (&Value, Option<&Value>),
) -> Result<(), StoreError> {
    match after {
        Some(after) if after == before => {}
        Some(after) => {
            ledger.execute(
                "UPDATE messages SET body = $1
                 WHERE project_id = $2 AND session_id = $3 AND position = $4",
                values![json(after)?, project.as_str(), session.as_str(), position],
            )?;
        }
        None => {
            ledger.execute(
                "DELETE FROM messages
                 WHERE project_id = $1 AND session_id = $2 AND position = $3",
                values![project.as_str(), session.as_str(), position],
            )?;
        }
    }
    Ok(())
}

/// Mends a conversation in the record, unless another run than this one goes on in it.
fn mend(
    ledger: &mut Ledger<'_>,
    (project, session): (&ProjectId, &SessionId),
    own_run: Option<RunId>,
    now: Timestamp,
) -> Result<Mending, StoreError> {
    ledger.book(project)?;
    let running = ledger.one(
        "SELECT id FROM runs WHERE project_id = $1 AND session_id = $2 AND status = 'RUNNING'",
        values![project.as_str(), session.as_str()],
    )?;
    let running: Option<RunId> = running.map(|mut row| row.parse("run id")).transpose()?;
    if running.is_some() && running != own_run {
        return Ok(Mending::default());
    }
    let rows = ledger.query(
        "SELECT position, body FROM messages WHERE project_id = $1 AND session_id = $2
         ORDER BY position",
        values![project.as_str(), session.as_str()],
    )?;
    let read = |mut row: Row| Ok((row.take::<i64>()?, row.json::<Value>("message")?));
    let (places, before): (Vec<_>, Vec<_>) =
        rows.into_iter().map(read).collect::<Result<Vec<_>, StoreError>>()?.into_iter().unzip();
    let mut after: Vec<_> = before.iter().cloned().map(Some).collect();
    let mending = mend_conversation(&mut after);
    if !mending.is_needed() {
        return Ok(mending);
    }
    for ((position, before), after) in places.into_iter().zip(before).zip(after) {
        rewrite(ledger, (project, session), position, (&before, after.as_ref()))?;
    }
    let Mending { removed, added, .. } = mending;
    let event = Event::ConversationMended { removed, added };
    ledger.log(project, Some(session), own_run, now, &event)?;
    Ok(mending)
}

fn insert(
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
    ledger.execute(
        "INSERT INTO messages
           (project_id, session_id, position, run_id, body, outcome, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        values![
            project,
            session,
            last + 1,
            key.run.to_string(),
            json(&message.body)?,
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
