//! What can be said to `countersign audit`.

use clap::{Args, Subcommand};

use super::DatabaseArgs;

#[derive(Subcommand)]
pub(crate) enum AuditCommand {
    /// Check that no audit entry was changed, removed or moved; exit 1 if one was.
    #[command(after_help = "Examples:
  countersign audit verify
  countersign audit verify --database postgres://countersign@db.example/countersign --json

The end of every chain is printed. Keep it elsewhere: it proves later that nothing before it has changed.")]
    Verify(AuditVerifyArgs),
    /// Print the audit log, one JSON object per line.
    #[command(after_help = "Example:\n  countersign audit export > audit.jsonl")]
    Export(AuditExportArgs),
}

#[derive(Args)]
pub(crate) struct AuditVerifyArgs {
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct AuditExportArgs {
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
    /// Export only this project.
    #[arg(long, value_name = "ID")]
    pub(crate) project: Option<String>,
}
