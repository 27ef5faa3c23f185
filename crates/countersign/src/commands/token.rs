//! `countersign token`: makes, lists and revokes tokens, in the database that the servers look at.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use countersign_core::Digest;
use countersign_gate::{
    ApiToken, Clock, CreateTokenError, Gate, Rulebook, ServerPublicKey, SystemClock, TokenRole,
};
use secrecy::ExposeSecret;
use serde_json::json;

use crate::cli::{DatabaseArgs, TokenCommand, TokenCreateArgs, TokenListArgs, TokenRevokeArgs};
use crate::commands::serve::runtime;
use crate::credential_file::ServerCredential;
use crate::hint::HintedError;
use crate::{data_paths, output};

pub(crate) fn run(command: &TokenCommand) -> anyhow::Result<()> {
    match command {
        TokenCommand::Create(args) => runtime()?.block_on(create(args)),
        TokenCommand::List(args) => runtime()?.block_on(list(args)),
        TokenCommand::Revoke(args) => runtime()?.block_on(revoke(args)),
    }
}

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

async fn open(records: &DatabaseArgs, make: bool) -> anyhow::Result<Gate> {
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

async fn create(args: &TokenCreateArgs) -> anyhow::Result<()> {
    let made = NewToken::make(&args.records, args.role, args.name.as_deref()).await?;
    if let Some(file) = &args.file {
        made.credential().write(file)?;
    }
    let ApiToken { id, role, name, .. } = &made.kept;
    if args.json {
        let (field, value) = match &args.file {
            Some(file) => ("file", file.display().to_string()),
            None => ("token", made.secret),
        };
        let line = json!({
            "id": id, "role": role.as_str(), "name": name,
            "server_key": made.server_key.to_string(), field: value,
        });
        output::line(&line.to_string());
        return Ok(());
    }
    match &args.file {
        Some(file) => output::line(&format!("The token is in {}", file.display())),
        None => output::line(&made.secret),
    }
    output::note(&format!(
        "`{name}` has the role {role}; `countersign token revoke {id}` ends it."
    ));
    if args.file.is_none() {
        output::note("The token is shown this once: only its hash is kept.");
    }
    Ok(())
}

async fn list(args: &TokenListArgs) -> anyhow::Result<()> {
    let gate = open(&args.records, false).await?;
    let tokens = data_paths::explain_store_failure(gate.store().list_tokens().await)?;
    if tokens.is_empty() && !args.json {
        output::note("There are no tokens; `countersign token create --role ROLE` makes one.");
    }
    for ApiToken { id, role, name, created_at, revoked_at } in tokens {
        if args.json {
            let line = json!({
                "id": id, "role": role.as_str(), "name": name, "created_at": created_at,
                "revoked_at": revoked_at,
            });
            output::line(&line.to_string());
        } else {
            let state = revoked_at.map(|at| format!("  revoked {at:.0}")).unwrap_or_default();
            let name = countersign_tools::escape_to_line(&name);
            output::line(&format!("{id}  {role:<8}  {created_at:.0}  {name}{state}"));
        }
    }
    Ok(())
}

async fn revoke(args: &TokenRevokeArgs) -> anyhow::Result<()> {
    let gate = open(&args.records, false).await?;
    let now = SystemClock.now();
    if !data_paths::explain_store_failure(gate.store().revoke_token(args.id, now).await)? {
        bail!(HintedError {
            error: anyhow::anyhow!("no token that is good has the id `{}`", args.id),
            hint: "`countersign token list` shows them".to_owned(),
        });
    }
    output::line(&format!("revoked {}", args.id));
    Ok(())
}
