//! What can be said to `countersign undo`.

use clap::Args;

use super::ServerTargetArgs;

#[derive(Args)]
pub(crate) struct UndoArgs {
    /// The call, by its `tool_id` [default: the last one that changed files].
    #[arg(value_name = "CALL", conflicts_with = "run")]
    pub(crate) call: Option<String>,
    /// All calls of a run, by its `run_id`.
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) at: ServerTargetArgs,
    /// Puts back what can be, though some files were changed since.
    #[arg(long)]
    pub(crate) skip_refused: bool,
    /// Does not ask.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Only shows what it would do.
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}
