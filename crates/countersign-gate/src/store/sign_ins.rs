//! Sign-ins of pages: each has two secrets, of which only hashes are kept.
//!
//! The cookie is sent by the browser to every port of the host; the page's secret is not. Whoever has
//! only one of them has not signed in.

use countersign_core::Digest;
use jiff::Timestamp;
use uuid::Uuid;

use super::tokens::TokenRole;
use super::value::values;
use super::{Store, StoreError};

/// Who signed in on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSignIn {
    /// The name that decisions carry.
    pub name: String,
    /// What they may do.
    pub role: TokenRole,
    /// The token they signed in with; none for the server's own link or token.
    pub token: Option<Uuid>,
    /// The digest of the page's secret.
    pub page_secret: Digest,
}

impl Store {
    /// Keeps a sign-in under the digests of its two secrets.
    pub async fn keep_sign_in(
        &self,
        cookie: &Digest,
        sign_in: PageSignIn,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let hash = cookie.to_string();
        self.writer
            .write(move |ledger| {
                // Old ones go when a new one comes: the table never outgrows its use.
                ledger.execute("DELETE FROM sign_ins WHERE expires_at <= $1", values![now])?;
                ledger.execute(
                    "INSERT INTO sign_ins (hash, page_hash, name, role, token_id, created_at,
                       expires_at)
                     VALUES ($1, $2, $3, $4, $5, $6, $7)",
                    values![
                        &hash,
                        sign_in.page_secret.as_str(),
                        &sign_in.name,
                        sign_in.role.as_str(),
                        sign_in.token.map(|id| id.to_string()),
                        now,
                        expires_at
                    ],
                )?;
                Ok(())
            })
            .await
    }

    /// Returns who signed in with a cookie, unless that was too long ago or their token was revoked.
    pub async fn find_sign_in(
        &self,
        cookie: &Digest,
        now: Timestamp,
    ) -> Result<Option<PageSignIn>, StoreError> {
        let hash = cookie.to_string();
        self.readers
            .read(move |db| {
                let row = db.query_one(
                    "SELECT name, role, token_id, page_hash FROM sign_ins
                     WHERE hash = $1 AND expires_at > $2 AND (token_id IS NULL OR EXISTS
                       (SELECT 1 FROM tokens WHERE id = token_id AND revoked_at IS NULL))",
                    values![&hash, now],
                )?;
                let Some(mut row) = row else { return Ok(None) };
                let (name, role) = (row.take()?, row.parse("role")?);
                let token: Option<String> = row.take()?;
                let token = token.map(|id| id.parse()).transpose();
                let token = token.map_err(|error| StoreError::corrupt("token id", error))?;
                let page_secret = Digest::from(row.take::<String>()?);
                Ok(Some(PageSignIn { name, role, token, page_secret }))
            })
            .await
    }
}
