//! Sign-ins: who holds a page's cookie. Only the hash of the secret is kept.

use countersign_core::Digest;
use jiff::Timestamp;

use super::value::values;
use super::{Store, StoreError};

impl Store {
    /// Keeps a sign-in under the digest of its secret.
    pub async fn keep_sign_in(
        &self,
        secret: &Digest,
        name: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let (hash, name) = (secret.to_string(), name.to_owned());
        self.writer
            .write(move |ledger| {
                // Old ones go when a new one comes: the table never outgrows its use.
                ledger.execute("DELETE FROM sign_ins WHERE expires_at <= $1", values![now])?;
                ledger.execute(
                    "INSERT INTO sign_ins (hash, name, created_at, expires_at)
                     VALUES ($1, $2, $3, $4)",
                    values![&hash, &name, now, expires_at],
                )?;
                Ok(())
            })
            .await
    }

    /// Returns who signed in with a secret, unless that was too long ago.
    pub async fn signed_in(
        &self,
        secret: &Digest,
        now: Timestamp,
    ) -> Result<Option<String>, StoreError> {
        let hash = secret.to_string();
        self.readers
            .read(move |db| {
                let row = db.one(
                    "SELECT name FROM sign_ins WHERE hash = $1 AND expires_at > $2",
                    values![&hash, now],
                )?;
                row.map(|mut row| row.take()).transpose()
            })
            .await
    }
}
