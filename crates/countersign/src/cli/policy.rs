//! What can be said to `countersign policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use countersign_core::PermissionMode;

use super::DatabaseArgs;

#[derive(Subcommand)]
pub(crate) enum PolicyCommand {
    /// Says what would happen with a call, or with many; runs nothing.
    #[command(after_help = "Examples:
  countersign policy check --tool Bash --input '{\"command\": \"git push\"}'
  countersign policy check --jsonl calls.jsonl --root ~/shop > verdicts.jsonl

A row is {\"id\", \"tool\", \"input\", \"given\"?}. {{WS}} in any of its strings stands for the root. `given`
may hold `rules` (lists `allow`, `ask`, `deny`, instead of all others), `mode`, `env`, `trusted`,
`learned_from` (a command somebody said \"always\" to) and `redirect_to` (where a fetched address leads
on to: judged as a call of its own). What no tool takes as its input is denied.")]
    Check(PolicyCheckArgs),
    /// Tells a verdict in words: part by part, what spoke, and what would change it.
    #[command(after_help = "Examples:
  countersign policy explain -- 'git status && rm -rf build'
  countersign policy explain --tool Write --input '{\"file_path\": \".bashrc\", \"content\": \"\"}'")]
    Explain(PolicyExplainArgs),
    /// Tries every rule on the examples it carries, and warns of rules that mislead.
    #[command(after_help = "Example:\n  countersign policy test --rules countersign.toml")]
    Test(PolicyTestArgs),
    /// Replays recorded calls under other rules: what would have been asked, and where people had
    /// decided otherwise.
    #[command(after_help = "Example:\n  countersign policy simulate --rules new.toml")]
    Simulate(PolicySimulateArgs),
    /// Lets what a workspace's `countersign.toml` allows count, as long as it stays as it is.
    #[command(after_help = "Example:\n  countersign policy trust --root ~/shop")]
    Trust(PolicyTrustArgs),
}

#[derive(Args)]
pub(crate) struct PolicySimulateArgs {
    /// The file of rules to try in the place of the project's own.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: PathBuf,
    /// The workspace whose calls are replayed.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: PathBuf,
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
    /// How many calls, the newest first.
    #[arg(long, value_name = "COUNT", default_value_t = 1000)]
    pub(crate) limit: usize,
    /// Prints the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct PolicyTrustArgs {
    /// The workspace.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: PathBuf,
    /// The folder where trust is kept [default: the user's data folder].
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// Trusts without asking: you have read what it allows.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Where a call would run, and by which rules it is judged.
#[derive(Args)]
pub(crate) struct PolicySourceArgs {
    /// The workspace.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: PathBuf,
    /// A file of rules (TOML, or Claude Code's JSON) to go by instead of the workspace's.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct PolicyCheckArgs {
    /// The tool that is called.
    #[arg(long, value_name = "NAME", requires = "input", required_unless_present = "jsonl")]
    pub(crate) tool: Option<String>,
    /// What it is called with.
    #[arg(long, value_name = "JSON", requires = "tool")]
    pub(crate) input: Option<String>,
    /// Many calls, one JSON object per line; `-` reads them from stdin.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tool", "input"])]
    pub(crate) jsonl: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rulings: PolicySourceArgs,
    /// The mode: plan, default, acceptEdits, dontAsk or bypassPermissions [default: the rules'].
    #[arg(long)]
    pub(crate) mode: Option<PermissionMode>,
    /// Prints the verdict as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct PolicyExplainArgs {
    /// A command line: short for the tool Bash with it.
    #[arg(required_unless_present = "tool", conflicts_with_all = ["tool", "input"])]
    pub(crate) command: Option<String>,
    /// The tool that is called.
    #[arg(long, value_name = "NAME", requires = "input")]
    pub(crate) tool: Option<String>,
    /// What it is called with.
    #[arg(long, value_name = "JSON", requires = "tool")]
    pub(crate) input: Option<String>,
    #[command(flatten)]
    pub(crate) rulings: PolicySourceArgs,
    /// The mode: plan, default, acceptEdits, dontAsk or bypassPermissions [default: the rules'].
    #[arg(long)]
    pub(crate) mode: Option<PermissionMode>,
    /// Prints the verdict as JSON, with its parts and what "always" could mean.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct PolicyTestArgs {
    #[command(flatten)]
    pub(crate) rulings: PolicySourceArgs,
    /// Prints what was found as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
