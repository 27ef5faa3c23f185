//! What can be said to `countersign token`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use countersign_gate::TokenRole;
use uuid::Uuid;

use super::DatabaseArgs;

#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token and print it once; only its hash is stored.
    #[command(after_help = "Examples:
  countersign token create --role approver --name ana
  countersign token create --role agent --name laptop --file ~/.countersign-agent

Roles: an `admin` may do everything. An `approver` reads, starts runs and decides. An `agent` submits its
own calls, waits for them and runs them, and decides nothing: use it for hooks, MCP and clients. A `viewer`
only reads. With --file the token is written to a file only you can read, together with the server's key.")]
    Create(TokenCreateArgs),
    /// List the tokens with their ids, roles and names, without their secrets.
    #[command(after_help = "Example:\n  countersign token list --json")]
    List(TokenListArgs),
    /// Revoke a token; a running server refuses it at once.
    #[command(
        after_help = "Example:\n  countersign token revoke 01a1e402-59b7-749a-b9d7-ef9261dea722"
    )]
    Revoke(TokenRevokeArgs),
}

#[derive(Args)]
pub(crate) struct TokenCreateArgs {
    /// What the token's holder may do: `admin`, `approver`, `agent` or `viewer`.
    #[arg(long)]
    pub(crate) role: TokenRole,
    /// The name shown with decisions [default: the role and the end of the id].
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Write the token and the server's key to a file, instead of printing the token.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct TokenListArgs {
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct TokenRevokeArgs {
    /// The token's id.
    pub(crate) id: Uuid,
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
}
