//! What can be said to `countersign undo`.

use clap::Args;

use super::ServerTargetArgs;

#[derive(Args)]
pub(crate) struct UndoArgs {
    /// The call, by its `tool_id` [default: the last one that changed files].
    #[arg(value_name = "CALL", conflicts_with = "run")]
    pub(crate) call: Option<String>,
    /// Undo all calls of this run, given by its `run_id`.
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) at: ServerTargetArgs,
    /// Restore what can be restored, even if other files have changed since.
    #[arg(long)]
    pub(crate) skip_refused: bool,
    /// Do not ask for confirmation.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Only show what would be restored.
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}
