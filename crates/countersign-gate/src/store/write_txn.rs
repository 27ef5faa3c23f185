//! The ledger: what one write works with, and the books it keeps of each project.

use std::collections::HashMap;
use std::sync::Arc;

use countersign_core::{ApprovalId, Event, Execution, ProjectId, RunId, SessionId};
use jiff::Timestamp;

use super::audit::{self, AuditAction};
use super::database::SqlConnection;
use super::value::{SqlRow, SqlValue, values};
use super::write_cache::{WriteCache, WriteCacheUpdate};
use super::{StoreError, events};

/// The books of one project: how far its log and its audit chain go, and how many requests wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProjectCounters {
    pub(crate) head: u64,
    pub(crate) pending: u64,
    pub(crate) audit_seq: u64,
    pub(crate) audit_hash: String,
}

/// The books that a batch has opened, each as it was found and as it is now.
pub(crate) type OpenCounters = HashMap<ProjectId, (ProjectCounters, ProjectCounters)>;

/// What a batch comes to, once it is committed.
#[derive(Default)]
pub(crate) struct CommitSummary {
    pub(crate) grown: HashMap<ProjectId, u64>,
    pub(crate) left: Vec<WriteCacheUpdate>,
    /// Whether a secret was taken out of the record: nothing of it is to stay in the files.
    pub(crate) scrub: bool,
}

/// What a write works with: the transaction, and the books.
pub(crate) struct WriteTxn<'a> {
    db: &'a mut dyn SqlConnection,
    books: &'a mut OpenCounters,
    /// What was changed a moment ago, and what this batch has left of calls.
    fresh: &'a WriteCache,
    left: Vec<WriteCacheUpdate>,
    scrub: bool,
    /// The server that writes, where it has joined.
    server: Option<String>,
    /// What the database said when it last said no.
    failure: Option<StoreError>,
}

impl<'a> WriteTxn<'a> {
    pub(crate) fn new(
        db: &'a mut dyn SqlConnection,
        books: &'a mut OpenCounters,
        fresh: &'a WriteCache,
        server: Option<String>,
    ) -> Self {
        Self { db, books, fresh, left: Vec::new(), scrub: false, server, failure: None }
    }

    /// Returns a call as it stands in this transaction, if that is known without asking.
    pub(crate) fn cached_call(&self, id: ApprovalId) -> Option<Arc<Execution>> {
        match self.left.iter().rev().find(|(left, _)| *left == id) {
            Some((_, call)) => call.clone(),
            None => self.fresh.get(id),
        }
    }

    /// Notes what this transaction leaves of a call; none if it is to be read when it is wanted.
    pub(crate) fn cache_call(&mut self, id: ApprovalId, call: Option<Arc<Execution>>) {
        self.left.push((id, call));
    }

    /// Notes that a secret is taken out of the record.
    pub(crate) fn request_scrub(&mut self) {
        self.scrub = true;
    }

    /// Returns the server that writes, where it has joined.
    pub(crate) fn server(&self) -> Option<String> {
        self.server.clone()
    }

    /// Returns what the database said, if it was the database that made a write fail.
    pub(crate) fn take_failure(&mut self) -> Option<StoreError> {
        self.failure.take()
    }

    /// Returns the connection, for functions that only look.
    pub(crate) fn db(&mut self) -> &mut dyn SqlConnection {
        self.db
    }

