//! Who writes: every commit is signed.
//!
//! The signature is a row that only its server changes, in every transaction. A server that was taken
//! for dead finds its row fenced, and nothing it writes counts; after a commit whose answer was lost
//! the row tells whether it held.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::clock::Clock;
use crate::store::StoreError;
use crate::store::database::SqlConnection;
use crate::store::value::values;
use crate::store::write_txn::WriteTxn;

/// The signature of this process.
pub(crate) struct ServerFence {
    clock: Arc<dyn Clock>,
    hand: Mutex<FenceState>,
}

#[derive(Clone, Debug, Default)]
struct FenceState {
    /// The id to sign with; none before the server has joined.
    server: Option<String>,
    /// Whether the id was fenced by another server.
    fenced: bool,
    /// When the last commit that held was begun, by both clocks.
    signed_at: Option<(Timestamp, Duration)>,
}

/// One use of the signature, to be found again.
pub(super) struct FenceMark {
    server: String,
    beat: i64,
    at: (Timestamp, Duration),
}

impl ServerFence {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { clock, hand: Mutex::default() })
    }

    /// Signs no more.
    pub(crate) fn clear_server(&self) {
        *self.lock() = FenceState::default();
    }

    /// Signs with an id from now on.
    pub(crate) fn set_server(&self, server: String) {
        *self.lock() = FenceState { server: Some(server), fenced: false, signed_at: None };
    }

    /// Returns the id that is signed with.
    pub(crate) fn server(&self) -> Option<String> {
        self.lock().server.clone()
    }

    /// Returns whether another server has taken over.
    pub(crate) fn is_fenced(&self) -> bool {
        self.lock().fenced
    }

    /// Returns when the last commit that held was begun, by both clocks.
    pub(crate) fn signed_at(&self) -> Option<(Timestamp, Duration)> {
        self.lock().signed_at
    }

    /// Signs a transaction, before anything is written in it.
    pub(super) fn mark_transaction(
        &self,
        ledger: &mut WriteTxn<'_>,
    ) -> Result<Option<FenceMark>, StoreError> {
        let Some(server) = self.server() else { return Ok(None) };
        let at = (self.clock.now(), self.clock.running_for());
        let signed = ledger.query_one(
            "UPDATE servers SET beat = beat + 1 WHERE id = $1 AND NOT fenced RETURNING beat",
            values![&server],
        )?;
        let Some(mut row) = signed else {
            self.lock().fenced = true;
            return Err(StoreError::Fenced);
        };
        Ok(Some(FenceMark { server, beat: row.take()?, at }))
    }

    /// Notes that a commit held.
    pub(super) fn note_committed(&self, signed: &FenceMark) {
        self.lock().signed_at = Some(signed.at);
    }

    fn lock(&self) -> MutexGuard<'_, FenceState> {
        self.hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FenceMark {
    /// Returns whether the transaction that carried it was committed.
    pub(super) fn was_committed(&self, db: &mut dyn SqlConnection) -> Result<bool, StoreError> {
        let row = db.query_one("SELECT beat FROM servers WHERE id = $1", values![&self.server])?;
        Ok(match row {
            Some(mut row) => row.take::<i64>()? >= self.beat,
            None => false,
        })
    }
}
