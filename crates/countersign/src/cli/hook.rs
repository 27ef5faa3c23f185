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
    /// The token file [default: `COUNTERSIGN_TOKEN` from the environment, else the file `hook install` wrote].
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The token, from the environment only: everybody could read it on the command line.
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
    /// How long to wait for a person; Claude Code ends a hook after 600 seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 570)]
    pub(crate) wait: u64,
    /// Answer a `PermissionRequest` only with what a person has just decided on the same call: for use beside
    /// `PreToolUse`, which has already asked.
    #[arg(long)]
    pub(crate) again: bool,
}

#[derive(Subcommand)]
pub(crate) enum HookCommand {
    /// Add the hook to Claude Code's settings, after showing what changes.
    #[command(after_help = "Examples:
  countersign hook install
  countersign hook install --local --token-file ~/.countersign-agent --yes
  countersign hook install --project

The hook gets a token with the role `agent`, which submits calls and waits for decisions but cannot decide.
The token's file also holds the server's key, so that the hook never sends the token to another server.

Finally the hook is tested: through the shell, and by Claude Code itself if it is installed and bubblewrap
can keep it off the network. The previous settings are kept for `hook uninstall`.")]
    Install(HookInstallArgs),
    /// Restore Claude Code's settings; if others have changed them since, remove only our entries.
    #[command(after_help = "Example:\n  countersign hook uninstall --project")]
    Uninstall(HookUninstallArgs),
}

/// Which settings.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct HookSettingsArgs {
    /// Your settings for every project (`~/.claude/settings.json`); this is the default.
    #[arg(long, conflicts_with_all = ["project", "local"])]
    pub(crate) user: bool,
    /// The committed settings of the project in this folder (`.claude/settings.json`): they name `countersign`
    /// without a path, and each person uses their own token.
    #[arg(long, conflicts_with = "local")]
    pub(crate) project: bool,
    /// Your own settings for the project in this folder (`.claude/settings.local.json`).
    #[arg(long)]
    pub(crate) local: bool,
    /// Do not ask for confirmation.
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
    /// The token file [default: a new token with the role `agent`, in the data folder].
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The server's data folder, if it is not the usual one.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The server's database, if it is not in the data folder; the token is created there.
    #[arg(long, value_name = "URL", env = "COUNTERSIGN_DATABASE", hide_env_values = true)]
    pub(crate) database: Option<String>,
    /// Ask nobody while Claude Code bypasses its permissions; only denials and `ask` rules then apply. Without
    /// this flag, calls that need approval still ask.
    #[arg(long)]
    pub(crate) follow_bypass: bool,
    /// The Claude Code CLI to test the hook with [default: `claude` on the PATH, or where its installers put it].
    #[arg(long, value_name = "PATH", env = "COUNTERSIGN_CLAUDE")]
    pub(crate) claude: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct ProbeClaudeArgs {
    /// The Claude Code CLI.
    #[arg(long, value_name = "PATH")]
    pub(crate) claude: PathBuf,
    /// Whose settings it reads.
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
    /// The longest wait for a person; requests also have deadlines of their own.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub(crate) wait: u64,
}

#[derive(Subcommand)]
pub(crate) enum McpCommand {
    /// List the MCP servers that a workspace declares for Countersign's own agent, with their status.
    #[command(after_help = "Example:\n  countersign mcp list --root ~/shop")]
    List(McpListArgs),
    /// Start a declared server, show what it is and what its tools say, and pin exactly that.
    #[command(after_help = "Examples:
  countersign mcp trust time
  countersign mcp trust time --root ~/shop --yes

A server that you have not trusted is neither started nor offered. If its command, its files, its address
or the descriptions of its tools change, it is not used until you trust it again.")]
    Trust(McpTrustArgs),
    /// Stop trusting a server.
    #[command(after_help = "Example:\n  countersign mcp forget time")]
    Forget(McpForgetArgs),
}

/// Which workspace, and where consent is kept.
#[derive(Args)]
pub(crate) struct McpWorkspaceArgs {
    /// The workspace.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: PathBuf,
    /// The data folder, which records trust [default: the user's data folder].
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_DATA")]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct McpListArgs {
    #[command(flatten)]
    pub(crate) place: McpWorkspaceArgs,
    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct McpTrustArgs {
    /// The server's name, as in `[mcp.NAME]`.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) place: McpWorkspaceArgs,
    /// Where the server is started for inspection: `auto` uses the best sandbox of this machine, `required`
    /// refuses to run without a complete one, `off` uses none.
    #[arg(long, value_name = "WHEN", env = "COUNTERSIGN_SANDBOX", default_value = "auto")]
    pub(crate) sandbox: SandboxSwitch,
    /// Trust without asking; use it only after reading what is shown.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
pub(crate) struct McpForgetArgs {
    /// The server's name, as in `[mcp.NAME]`.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) place: McpWorkspaceArgs,
}