    pub(crate) fn execute(&mut self, sql: &str, with: &[SqlValue<'_>]) -> Result<u64, StoreError> {
        let done = self.db.execute(sql, with);
        self.note_failure(done)
    }

    pub(crate) fn query(
        &mut self,
        sql: &str,
        with: &[SqlValue<'_>],
    ) -> Result<Vec<SqlRow>, StoreError> {
        let found = self.db.query(sql, with);
        self.note_failure(found)
    }

    pub(crate) fn query_one(
        &mut self,
        sql: &str,
        with: &[SqlValue<'_>],
    ) -> Result<Option<SqlRow>, StoreError> {
        Ok(self.query(sql, with)?.into_iter().next())
    }

    /// Remembers what the database said: a write may pass it on as something else.
    pub(crate) fn note_failure<T>(&mut self, done: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(error) = &done
            && !matches!(error, StoreError::Corrupt { .. })
        {
            self.failure = Some(error.clone());
        }
        done
    }

    /// Opens a project's books. No other server writes to the project until the commit.
    ///
    /// To be done before any other row of the project is touched, so that two servers do not wait for
    /// each other. (With several projects in a batch they still may; then one of them starts over.)
    pub(crate) fn lock_counters(
        &mut self,
        project: &ProjectId,
    ) -> Result<&mut ProjectCounters, StoreError> {
        if !self.books.contains_key(project) {
            let book = self.load_counters(project)?;
            self.books.insert(project.clone(), (book.clone(), book));
        }
        let found = self.books.get_mut(project).map(|(_, book)| book);
        found.ok_or_else(|| StoreError::corrupt("ledger", "it was opened and is not there"))
    }

    fn load_counters(&mut self, project: &ProjectId) -> Result<ProjectCounters, StoreError> {
        // An update that changes nothing takes the lock and reads in one step.
        let take = "UPDATE ledgers SET head = head WHERE project_id = $1
                    RETURNING head, pending, audit_seq, audit_hash";
        let mut found = self.query_one(take, values![project.as_str()])?;
        if found.is_none() {
            self.execute(
                "INSERT INTO ledgers (project_id, head, pending, audit_seq, audit_hash, masking)
                 VALUES ($1, 0, 0, 0, '', 2) ON CONFLICT DO NOTHING",
                values![project.as_str()],
            )?;
            found = self.query_one(take, values![project.as_str()])?;
        }
        let Some(mut row) = found else {
            return Err(StoreError::corrupt("ledger", "it was made and is not there"));
        };
        Ok(ProjectCounters {
            head: row.take()?,
            pending: row.take()?,
            audit_seq: row.take()?,
            audit_hash: row.take()?,
        })
    }

    /// Appends to a project's log, in the same transaction as what the event tells of.
    pub(crate) fn append_event(
        &mut self,
        project: &ProjectId,
        session: Option<&SessionId>,
        run: Option<RunId>,
        at: Timestamp,
        event: &Event,
    ) -> Result<(), StoreError> {
        let book = self.lock_counters(project)?;
        book.head += 1;
        let seq = book.head;
        events::insert_event(self, project, seq, session, run, at, event)
    }

    /// Appends to a project's audit chain, in the same transaction as what was done.
    pub(crate) fn append_audit(
        &mut self,
        project: &ProjectId,
        at: Timestamp,
        act: &AuditAction,
    ) -> Result<(), StoreError> {
        let body = super::to_json(act)?;
        let book = self.lock_counters(project)?;
        book.audit_seq += 1;
        book.audit_hash = audit::seal(&book.audit_hash, project, book.audit_seq, at, &body);
        let (seq, hash) = (book.audit_seq, book.audit_hash.clone());
        audit::insert(self, project, seq, at, &body, &hash)
    }

    /// Writes down the books that have changed; returns how far each log that grew now goes, and what
    /// is left of calls.
    pub(crate) fn finish(mut self) -> Result<CommitSummary, StoreError> {
        let changed = self.books.iter().filter(|(_, (found, now))| found != now);
        let changed: Vec<_> =
            changed.map(|(project, (_, now))| (project.clone(), now.clone())).collect();
        for (project, book) in &changed {
            self.execute(
                "UPDATE ledgers SET head = $1, pending = $2, audit_seq = $3, audit_hash = $4
                 WHERE project_id = $5",
                values![
                    book.head,
                    book.pending,
                    book.audit_seq,
                    &book.audit_hash,
                    project.as_str()
                ],
            )?;
        }
        let grown = changed.into_iter().map(|(project, book)| (project, book.head)).collect();
        Ok(CommitSummary { grown, left: self.left, scrub: self.scrub })
    }
}
