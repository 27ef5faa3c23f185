//! What is said of this machine: its sandbox, and what else there is.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use secrecy::SecretString;

use super::DatabaseArgs;

/// Where commands run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandboxSwitch {
    /// In the best sandbox of this machine.
    Auto,
    /// In a complete sandbox; without one the server does not start.
    Required,
    /// Without a sandbox.
    Off,
}

#[derive(Args)]
pub(crate) struct SandboxExecArgs {
    /// The sandbox's instructions, the program and its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}

#[derive(Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
    /// The address the server listens on.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:4180")]
    pub(crate) listen: SocketAddr,
    /// The Claude Code CLI [default: `claude` on the PATH, or where its installers put it].
    #[arg(long, value_name = "PATH", env = "COUNTERSIGN_CLAUDE")]
    pub(crate) claude: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// The key for the Messages API.
    #[arg(long = "api-key", env = "ANTHROPIC_API_KEY", hide = true, hide_env_values = true)]
    pub(crate) api_key: Option<SecretString>,
}
