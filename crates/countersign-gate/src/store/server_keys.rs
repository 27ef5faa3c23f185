//! The key by which the servers of a database prove who they are: one for all of them.

use jiff::Timestamp;

use super::database::SqlConnection;
use super::value::values;
use super::{Store, StoreError};

/// The one row.
const ROW: &str = "server";

impl Store {
    /// Returns the secret of the servers' key; keeps the given one if there was none.
    ///
    /// Of several servers that come first together, all get the same.
    pub(crate) async fn keep_server_key(
        &self,
        secret: String,
        public: String,
        now: Timestamp,
    ) -> Result<String, StoreError> {
        self.writer
            .write(move |ledger| {
                ledger.execute(
                    "INSERT INTO server_keys (id, secret, public, created_at)
                     VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
                    values![ROW, &secret, &public, now],
                )?;
                let found = ledger
                    .query_one("SELECT secret FROM server_keys WHERE id = $1", values![ROW])?;
                let Some(mut row) = found else {
                    return Err(StoreError::corrupt("server key", "it was made and is not there"));
                };
                row.take::<String>()
            })
            .await
    }
}

/// Returns the public half of the servers' key, if they have one.
pub(crate) fn read_public_key(db: &mut dyn SqlConnection) -> Result<Option<String>, StoreError> {
    let row = db.query_one("SELECT public FROM server_keys WHERE id = $1", values![ROW])?;
    row.map(|mut row| row.take()).transpose()
}
