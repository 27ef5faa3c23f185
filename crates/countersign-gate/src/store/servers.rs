//! The servers on one database: who is there, who was taken for dead.

use std::time::Duration;

use jiff::Timestamp;

use super::value::{SqlRow, values};
use super::write_txn::WriteTxn;
use super::{Store, StoreError};

/// How far a server has come when it was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerHeartbeat {
    pub(crate) server: String,
    pub(crate) beat: i64,
}

impl Store {
    /// Joins as a server. Those that were in the same place before are dead: it can be held once.
    pub(crate) async fn join(
        &self,
        server: &str,
        place: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (id, place) = (server.to_owned(), place.to_owned());
        // Not signed: nobody has fenced who was not there.
        self.writer.server_fence().clear_server();
        self.writer.write(move |ledger| join(ledger, &id, &place, now)).await?;
        self.writer.server_fence().set_server(server.to_owned());
        Ok(())
    }

    /// Leaves, so that others need not wait to take over.
    pub(crate) async fn leave(&self) -> Result<(), StoreError> {
        let Some(id) = self.server() else { return Ok(()) };
        self.writer
            .write(move |ledger| {
                ledger.execute("UPDATE servers SET fenced = TRUE WHERE id = $1", values![&id])?;
                Ok(())
            })
            .await
    }

    /// Returns the id this process has joined with.
    pub(crate) fn server(&self) -> Option<String> {
        self.writer.server_fence().server()
    }

    /// Returns whether another server has taken over from this one.
    pub(crate) fn is_fenced(&self) -> bool {
        self.writer.server_fence().is_fenced()
    }

    /// Returns when this server last wrote something that held.
    pub(crate) fn signed_at(&self) -> Option<(Timestamp, Duration)> {
        self.writer.server_fence().signed_at()
    }

    /// Writes nothing but a signature: this server is alive.
    pub(crate) async fn write_heartbeat(&self) -> Result<(), StoreError> {
        self.writer.write(|_| Ok(())).await
    }

    /// Returns the other servers that are not known to be dead.
    pub(crate) async fn other_servers(&self) -> Result<Vec<ServerHeartbeat>, StoreError> {
        let me = self.server().unwrap_or_default();
        self.readers
            .read(move |db| {
                let rows = db.query(
                    "SELECT id, beat FROM servers WHERE NOT fenced AND id <> $1",
                    values![&me],
                )?;
                let beat = |mut row: SqlRow| {
                    Ok(ServerHeartbeat { server: row.take()?, beat: row.take()? })
                };
                rows.into_iter().map(beat).collect()
            })
            .await
    }

    /// Takes a server for dead that has not moved since it was seen; returns whether that holds.
    pub(crate) async fn fence(&self, seen: ServerHeartbeat) -> Result<bool, StoreError> {
        self.writer
            .write(move |ledger| {
                let fenced = ledger.execute(
                    "UPDATE servers SET fenced = TRUE WHERE id = $1 AND beat = $2 AND NOT fenced",
                    values![&seen.server, seen.beat],
                )?;
                Ok(fenced == 1)
            })
            .await
    }
}

fn join(
    ledger: &mut WriteTxn<'_>,
    id: &str,
    place: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    ledger.execute(
        "UPDATE servers SET fenced = TRUE WHERE place = $1 AND id <> $2",
        values![place, id],
    )?;
    // The dead are remembered as long as something of theirs is left to be taken over.
    ledger.execute(
        "DELETE FROM servers WHERE fenced
           AND NOT EXISTS (SELECT 1 FROM runs WHERE owner = servers.id AND status = 'RUNNING')",
        &[],
    )?;
    ledger.execute(
        "INSERT INTO servers (id, place, beat, fenced, joined_at)
         VALUES ($1, $2, 0, FALSE, $3) ON CONFLICT DO NOTHING",
        values![id, place, now],
    )?;
    Ok(())
}
