//! Which project of which server a command is about, and what opens its door.

use std::path::PathBuf;

use clap::Args;
use secrecy::SecretString;

#[derive(Args)]
pub(crate) struct ServerTargetArgs {
    /// The server [default: the one running on the data folder, else `http://127.0.0.1:4180`].
    // Empty where it was not named.
    #[arg(
        long,
        value_name = "URL",
        env = "COUNTERSIGN_SERVER",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) server: String,
    /// The data folder, which holds this machine's tokens [default: the user's data folder].
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// The project [default: the first one; for `approvals` and `undo`, all of them].
    #[arg(long, value_name = "ID")]
    pub(crate) project: Option<String>,
    /// The token file [default: `COUNTERSIGN_TOKEN` from the environment, else the data folder's token].
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The token, from the environment only: everybody could read it on the command line.
    #[arg(long, env = "COUNTERSIGN_TOKEN", hide = true, hide_env_values = true)]
    pub(crate) token: Option<SecretString>,
}
