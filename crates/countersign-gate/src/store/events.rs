//! The log: what happened in a project, numbered without gaps.

use countersign_core::{Event, ProjectId, RunId, SessionId};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::{Store, StoreError, from_json, iso, json, moment};

/// One numbered entry of a project's log.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number in the project.
    pub seq: u64,
    /// The conversation it belongs to.
    pub session: Option<SessionId>,
    /// The run it belongs to.
    pub run: Option<RunId>,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
}

/// Appends an event and returns its number. Only the writer calls this, so numbers have no gaps.
pub(super) fn append(
    db: &Connection,
    project: &ProjectId,
    session: Option<&SessionId>,
    run: Option<RunId>,
    at: Timestamp,
    event: &Event,
) -> Result<u64, StoreError> {
    let seq = newest(db, project)? + 1;
    db.prepare_cached(
        "INSERT INTO events (project_id, seq, session_id, run_id, at, body) VALUES (?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        project.as_str(),
        seq.cast_signed(),
        session.map(SessionId::as_str),
        run.map(|run| run.to_string()),
        iso(at),
        json(&event.clone().masked())?
    ])?;
    Ok(seq)
}

fn newest(db: &Connection, project: &ProjectId) -> Result<u64, StoreError> {
    let newest: Option<i64> = db
        .prepare_cached("SELECT max(seq) FROM events WHERE project_id = ?")?
        .query_row([project.as_str()], |row| row.get(0))?;
    Ok(newest.unwrap_or(0).cast_unsigned())
}

impl Store {
    /// Returns the number of the newest entry of a project's log, 0 for none.
    pub async fn head(&self, project: &ProjectId) -> Result<u64, StoreError> {
        let project = project.clone();
        self.readers.read(move |db| newest(db, &project)).await
    }

    /// Returns the entries after one number up to another, oldest first, at most `limit`.
    pub async fn entries(
        &self,
        project: &ProjectId,
        after: u64,
        up_to: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        let project = project.clone();
        self.readers
            .read(move |db| {
                let mut query = db.prepare_cached(
                    "SELECT seq, session_id, run_id, at, body FROM events
                     WHERE project_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
                )?;
                let range = params![
                    project.as_str(),
                    after.cast_signed(),
                    up_to.min(i64::MAX.cast_unsigned()).cast_signed(),
                    i64::try_from(limit).unwrap_or(i64::MAX)
                ];
                let mut rows = query.query(range)?;
                let mut entries = Vec::new();
                while let Some(row) = rows.next()? {
                    entries.push(entry(row)?);
                }
                Ok(entries)
            })
            .await
    }

    /// Returns the number before the first entry of a conversation: where its telling starts.
    /// For one that has not begun that is the newest number.
    pub async fn before_session(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<u64, StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.readers
            .read(move |db| {
                let first: Option<i64> = db
                    .prepare_cached(
                        "SELECT min(seq) FROM events WHERE project_id = ? AND session_id = ?",
                    )?
                    .query_row([project.as_str(), session.as_str()], |row| row.get(0))
                    .optional()?
                    .flatten();
                match first {
                    Some(first) => Ok((first - 1).cast_unsigned()),
                    None => newest(db, &project),
                }
            })
            .await
    }
}

fn entry(row: &rusqlite::Row<'_>) -> Result<Entry, StoreError> {
    let run: Option<String> = row.get("run_id")?;
    Ok(Entry {
        seq: row.get::<_, i64>("seq")?.cast_unsigned(),
        session: row.get::<_, Option<String>>("session_id")?.map(SessionId::from),
        run: run
            .map(|run| run.parse().map_err(|error| StoreError::corrupt("run id", error)))
            .transpose()?,
        at: moment(row.get_ref("at")?.as_str().map_err(rusqlite::Error::from)?)?,
        event: from_json("event", row.get_ref("body")?.as_str().map_err(rusqlite::Error::from)?)?,
    })
}
