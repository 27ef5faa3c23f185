//! What can be said to `countersign audit`.

use clap::{Args, Subcommand};

use super::DatabaseArgs;

#[derive(Subcommand)]
pub(crate) enum AuditCommand {
    /// Checks that nothing in the audit was changed, removed or moved; exits 1 if something was.
    #[command(after_help = "Examples:
  countersign audit verify
  countersign audit verify --database postgres://countersign@db.example/countersign --json

The end of every chain is printed. Kept somewhere else, it proves later that all before it is as it was.")]
    Verify(AuditVerifyArgs),
    /// Prints the audit, one JSON object per line.
    #[command(after_help = "Example:\n  countersign audit export > audit.jsonl")]
    Export(AuditExportArgs),
}

#[derive(Args)]
pub(crate) struct AuditVerifyArgs {
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
    /// Prints the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct AuditExportArgs {
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
    /// Only the project of this id.
    #[arg(long, value_name = "ID")]
    pub(crate) project: Option<String>,
}
