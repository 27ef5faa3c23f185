//! Making tokens: the secret leaves this file once, what is kept is its hash.

use countersign_core::Digest;
use uuid::Uuid;

use crate::gate::Gate;
use crate::new_id::new_id;
use crate::store::{ApiToken, StoreError, TokenRole};

/// How long the name of a token may be.
const LONGEST_NAME: usize = 80;

/// Why a token was not made.
#[derive(Debug, thiserror::Error)]
pub enum CreateTokenError {
    /// Nobody could tell whose it is.
    #[error("the name of a token has 1 to {LONGEST_NAME} characters and no control codes")]
    Name,
    /// It would not have been a secret.
    #[error("the system's random number generator failed")]
    Randomness,
    /// It could not be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Gate {
    /// Makes a token. Returns what is kept of it and the secret, which nobody can look up later.
    pub async fn create_token(
        &self,
        role: TokenRole,
        name: Option<&str>,
    ) -> Result<(ApiToken, String), CreateTokenError> {
        let id: Uuid = new_id();
        let name = match name {
            Some(name) => name.trim().to_owned(),
            None => usual_name(role, id),
        };
        let fits = (1..=LONGEST_NAME).contains(&name.chars().count());
        if !fits || name.chars().any(char::is_control) {
            return Err(CreateTokenError::Name);
        }
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|_| CreateTokenError::Randomness)?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let secret = format!("cs_{role}_{digits}");
        let created_at = self.inner().clock.now();
        let token = ApiToken { id, role, name, created_at, revoked_at: None };
        self.store().keep_token(&Digest::for_bytes(secret.as_bytes()), token.clone()).await?;
        Ok((token, secret))
    }
}

/// Returns the name of a token that was given none: its role, and the end of its id.
fn usual_name(role: TokenRole, id: Uuid) -> String {
    let id = id.simple().to_string();
    let end = id.get(id.len().saturating_sub(8)..).unwrap_or_default();
    format!("{role}-{end}")
}
