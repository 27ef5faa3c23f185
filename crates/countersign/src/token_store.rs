//! Tokens of a database, beside the servers that may be at work on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_client::ServerCredential;
use countersign_core::Digest;
use countersign_gate::{
    ApiToken, CreateTokenError, Gate, Rulebook, ServerPublicKey, SystemClock, TokenRole,
};
use secrecy::ExposeSecret;

use crate::cli::DatabaseArgs;
use crate::data_paths;

/// A token that was just made: the only moment in which its secret is known.
pub(crate) struct NewToken {
    pub(crate) kept: ApiToken,
    pub(crate) secret: String,
    pub(crate) server_key: ServerPublicKey,
}

impl NewToken {
    /// Makes a token in a database, beside the servers that may be at work on it.
    pub(crate) async fn make(
        records: &DatabaseArgs,
        role: TokenRole,
        name: Option<&str>,
    ) -> anyhow::Result<Self> {
        let gate = open(records, true).await?;
        let server_key =
            data_paths::explain_store_failure(gate.server_identity().await)?.public_key();
        let (kept, secret) = match gate.create_token(role, name).await {
            Err(CreateTokenError::Store(error)) => data_paths::explain_store_failure(Err(error))?,
            made => made?,
        };
        Ok(Self { kept, secret, server_key })
    }

    /// Returns what goes into a file.
    pub(crate) fn credential(&self) -> ServerCredential {
        let token = self.secret.clone().into();
        ServerCredential { token, server_key: Some(self.server_key.clone()) }
    }
}

/// Returns whether a credential is one of a database that the servers there still accept.
pub(crate) async fn is_good(records: &DatabaseArgs, credential: &ServerCredential) -> bool {
    let Ok(gate) = open(records, true).await else { return false };
    let digest = Digest::for_bytes(credential.token.expose_secret().as_bytes());
    let (token, key) = (gate.store().find_token(&digest).await, gate.server_identity().await);
    let key = key.map(|key| key.public_key()).ok();
    matches!(token, Ok(Some(_))) && key.is_some() && key == credential.server_key
}

/// Returns where the agent's token of this machine is kept, unless another file is named.
pub(crate) fn agent_token_file(data: Option<&Path>) -> Option<PathBuf> {
    Some(data_paths::data_path(data)?.join("agent-token"))
}

/// Opens the database to look at its tokens and to change them; `make` says whether there may be none yet.
pub(crate) async fn open(records: &DatabaseArgs, make: bool) -> anyhow::Result<Gate> {
    let database = if make {
        data_paths::database(records.data.as_deref(), records.database.as_deref())?
    } else {
        data_paths::existing_database(records)?
    };
    let (clock, no_rules) = (Arc::new(SystemClock), Arc::new(Rulebook::none()));
    data_paths::explain_open_failure(
        Gate::open_to_read(database.clone(), clock, no_rules).await,
        &database,
    )
}
