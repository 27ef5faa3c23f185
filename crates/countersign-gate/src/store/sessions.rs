//! The conversations of a project, as lists show them.

use countersign_core::{ProjectId, SessionId, mask_text};
use jiff::Timestamp;
use serde_json::Value;

use super::value::{SqlRow, values};
use super::write_txn::WriteTxn;
use super::{Store, StoreError, from_json};

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

impl Store {
    /// Returns whether there is such a conversation.
    pub async fn has_session(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<bool, StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.readers
            .read(move |db| {
                let found = db.query_one(
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
                let row = db.query_one(
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

fn session_row(mut row: SqlRow) -> Result<SessionRow, StoreError> {
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
pub(super) fn touch_session(
    ledger: &mut WriteTxn<'_>,
    project: &ProjectId,
    session: &SessionId,
    title: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    ledger.execute(
        "INSERT INTO sessions (project_id, id, title, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $4)
         ON CONFLICT (project_id, id) DO UPDATE SET updated_at = excluded.updated_at",
        values![project.as_str(), session.as_str(), mask_text(title), now],
    )?;
    Ok(())
}

/// Masks secrets in what the conversations of a project are called; returns whether there were any.
pub(super) fn mask_titles(
    ledger: &mut WriteTxn<'_>,
    project: &ProjectId,
) -> Result<bool, StoreError> {
    let mut any = false;
    let rows = ledger
        .query("SELECT id, title FROM sessions WHERE project_id = $1", values![project.as_str()])?;
    for mut row in rows {
        let (id, title): (String, String) = (row.take()?, row.take()?);
        let masked = mask_text(&title);
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
