//! What can be said to `countersign approvals`.

use clap::{Args, Subcommand};

use super::ServerTargetArgs;

#[derive(Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// List requests in all projects of the server, or in one.
    #[command(after_help = "Examples:
  countersign approvals list
  countersign approvals list --status rejected --json")]
    List(ApprovalsListArgs),
    /// Show one request: what it would do, where it belongs and who asks.
    #[command(
        after_help = "Example:\n  countersign approvals show 01a1e178-a762-775b-9fc5-18c20bc9ca71"
    )]
    Show(ApprovalsShowArgs),
    /// Show a request, ask for confirmation, and approve exactly what was shown.
    #[command(after_help = "Examples:
  countersign approvals approve 01a1e178-a762-775b-9fc5-18c20bc9ca71
  countersign approvals approve 01a1e178-a762-775b-9fc5-18c20bc9ca71 --digest ab904cff… --yes

The approval is bound to the digest that was shown. If the request has changed since, nothing is
approved.")]
    Approve(ApprovalsApproveArgs),
    /// Reject a request; the agent reads your feedback and continues.
    #[command(after_help = "Example:
  countersign approvals reject 01a1e178-a762-775b-9fc5-18c20bc9ca71 --feedback 'call it hi.txt'")]
    Reject(ApprovalsRejectArgs),
}

#[derive(Args)]
pub(crate) struct ApprovalsListArgs {
    #[command(flatten)]
    pub(crate) at: ServerTargetArgs,
    /// The status to list: `pending`, `approved`, `rejected`, `timeout`, …, or `all`.
    #[arg(long, value_name = "STATUS", default_value = "pending")]
    pub(crate) status: String,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ApprovalsShowArgs {
    /// The request, by its `approval_id`.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) at: ServerTargetArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ApprovalsApproveArgs {
    /// The request, by its `approval_id`.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The digest that `list` or `show` printed [default: the digest shown now].
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,
    /// Do not ask for confirmation.
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) at: ServerTargetArgs,
    /// Print the server's answer as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ApprovalsRejectArgs {
    /// The request, by its `approval_id`.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// What the agent should do instead.
    #[arg(long, value_name = "TEXT")]
    pub(crate) feedback: Option<String>,
    #[command(flatten)]
    pub(crate) at: ServerTargetArgs,
    /// Print the server's answer as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
