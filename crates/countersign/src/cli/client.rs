//! What can be said to `countersign client`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use secrecy::SecretString;

#[derive(Args)]
pub(crate) struct ClientArgs {
    /// The server.
    #[arg(
        long,
        value_name = "URL",
        env = "COUNTERSIGN_SERVER",
        default_value = "http://127.0.0.1:4180"
    )]
    pub(crate) server: String,
    /// The project there.
    #[arg(long, value_name = "ID", default_value = "default")]
    pub(crate) project: String,
    /// The project's folder here: tools reach what is below it.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: PathBuf,
    /// The file with the token [default: what `COUNTERSIGN_TOKEN` holds].
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The token, from the environment: on the command line everybody could read it.
    #[arg(long, env = "COUNTERSIGN_TOKEN", hide = true, hide_env_values = true)]
    pub(crate) token: Option<SecretString>,
    /// Where people decide: at this terminal, or elsewhere (the page, other clients).
    #[arg(long, value_enum, default_value_t = Approvals::Here)]
    pub(crate) approvals: Approvals,
    /// Prints one JSON object per line; approvals are then decided elsewhere.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where approvals are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approvals {
    Here,
    Elsewhere,
}
