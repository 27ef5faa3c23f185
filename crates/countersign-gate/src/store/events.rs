//! The log: what happened in a project, numbered without gaps.

use countersign_core::{Event, ProjectId, RunId, SessionId};
use jiff::Timestamp;

use super::value::{SqlRow, values};
use super::write_txn::WriteTxn;
use super::{Store, StoreError, to_json};

/// How many entries one sweep forgets: bounds how long others wait for it.
const SWEEP: u64 = 1000;

/// One numbered entry of a project's log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
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

/// Writes an event under a number that the project's books gave.
pub(super) fn insert_event(
    ledger: &mut WriteTxn<'_>,
    project: &ProjectId,
    seq: u64,
    session: Option<&SessionId>,
    run: Option<RunId>,
    at: Timestamp,
    event: &Event,
) -> Result<(), StoreError> {
    ledger.execute(
        "INSERT INTO events (project_id, seq, session_id, run_id, at, body)
         VALUES ($1, $2, $3, $4, $5, $6)",
        values![
            project.as_str(),
            seq,
            session.map(SessionId::as_str),
            run.map(|run| run.to_string()),
            at,
            to_json(&event.clone().mask_secrets())?,
        ],
    )?;
    Ok(())
}

impl Store {
    /// Returns the number of the newest entry of a project's log, 0 for none.
    pub async fn head(&self, project: &ProjectId) -> Result<u64, StoreError> {
        let project = project.clone();
        let head = "SELECT head FROM ledgers WHERE project_id = $1";
        self.readers
            .read(move |db| {
                let row = db.query_one(head, values![project.as_str()])?;
                row.map_or(Ok(0), |mut row| row.take())
            })
            .await
    }

    /// Returns the number of the oldest entry that a project's log still has.
    pub async fn oldest(&self, project: &ProjectId) -> Result<Option<u64>, StoreError> {
        let project = project.clone();
        let oldest = "SELECT seq FROM events WHERE project_id = $1 ORDER BY seq LIMIT 1";
        self.readers
            .read(move |db| {
                let row = db.query_one(oldest, values![project.as_str()])?;
                row.map(|mut row| row.take()).transpose()
            })
            .await
    }

    /// Returns how many requests of a project wait for a person.
    pub async fn pending_count(&self, project: &ProjectId) -> Result<u64, StoreError> {
        let project = project.clone();
        let pending = "SELECT pending FROM ledgers WHERE project_id = $1";
        self.readers
            .read(move |db| {
                let row = db.query_one(pending, values![project.as_str()])?;
                row.map_or(Ok(0), |mut row| row.take())
            })
            .await
    }

    /// Returns how far every log goes.
    pub(crate) async fn heads(&self) -> Result<Vec<(ProjectId, u64)>, StoreError> {
        self.readers
            .read(|db| {
                let rows = db.query("SELECT project_id, head FROM ledgers", &[])?;
                let head = |mut row: SqlRow| Ok((row.take::<String>()?.into(), row.take()?));
                rows.into_iter().map(head).collect()
            })
            .await
    }

    /// Returns the entries after one number up to another, oldest first, at most `limit`.
    pub async fn entries(
        &self,
        project: &ProjectId,
        after: u64,
        up_to: u64,
        limit: usize,
    ) -> Result<Vec<LogEntry>, StoreError> {
        let project = project.clone();
        self.readers
            .read(move |db| {
                let rows = db.query(
                    "SELECT seq, session_id, run_id, at, body FROM events
                     WHERE project_id = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4",
                    values![project.as_str(), after, up_to, limit],
                )?;
                rows.into_iter().map(entry).collect()
            })
            .await
    }

    /// Returns the number before the first entry of a conversation: where its telling starts.
    /// For one that has not begun that is the newest number.
    pub async fn position_before_session(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<u64, StoreError> {
        let (of, session) = (project.clone(), session.clone());
        let first = self.readers.read(move |db| {
            let first = db.query_one(
                "SELECT seq FROM events WHERE project_id = $1 AND session_id = $2
                 ORDER BY seq LIMIT 1",
                values![of.as_str(), session.as_str()],
            )?;
            first.map(|mut row| row.take::<u64>()).transpose()
        });
        match first.await? {
            Some(first) => Ok(first - 1),
            None => self.head(project).await,
        }
    }

    /// Forgets the oldest entries of all logs that are from before a moment; returns whether there
    /// may be more of them. Numbers stay as they are.
    pub(crate) async fn forget_entries(&self, before: Timestamp) -> Result<bool, StoreError> {
        let mut more = false;
        for (project, _) in self.heads().await? {
            let forgotten =
                self.writer.write(move |ledger| forget_oldest(ledger, &project, before));
            more |= forgotten.await? >= SWEEP;
        }
        Ok(more)
    }
}

/// Only from the old end, so that what is left has no gaps.
fn forget_oldest(
    ledger: &mut WriteTxn<'_>,
    project: &ProjectId,
    before: Timestamp,
) -> Result<u64, StoreError> {
    let kept = ledger.query_one(
        "SELECT seq FROM events WHERE project_id = $1 AND at >= $2 ORDER BY seq LIMIT 1",
        values![project.as_str(), before],
    )?;
    let oldest = ledger.query_one(
        "SELECT seq FROM events WHERE project_id = $1 ORDER BY seq LIMIT 1",
        values![project.as_str()],
    )?;
    let Some(oldest) = oldest.map(|mut row| row.take::<u64>()).transpose()? else { return Ok(0) };
    let kept = kept.map(|mut row| row.take::<u64>()).transpose()?;
    let until = kept.unwrap_or(u64::MAX).min(oldest.saturating_add(SWEEP));
    ledger.execute(
        "DELETE FROM events WHERE project_id = $1 AND seq < $2",
        values![project.as_str(), until],
    )
}

fn entry(mut row: SqlRow) -> Result<LogEntry, StoreError> {
    Ok(LogEntry {
        seq: row.take()?,
        session: row.take::<Option<String>>()?.map(SessionId::from),
        run: row
            .take::<Option<String>>()?
            .map(|run| run.parse().map_err(|error| StoreError::corrupt("run id", error)))
            .transpose()?,
        at: row.take()?,
        event: row.json("event")?,
    })
}
