//! `countersign token`: makes, lists and revokes tokens, in the database that the servers look at.

use anyhow::bail;
use countersign_gate::{ApiToken, Clock, SystemClock};
use serde_json::json;

use crate::cli::{TokenCommand, TokenCreateArgs, TokenListArgs, TokenRevokeArgs};
use crate::hint::HintedError;
use crate::runtime::runtime;
use crate::token_store::{NewToken, open};
use crate::{data_paths, output};

pub(crate) fn run(command: &TokenCommand) -> anyhow::Result<()> {
    match command {
        TokenCommand::Create(args) => runtime()?.block_on(create(args)),
        TokenCommand::List(args) => runtime()?.block_on(list(args)),
        TokenCommand::Revoke(args) => runtime()?.block_on(revoke(args)),
    }
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
