//! What a database has to be able to do. Two can: SQLite and PostgreSQL.
//!
//! The statements of the store are written once, in the words both understand: parameters are `$1`,
//! `$2`, … and appear in that order; moments, flags and numbers are values, not texts.

use std::fmt;

use super::StoreError;
use super::value::{SqlRow, SqlValue};

/// A database that can be connected to.
pub(crate) trait SqlDatabase: fmt::Debug + Send + Sync + 'static {
    /// Brings the schema up to date. Blocks; called once, before anything else.
    fn migrate(&self) -> Result<(), StoreError>;

    /// Opens the connection that writes. Blocks.
    fn writer(&self) -> Result<Box<dyn SqlConnection>, StoreError>;

    /// Opens a connection that only reads. Blocks.
    fn reader(&self) -> Result<Box<dyn SqlConnection>, StoreError>;

    /// Writes the database anew, so that nothing is left in it of what was overwritten. Blocks.
    fn rewrite(&self) -> Result<(), StoreError>;

    /// Returns whether other servers may be writing to it, too.
    fn is_shared(&self) -> bool;
}

/// One connection. Everything blocks, so it lives on a thread that may be blocked.
pub(crate) trait SqlConnection: Send {
    /// Runs a statement and returns how many rows it changed.
    fn execute(&mut self, sql: &str, with: &[SqlValue<'_>]) -> Result<u64, StoreError>;

    /// Runs a query and returns its rows.
    fn query(&mut self, sql: &str, with: &[SqlValue<'_>]) -> Result<Vec<SqlRow>, StoreError>;

    /// Begins a transaction that writes.
    fn begin(&mut self) -> Result<(), StoreError>;

    /// Begins to look at everything as it is at this moment; to be ended by [`Self::rollback`].
    fn begin_snapshot(&mut self) -> Result<(), StoreError>;

    /// Makes what was written since the beginning durable.
    fn commit(&mut self) -> Result<(), StoreError>;

    /// Has the files forget what was overwritten since; returns whether they have.
    fn scrub(&mut self) -> Result<bool, StoreError>;

    /// Takes back what was written since the beginning, if the connection still can.
    fn rollback(&mut self);
}

impl dyn SqlConnection + '_ {
    /// Runs a query that has one row at the most.
    pub(crate) fn query_one(
        &mut self,
        sql: &str,
        with: &[SqlValue<'_>],
    ) -> Result<Option<SqlRow>, StoreError> {
        Ok(self.query(sql, with)?.into_iter().next())
    }
}
