//! Conversations: the messages as the model's API has them.

use countersign_core::{Event, ProjectId, RunId, Secrets, SessionId};
use jiff::Timestamp;
use serde_json::Value;

use super::clear_messages::{CLEAR_OF_RUN, keep_clear};
use super::conversation_repair::{
    ConversationRepair, has_results, is_empty, keep_first_results, open_calls, repair_conversation,
    role,
};
use super::message_masking::hide_in_message;
use super::run_record::{NewRunMessage, RunKey};
use super::value::{SqlRow, values};
use super::write_txn::WriteTxn;
use super::{Store, StoreError, from_json, to_json};

/// A message as it is recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedMessage {
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
                let row = db.query_one(
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
    pub async fn recorded_messages(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<Vec<RecordedMessage>, StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.readers
            .read(move |db| {
                let rows = db.query(
                    &format!(
                        "SELECT run_id, {BODY}, outcome {IN_CLEAR} ORDER BY messages.position"
                    ),
                    values![project.as_str(), session.as_str()],
                )?;
                rows.into_iter().map(recorded_message).collect()
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

    /// Mends a conversation that the model's API would refuse, and tells of it in the log. One in
    /// which another run than `own_run` goes on is left alone.
    pub(crate) async fn repair_conversation(
        &self,
        project: &ProjectId,
        session: &SessionId,
        own_run: Option<RunId>,
        now: Timestamp,
    ) -> Result<ConversationRepair, StoreError> {
        // Hardly any is broken: those that are not cost no commit.
        let mut messages: Vec<_> =
            self.messages(project, session).await?.into_iter().map(Some).collect();
        if !repair_conversation(&mut messages).is_needed() {
            return Ok(ConversationRepair::default());
        }
        let (project, session) = (project.clone(), session.clone());
        self.writer
            .write(move |ledger| repair_stored(ledger, (&project, &session), own_run, now))
            .await
    }
}

fn recorded_message(mut row: SqlRow) -> Result<RecordedMessage, StoreError> {
    let (run, body) = (row.parse("run id")?, row.json("message")?);
    let outcome = row.take::<Option<String>>()?;
    let outcome = outcome.map(|it| from_json("outcome", &it)).transpose()?;
    Ok(RecordedMessage { run, body, outcome })
}

fn message_row(mut row: SqlRow) -> Result<MessageRow, StoreError> {
    Ok(MessageRow {
        position: row.take()?,
        run: row.parse("run id")?,
        body: row.json("message")?,
        created_at: row.take()?,
    })
}

/// Appends a message of a run. The books are open, so nobody else appends at the same time.
///
/// Of results only those are kept that answer a call which has none: a second one would make the
/// model's API refuse the conversation for good.
pub(super) fn append_message(
    ledger: &mut WriteTxn<'_>,
    key: &RunKey,
    message: &NewRunMessage,
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
    ledger: &mut WriteTxn<'_>,
    key: &RunKey,
    prompt: &NewRunMessage,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (places, before): (Vec<_>, Vec<_>) = latest_turn(ledger, key)?.into_iter().unzip();
    let mut turn: Vec<_> = before.iter().cloned().map(Some).collect();
    turn.push(Some(prompt.body.clone()));
    repair_conversation(&mut turn);
    let body = turn.pop().flatten().unwrap_or_else(|| prompt.body.clone());
    for ((position, before), after) in places.into_iter().zip(before).zip(turn) {
        rewrite(ledger, (&key.project, &key.session), position, (&before, after.as_ref()))?;
    }
    insert(ledger, key, &NewRunMessage { body, outcome: prompt.outcome.clone() }, now)
}

/// Returns the messages of a conversation from the model's latest turn on, each with its place.
fn latest_turn(ledger: &mut WriteTxn<'_>, key: &RunKey) -> Result<Vec<(i64, Value)>, StoreError> {
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
    ledger: &mut WriteTxn<'_>,
    (project, session): (&ProjectId, &SessionId),
    position: i64,
    (before, after): (&Value, Option<&Value>),
) -> Result<(), StoreError> {
    let place = values![project.as_str(), session.as_str(), position];
    match after {
        Some(after) if after == before => return Ok(()),
        Some(after) => {
            ledger.execute(
                "UPDATE messages SET body = $1
                 WHERE project_id = $2 AND session_id = $3 AND position = $4",
                values![to_json(after)?, project.as_str(), session.as_str(), position],
            )?;
        }
        None => {
            ledger.execute(
                "DELETE FROM messages
                 WHERE project_id = $1 AND session_id = $2 AND position = $3",
                place,
            )?;
        }
    }
    // What was kept in clear is the broken message, and would go before the mended one.
    ledger.execute(
        "DELETE FROM clear_messages
         WHERE project_id = $1 AND session_id = $2 AND position = $3",
        place,
    )?;
    Ok(())
}

/// Mends a conversation in the record, unless another run than this one goes on in it.
fn repair_stored(
    ledger: &mut WriteTxn<'_>,
    (project, session): (&ProjectId, &SessionId),
    own_run: Option<RunId>,
    now: Timestamp,
) -> Result<ConversationRepair, StoreError> {
    ledger.lock_counters(project)?;
    let running = ledger.query_one(
        "SELECT id FROM runs WHERE project_id = $1 AND session_id = $2 AND status = 'RUNNING'",
        values![project.as_str(), session.as_str()],
    )?;
    let running: Option<RunId> = running.map(|mut row| row.parse("run id")).transpose()?;
    if running.is_some() && running != own_run {
        return Ok(ConversationRepair::default());
    }
    let rows = ledger.query(
        "SELECT position, body FROM messages WHERE project_id = $1 AND session_id = $2
         ORDER BY position",
        values![project.as_str(), session.as_str()],
    )?;
    let read = |mut row: SqlRow| Ok((row.take::<i64>()?, row.json::<Value>("message")?));
    let (places, before): (Vec<_>, Vec<_>) =
        rows.into_iter().map(read).collect::<Result<Vec<_>, StoreError>>()?.into_iter().unzip();
    let mut after: Vec<_> = before.iter().cloned().map(Some).collect();
    let mending = repair_conversation(&mut after);
    if !mending.is_needed() {
        return Ok(mending);
    }
    for ((position, before), after) in places.into_iter().zip(before).zip(after) {
        rewrite(ledger, (project, session), position, (&before, after.as_ref()))?;
    }
    let ConversationRepair { removed, added, .. } = mending;
    let event = Event::ConversationMended { removed, added };
    ledger.append_event(project, Some(session), own_run, now, &event)?;
    Ok(mending)
}

fn insert(
    ledger: &mut WriteTxn<'_>,
    key: &RunKey,
    message: &NewRunMessage,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (project, session) = (key.project.as_str(), key.session.as_str());
    let last = ledger.query_one(
        "SELECT position FROM messages WHERE project_id = $1 AND session_id = $2
         ORDER BY position DESC LIMIT 1",
        values![project, session],
    )?;
    let last: i64 = last.map_or(Ok(0), |mut row| row.take())?;
    let mut secrets = Secrets::find_in(&message.body);
    for mut row in ledger.query(CLEAR_OF_RUN, values![key.run.to_string()])? {
        secrets.learn(&row.json::<Value>("message")?);
    }
    let hidden = hide_in_message(&message.body, &secrets.for_model());
    if hidden != message.body {
        keep_clear(ledger, key, last + 1, &to_json(&message.body)?)?;
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
            to_json(&hidden)?,
            message.outcome.as_ref().map(to_json).transpose()?,
            now
        ],
    )?;
    ledger.execute(
        "UPDATE sessions SET updated_at = $1 WHERE project_id = $2 AND id = $3",
        values![now, project, session],
    )?;
    Ok(())
}
