//! What can be said to `countersign token`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use countersign_gate::TokenRole;
use uuid::Uuid;

use super::DatabaseArgs;

#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// Makes a token and prints it, once: only its hash is kept.
    #[command(after_help = "Examples:
  countersign token create --role approver --name ana
  countersign token create --role agent --name laptop --file ~/.countersign-agent

Roles: `admin` may do everything; `approver` reads, starts runs and decides; `agent` hands calls in, runs
them and waits for them, its own only, and decides nothing: for hooks, MCP and clients; `viewer` reads.
With --file the token goes into a file for its owner alone, with the key by which the server is known.")]
    Create(TokenCreateArgs),
    /// Lists the tokens: their ids, roles and names, not their secrets.
    #[command(after_help = "Example:\n  countersign token list --json")]
    List(TokenListArgs),
    /// Revokes a token. A server that runs refuses it from that moment.
    #[command(
        after_help = "Example:\n  countersign token revoke 01a1e402-59b7-749a-b9d7-ef9261dea722"
    )]
    Revoke(TokenRevokeArgs),
}

#[derive(Args)]
pub(crate) struct TokenCreateArgs {
    /// What its holder may do: `admin`, `approver`, `agent` or `viewer`.
    #[arg(long)]
    pub(crate) role: TokenRole,
    /// The name that decisions carry [default: the role and the end of the id].
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Writes the token and the server's key into a file, instead of printing the token.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct TokenListArgs {
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
    /// One JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct TokenRevokeArgs {
    /// The token, by its id.
    pub(crate) id: Uuid,
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
}
