//! What can be said to `countersign hook` and `countersign mcp`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use secrecy::SecretString;

use super::{DatabaseArgs, SandboxSwitch};

/// Where a call is asked about.
#[derive(Args)]
pub(crate) struct ConsentServerArgs {
    /// The server that asks a person [default: `http://127.0.0.1:4180`].
    #[arg(long, value_name = "URL", env = "COUNTERSIGN_SERVER")]
    pub(crate) server: Option<String>,
    /// The file with the token [default: what `COUNTERSIGN_TOKEN` holds, else the one of `hook install`].
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The token, from the environment: on the command line everybody could read it.
    #[arg(long, env = "COUNTERSIGN_TOKEN", hide = true, hide_env_values = true)]
    pub(crate) token: Option<SecretString>,
    /// Where the rules are that the server keeps.
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    pub(crate) what: Option<HookCommand>,
    #[command(flatten)]
    pub(crate) asking: ConsentServerArgs,
    /// How long a person has to decide; Claude Code ends a hook after 600 seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 570)]
    pub(crate) wait: u64,
    /// Answers a `PermissionRequest` with what a person has just said to the same call, and else with
    /// nothing: for use beside `PreToolUse`, which has asked already.
    #[arg(long)]
    pub(crate) again: bool,
}

#[derive(Subcommand)]
pub(crate) enum HookCommand {
    /// Adds the hook to Claude Code's settings; shows what changes first.
    #[command(after_help = "Examples:
  countersign hook install
  countersign hook install --local --token-file ~/.countersign-agent --yes
  countersign hook install --project

A token of the role `agent` is made for the hook: it hands calls in and waits for them, and cannot decide.
Its file also holds the server's key, by which the hook knows whom it tells the token.

At the end the hook is tried: through the shell, and by Claude Code itself where that is installed and
bubblewrap can keep it from the network. What the file was before is kept for `hook uninstall`.")]
    Install(HookInstallArgs),
    /// Gives Claude Code's settings back as they were; if others changed them since, takes out only ours.
    #[command(after_help = "Example:\n  countersign hook uninstall --project")]
    Uninstall(HookUninstallArgs),
}

/// Which settings.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct HookSettingsArgs {
    /// Yours, for every project (`~/.claude/settings.json`); this is the default.
    #[arg(long, conflicts_with_all = ["project", "local"])]
    pub(crate) user: bool,
    /// Those of the project in this folder, which are committed (`.claude/settings.json`): `countersign` is
    /// named without its folder, and each person's own token is used.
    #[arg(long, conflicts_with = "local")]
    pub(crate) project: bool,
    /// Your own for the project in this folder (`.claude/settings.local.json`).
    #[arg(long)]
    pub(crate) local: bool,
    /// Does not ask for confirmation.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
pub(crate) struct HookInstallArgs {
    #[command(flatten)]
    pub(crate) place: HookSettingsArgs,
    /// The server that asks a person [default: `http://127.0.0.1:4180`].
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// The file with the token [default: one of the role `agent` is made, in the data folder].
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The server's data folder, where it is not the usual one.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The server's database, where it is not in the data folder: the token is made there.
    #[arg(long, value_name = "URL", env = "COUNTERSIGN_DATABASE", hide_env_values = true)]
    pub(crate) database: Option<String>,
    /// Asks nobody while Claude Code bypasses its permissions: only denials, and rules that say `ask`, hold
    /// then. Without this what would ask still asks.
    #[arg(long)]
    pub(crate) follow_bypass: bool,
    /// The Claude Code CLI to try the hook with [default: `claude` on the path, or where installers put it].
    #[arg(long, value_name = "PATH", env = "COUNTERSIGN_CLAUDE")]
    pub(crate) claude: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct ProbeClaudeArgs {
    /// The Claude Code CLI.
    #[arg(long, value_name = "PATH")]
    pub(crate) claude: PathBuf,
    /// Whose settings it is to read.
    #[arg(long, value_name = "SCOPE")]
    pub(crate) source: String,
}

#[derive(Args)]
pub(crate) struct HookUninstallArgs {
    #[command(flatten)]
    pub(crate) place: HookSettingsArgs,
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) what: Option<McpCommand>,
    #[command(flatten)]
    pub(crate) asking: ConsentServerArgs,
    /// How long a person has to decide, at the most: requests have deadlines of their own.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub(crate) wait: u64,
}

#[derive(Subcommand)]
pub(crate) enum McpCommand {
    /// Lists the MCP servers that a workspace declares for our own agent, and how each stands.
    #[command(after_help = "Example:\n  countersign mcp list --root ~/shop")]
    List(McpListArgs),
    /// Starts a declared server, shows what it is and what its tools say, and pins exactly that.
    #[command(after_help = "Examples:
  countersign mcp trust time
  countersign mcp trust time --root ~/shop --yes

Until then nothing of it is started or offered. When its command, its files, its address or what its
tools say of themselves change, it is not used until you trust it again.")]
    Trust(McpTrustArgs),
    /// Takes a consent back.
    #[command(after_help = "Example:\n  countersign mcp forget time")]
    Forget(McpForgetArgs),
}

/// Which workspace, and where consent is kept.
#[derive(Args)]
pub(crate) struct McpWorkspaceArgs {
    /// The workspace.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: PathBuf,
    /// The folder where trust is kept [default: the user's data folder].
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_DATA")]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct McpListArgs {
    #[command(flatten)]
    pub(crate) place: McpWorkspaceArgs,
    /// One JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct McpTrustArgs {
    /// The server, as `[mcp.NAME]` names it.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) place: McpWorkspaceArgs,
    /// Where it is looked at: `auto` in the best sandbox there is, `required` in a whole one or not at all,
    /// `off` without.
    #[arg(long, value_name = "WHEN", env = "COUNTERSIGN_SANDBOX", default_value = "auto")]
    pub(crate) sandbox: SandboxSwitch,
    /// Trusts without asking: you have read what is shown.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
pub(crate) struct McpForgetArgs {
    /// The server.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) place: McpWorkspaceArgs,
}
