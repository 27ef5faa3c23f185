//! What can be said to `countersign client`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{SandboxSwitch, ServerTargetArgs};

#[derive(Args)]
pub(crate) struct ClientArgs {
    #[command(flatten)]
    pub(crate) at: ServerTargetArgs,
    /// The project's folder on this machine; tools reach only what is below it.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: PathBuf,
    /// Where people decide: at this terminal, or elsewhere (on the page or in another client).
    #[arg(long, value_enum, default_value_t = ApprovalsOption::Here)]
    pub(crate) approvals: ApprovalsOption,
    /// Where commands run: `auto` uses the best sandbox of this machine, `required` refuses to run without a
    /// complete one, `off` uses none.
    #[arg(long, value_name = "WHEN", env = "COUNTERSIGN_SANDBOX", default_value = "auto")]
    pub(crate) sandbox: SandboxSwitch,
    /// Print one JSON object per line; approvals are then decided elsewhere.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where approvals are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApprovalsOption {
    Here,
    Elsewhere,
}
