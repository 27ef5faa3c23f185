//! What can be said to `countersign policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use countersign_core::PermissionMode;

use super::DatabaseArgs;

#[derive(Subcommand)]
pub(crate) enum PolicyCommand {
    /// Judge one call or many, without running them.
    #[command(after_help = "Examples:
  countersign policy check --tool Bash --input '{\"command\": \"git push\"}'
  countersign policy check --jsonl calls.jsonl --root ~/shop > verdicts.jsonl

A row is {\"id\", \"tool\", \"input\", \"given\"?}. {{WS}} in any of its strings stands for the root. `given`
may hold `rules` (lists `allow`, `ask` and `deny`, which replace all other rules), `mode`, `env`, `cwd` (a
folder below the root), `trusted`, `learned_from` (commands that somebody approved with \"always\") and `redirect_to` (where a fetched address
redirects to; it is judged as a call of its own). Input that the tool does not accept is denied.")]
    Check(PolicyCheckArgs),
    /// Explain a verdict part by part: what each part does, which rule applied, what would change it.
    #[command(after_help = "Examples:
  countersign policy explain -- 'git status && rm -rf build'
  countersign policy explain --tool Write --input '{\"file_path\": \".bashrc\", \"content\": \"\"}'")]
    Explain(PolicyExplainArgs),
    /// Test every rule against the examples it carries, and warn of misleading rules.
    #[command(after_help = "Example:\n  countersign policy test --rules countersign.toml")]
    Test(PolicyTestArgs),
    /// Replay recorded calls under other rules: what would have been asked, and where people had decided
    /// otherwise.
    #[command(after_help = "Example:\n  countersign policy simulate --rules new.toml")]
    Simulate(PolicySimulateArgs),
    /// Trust a workspace's `countersign.toml`, so that what it allows applies until the file changes.
    #[command(after_help = "Example:\n  countersign policy trust --root ~/shop")]
    Trust(PolicyTrustArgs),
    /// List the presets, which are sets of rules to choose by name, or show one with its rules.
    #[command(
        after_help = "Examples:\n  countersign policy preset\n  countersign policy preset git-local"
    )]
    Preset(PolicyPresetArgs),
}

#[derive(Args)]
pub(crate) struct PolicyPresetArgs {
    /// The preset to show.
    pub(crate) name: Option<String>,
    /// Print the presets as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct PolicySimulateArgs {
    /// The rules to try in place of the project's own.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: PathBuf,
    /// The workspace whose calls to replay.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: PathBuf,
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
    /// How many calls to replay, newest first.
    #[arg(long, value_name = "COUNT", default_value_t = 1000)]
    pub(crate) limit: usize,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct PolicyTrustArgs {
    /// The workspace.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: PathBuf,
    /// The data folder, which records trust [default: the user's data folder].
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// Trust without asking; use it only after reading what the file allows.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Where a call would run, and by which rules it is judged.
#[derive(Args)]
pub(crate) struct PolicySourceArgs {
    /// The workspace.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: PathBuf,
    /// A rules file (TOML, or Claude Code's JSON) to use instead of the workspace's rules.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct PolicyCheckArgs {
    /// The tool to call.
    #[arg(long, value_name = "NAME", requires = "input", required_unless_present = "jsonl")]
    pub(crate) tool: Option<String>,
    /// Its input.
    #[arg(long, value_name = "JSON", requires = "tool")]
    pub(crate) input: Option<String>,
    /// Many calls, one JSON object per line; `-` reads them from stdin.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tool", "input"])]
    pub(crate) jsonl: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rulings: PolicySourceArgs,
    /// The folder the call is made in, below the root [default: the root].
    #[arg(long, value_name = "DIR", conflicts_with = "jsonl")]
    pub(crate) cwd: Option<PathBuf>,
    /// The mode: plan, default, acceptEdits, dontAsk or bypassPermissions [default: what the rules say].
    #[arg(long)]
    pub(crate) mode: Option<PermissionMode>,
    /// Print the verdict as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct PolicyExplainArgs {
    /// A command line, short for a call of Bash with it.
    #[arg(required_unless_present = "tool", conflicts_with_all = ["tool", "input"])]
    pub(crate) command: Option<String>,
    /// The tool to call.
    #[arg(long, value_name = "NAME", requires = "input")]
    pub(crate) tool: Option<String>,
    /// Its input.
    #[arg(long, value_name = "JSON", requires = "tool")]
    pub(crate) input: Option<String>,
    #[command(flatten)]
    pub(crate) rulings: PolicySourceArgs,
    /// The folder the call is made in, below the root [default: the root].
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// The mode: plan, default, acceptEdits, dontAsk or bypassPermissions [default: what the rules say].
    #[arg(long)]
    pub(crate) mode: Option<PermissionMode>,
    /// Print the verdict as JSON, with its parts and the rules that "always" could add.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct PolicyTestArgs {
    #[command(flatten)]
    pub(crate) rulings: PolicySourceArgs,
    /// Print the findings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
