//! Tokens: who may do what over the API. Only the hash of the secret is kept.

use std::fmt;
use std::str::FromStr;

use countersign_core::Digest;
use jiff::Timestamp;
use uuid::Uuid;

use super::value::{SqlRow, values};
use super::{Store, StoreError};

/// What the holder of a token may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenRole {
    /// Everything.
    Admin,
    /// Reads everything, starts runs and decides.
    Approver,
    /// Hands calls in, runs them, reports on them and waits for them: its own, and nothing else.
    Agent,
    /// Reads everything and changes nothing.
    Viewer,
}

impl TokenRole {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Admin, Self::Approver, Self::Agent, Self::Viewer];

    /// Returns the name, as commands and the table have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Approver => "approver",
            Self::Agent => "agent",
            Self::Viewer => "viewer",
        }
    }
}

impl fmt::Display for TokenRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for TokenRole {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|role| role.as_str() == name);
        found.ok_or_else(|| "a role is `admin`, `approver`, `agent` or `viewer`".to_owned())
    }
}

/// A token as it is kept: everything but its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiToken {
    /// Its id, by which it is revoked and calls remember it.
    pub id: Uuid,
    /// What its holder may do.
    pub role: TokenRole,
    /// The name that decisions carry.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked; none while it is good.
    pub revoked_at: Option<Timestamp>,
}

const COLUMNS: &str = "id, role, name, created_at, revoked_at FROM tokens";

impl Store {
    /// Keeps a new token under the digest of its secret.
    pub async fn keep_token(&self, secret: &Digest, token: ApiToken) -> Result<(), StoreError> {
        let hash = secret.to_string();
        self.writer
            .write(move |ledger| {
                ledger.execute(
                    "INSERT INTO tokens (id, hash, role, name, created_at)
                     VALUES ($1, $2, $3, $4, $5)",
                    values![
                        token.id.to_string(),
                        &hash,
                        token.role.as_str(),
                        &token.name,
                        token.created_at
                    ],
                )?;
                Ok(())
            })
            .await
    }

    /// Returns the token of a secret, unless it was revoked.
    ///
    /// Asked anew for every request, so that a revocation holds at once.
    pub async fn find_token(&self, secret: &Digest) -> Result<Option<ApiToken>, StoreError> {
        let hash = secret.to_string();
        self.readers
            .read(move |db| {
                let sql = format!("SELECT {COLUMNS} WHERE hash = $1 AND revoked_at IS NULL");
                db.query_one(&sql, values![&hash])?.map(read_token).transpose()
            })
            .await
    }

    /// Returns a token by its id, also one that was revoked.
    pub async fn token(&self, id: Uuid) -> Result<Option<ApiToken>, StoreError> {
        self.readers
            .read(move |db| {
                let sql = format!("SELECT {COLUMNS} WHERE id = $1");
                db.query_one(&sql, values![id.to_string()])?.map(read_token).transpose()
            })
            .await
    }

    /// Returns whether a token is there and was not revoked.
    pub async fn is_token_good(&self, id: Uuid) -> Result<bool, StoreError> {
        self.readers
            .read(move |db| {
                let good = "SELECT id FROM tokens WHERE id = $1 AND revoked_at IS NULL";
                Ok(db.query_one(good, values![id.to_string()])?.is_some())
            })
            .await
    }

    /// Returns all tokens, revoked ones too, the oldest first.
    pub async fn list_tokens(&self) -> Result<Vec<ApiToken>, StoreError> {
        self.readers
            .read(|db| {
                let rows = db.query(&format!("SELECT {COLUMNS} ORDER BY created_at, id"), &[])?;
                rows.into_iter().map(read_token).collect()
            })
            .await
    }

    /// Revokes a token; returns whether there was one that was still good.
    pub async fn revoke_token(&self, id: Uuid, now: Timestamp) -> Result<bool, StoreError> {
        self.writer
            .write(move |ledger| {
                let changed = ledger.execute(
                    "UPDATE tokens SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL",
                    values![now, id.to_string()],
                )?;
                Ok::<_, StoreError>(changed == 1)
            })
            .await
    }
}

fn read_token(mut row: SqlRow) -> Result<ApiToken, StoreError> {
    Ok(ApiToken {
        id: row.parse("token id")?,
        role: row.parse("role")?,
        name: row.take()?,
        created_at: row.take()?,
        revoked_at: row.take()?,
    })
}
