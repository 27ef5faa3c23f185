//! Which project of which server a command is about, and what opens its door.

use std::path::PathBuf;

use clap::Args;
use secrecy::SecretString;

#[derive(Args)]
pub(crate) struct AtServer {
    /// The server.
    #[arg(
        long,
        value_name = "URL",
        env = "COUNTERSIGN_SERVER",
        default_value = "http://127.0.0.1:4180"
    )]
    pub(crate) server: String,
    /// The project there [default: the first one; for `approvals` and `undo` all of them].
    #[arg(long, value_name = "ID")]
    pub(crate) project: Option<String>,
    /// The file with the token [default: what `COUNTERSIGN_TOKEN` holds, else the one of `hook install`].
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The token, from the environment: on the command line everybody could read it.
    #[arg(long, env = "COUNTERSIGN_TOKEN", hide = true, hide_env_values = true)]
    pub(crate) token: Option<SecretString>,
}
