//! Why the store did not do what was asked, in words a person can act on.

use std::error::Error;
use std::sync::Arc;

/// What lies beneath a failure; shared, since all who wrote together hear of it.
type StoreErrorCause = Arc<dyn Error + Send + Sync>;

/// Why the store did not do what was asked. Nothing was half done.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The database is not there, or does not answer.
    #[error("the database cannot be reached")]
    Unreachable(#[source] StoreErrorCause),
    /// There is no room for what was to be written.
    #[error("the disk that holds the database is full")]
    Full(#[source] StoreErrorCause),
    /// What was to be written must not be.
    #[error("the database cannot be written to: it is read-only")]
    ReadOnly(#[source] StoreErrorCause),
    /// The file is not a database, or not a whole one.
    #[error("the database is damaged")]
    Damaged(#[source] StoreErrorCause),
    /// Others were in the way; the same may well succeed when tried again.
    #[error("the database is busy with the same rows")]
    Contended(#[source] StoreErrorCause),
    /// The database said no for another reason.
    #[error("the database could not be used")]
    Database(#[source] StoreErrorCause),
    /// The schema could not be brought up to date.
    #[error("the database could not be brought up to date")]
    Migration(#[source] StoreErrorCause),
    /// A row does not hold what it should.
    #[error("a stored {what} cannot be read")]
    Corrupt {
        /// What kind of thing.
        what: &'static str,
        /// Why not.
        #[source]
        source: StoreErrorCause,
    },
    /// Something cannot be written as a row.
    #[error("a {what} cannot be written down")]
    Unwritable {
        /// What kind of thing.
        what: &'static str,
        /// Why not.
        #[source]
        source: StoreErrorCause,
    },
    /// The address of the database cannot be understood.
    #[error("the database URL is invalid")]
    Address(#[source] StoreErrorCause),
    /// What was asked for was left out when this program was built.
    #[error("this build has no {what}; build it with the feature `{feature}`")]
    LeftOut {
        /// What is missing.
        what: &'static str,
        /// The Cargo feature of this crate that has it.
        feature: &'static str,
    },
    /// The data folder is not usable.
    #[error("the data folder could not be used")]
    Folder(#[source] Arc<std::io::Error>),
    /// Another server is running on the same file.
    #[error("another server is using this database")]
    InUse,
    /// This server was taken for dead and another has taken over: nothing it says counts.
    #[error("another server has taken over from this one")]
    Fenced,
    /// The store is shutting down.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// Returns that this build cannot speak to PostgreSQL.
    #[cfg(not(feature = "postgres"))]
    pub(crate) const NO_POSTGRES: Self = Self::LeftOut { what: "PostgreSQL", feature: "postgres" };

    /// Returns that a stored thing cannot be read.
    pub fn corrupt(what: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Corrupt { what, source: source.into().into() }
    }

    /// Returns that a thing cannot be written down.
    pub fn unwritable(what: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unwritable { what, source: source.into().into() }
    }

    /// Returns that the database URL is invalid.
    #[cfg(feature = "postgres")]
    pub(crate) fn bad_address(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Address(source.into().into())
    }

    /// Returns that others were always faster to change the same row.
    pub(crate) fn contended(why: String) -> Self {
        let why: Box<dyn Error + Send + Sync> = why.into();
        Self::Contended(why.into())
    }

    /// Returns that the database did not answer in time.
    pub(crate) fn no_answer() -> Self {
        let why: Box<dyn Error + Send + Sync> = "it does not answer".into();
        Self::Unreachable(why.into())
    }

    pub(crate) fn folder(error: std::io::Error) -> Self {
        Self::Folder(Arc::new(error))
    }

    /// Returns whether the same may succeed later without anybody changing the program.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Full(_) | Self::ReadOnly(_) | Self::Contended(_) => true,
            Self::Damaged(_)
            | Self::Database(_)
            | Self::Migration(_)
            | Self::Corrupt { .. }
            | Self::Unwritable { .. }
            | Self::Address(_)
            | Self::LeftOut { .. }
            | Self::Folder(_)
            | Self::InUse
            | Self::Fenced
            | Self::Closed => false,
        }
    }

    /// Returns what a person can do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => {
                "see that the database is running; this goes on by itself when it is"
            }
            Self::Full(_) => "free some space on that disk; the server then continues by itself",
            Self::ReadOnly(_) => "make its disk or file writable; this goes on by itself then",
            Self::Damaged(_) => {
                "stop the server and put back a backup: see docs/guide/databases.md"
            }
            Self::Contended(_) => "try again",
            Self::Folder(_) => "check the folder's permissions, or give another one with --data",
            Self::InUse => "stop the other server, or give another folder with --data",
            Self::Fenced => "try again: this server starts anew",
            Self::LeftOut { .. } => "use a build that has it, or another database or bus",
            Self::Address(_) => "check what is given with --database",
            Self::Database(_)
            | Self::Migration(_)
            | Self::Corrupt { .. }
            | Self::Unwritable { .. }
            | Self::Closed => "look at the server's log",
        }
    }
}
