//! The command line: what can be said, with an example each.

mod approvals;
mod audit;
mod client;
mod hook;
mod login;
mod machine;
mod policy;
mod server_target;
mod token;
mod undo;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use countersign_gate::GateSettings;
use countersign_server::{HostName, PublicUrl};
use secrecy::SecretString;

pub(crate) use approvals::{
    ApprovalsApproveArgs, ApprovalsCommand, ApprovalsListArgs, ApprovalsRejectArgs,
    ApprovalsShowArgs,
};
pub(crate) use audit::{AuditCommand, AuditExportArgs, AuditVerifyArgs};
pub(crate) use client::{ApprovalsOption, ClientArgs};
pub(crate) use hook::{
    ConsentServerArgs, HookArgs, HookCommand, HookInstallArgs, HookSettingsArgs, HookUninstallArgs,
    McpArgs, McpCommand, McpForgetArgs, McpListArgs, McpTrustArgs, McpWorkspaceArgs,
    ProbeClaudeArgs,
};
pub(crate) use login::LoginArgs;
pub(crate) use machine::{DoctorArgs, SandboxExecArgs, SandboxSwitch};
pub(crate) use policy::{
    PolicyCheckArgs, PolicyCommand, PolicyExplainArgs, PolicySimulateArgs, PolicySourceArgs,
    PolicyTestArgs, PolicyTrustArgs,
};
pub(crate) use server_target::ServerTargetArgs;
pub(crate) use token::{TokenCommand, TokenCreateArgs, TokenListArgs, TokenRevokeArgs};
pub(crate) use undo::UndoArgs;

use crate::log_format::LogFormat;

/// The gate between AI agents and the machines they act on.
///
/// Countersign works out what each tool call would do, rates its risk and applies your rules. Where they
/// say so, a person sees the call first and approves or rejects exactly what will run.
#[derive(Parser)]
#[command(version, about, propagate_version = true, after_help = "Example:\n  countersign demo")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

#[derive(Subcommand)]
pub(crate) enum CliCommand {
    /// Start the server and its web page.
    #[command(after_help = "Example:\n  countersign serve --root ~/shop --open")]
    Serve(ServeArgs),
    /// Try Countersign without an API key: a scripted model works in a scratch workspace.
    #[command(after_help = "Example:\n  countersign demo")]
    Demo(DemoArgs),
    /// Run a server's approved calls on this machine, and ask for approval here.
    #[command(after_help = "Examples:
  countersign client --token-file ~/.countersign-agent --server http://127.0.0.1:4180 --root ~/shop
  countersign client --token-file ~/.countersign-agent --root . --json

Use a token with the role `agent` (`countersign token create --role agent --file …`) to run approved
calls here. To decide at this terminal as well, use a token with the role `approver`.

The tools are read_file, write_file, list_directory and execute_command. They reach only files below
--root, whatever the server says. A program you approve runs in this machine's sandbox. On a machine
without a sandbox it can do everything you can.")]
    Client(ClientArgs),
    /// Decide for Claude Code: read a hook event on stdin, write the decision to stdout.
    #[command(after_help = "Examples:
  countersign hook install
  countersign hook < event.json

The events are those of Claude Code's hooks. The hook answers PreToolUse and PermissionRequest, and passes
PostToolUse and PostToolUseFailure on to the server. What your rules allow or deny is answered at once,
without a server. For everything else the server asks a person. If it cannot, Claude Code asks you itself.")]
    Hook(HookArgs),
    /// Serve Claude Code's permission tool over stdio, or manage trusted MCP servers.
    #[command(after_help = "Example:
  claude -p 'tidy up' --permission-prompt-tool mcp__countersign__approve \\
    --mcp-config '{\"mcpServers\": {\"countersign\": {\"command\": \"countersign\", \"args\": [\"mcp\"]}}}'")]
    Mcp(McpArgs),
    /// Serve a scripted Messages API on loopback, for tests and demonstrations.
    #[command(
        after_help = "Example:\n  countersign model --scenario talk.toml --listen 127.0.0.1:9999"
    )]
    Model(ModelArgs),
    /// Check, explain, test and simulate rules.
    #[command(
        subcommand,
        after_help = "Example:\n  countersign policy explain -- 'git status && rm -rf build'"
    )]
    Policy(PolicyCommand),
    /// Create, list and revoke access tokens.
    #[command(
        subcommand,
        after_help = "Example:\n  countersign token create --role approver --name ana"
    )]
    Token(TokenCommand),
    /// Verify and export the audit log.
    #[command(subcommand, after_help = "Example:\n  countersign audit verify")]
    Audit(AuditCommand),
    /// List, show, approve and reject waiting requests in all workspaces of a server.
    #[command(subcommand, after_help = "Example:\n  countersign approvals list")]
    Approvals(ApprovalsCommand),
    /// Restore files to their state before a call or a whole run.
    #[command(after_help = "Examples:
  countersign undo
  countersign undo --run 01a1e402-59b7-749a-b9d7-ef9261dea722 --dry-run

The server on which the call ran restores the files; set COUNTERSIGN_TOKEN to reach it. A file that has
changed since is left alone. Changes that a command made to files it does not name cannot be undone.")]
    Undo(UndoArgs),
    /// Copy the database while the server keeps running.
    #[command(after_help = "Example:
  countersign backup countersign-backup.db

Calls that were waiting or running are ended in the copy, so that nothing runs a second time after a
restore. Back up PostgreSQL with its own tools; after restoring it, run
  countersign backup --settle --database postgres://countersign@db.example/countersign")]
    Backup(BackupArgs),
    /// Measure this machine and print one JSON line.
    ///
    /// This starts `countersign-bench`, which is built beside this program and not shipped with it.
    #[command(
        disable_help_flag = true,
        after_help = "Example:\n  countersign bench approval --n 2000 --c 32 --db /tmp/bench.db"
    )]
    Bench(BenchArgs),
    /// Print a new one-time sign-in link and its QR code for a running server.
    #[command(after_help = "Examples:
  countersign login
  countersign login --no-qr --data ~/gate-data

The link signs in one browser, once, and expires after ten minutes. The server is found through its data
folder, so only the user who runs it can get a link.")]
    Login(LoginArgs),
    /// Check the installation and what guards Claude Code; exit 1 if something important is wrong.
    #[command(after_help = "Examples:
  countersign doctor
  countersign doctor --json

Each line starts with `ok`, with `!!` for a problem, or with `--` for a remark.")]
    Doctor(DoctorArgs),
    /// Run Claude Code once without a network and see whether it calls the hook; `hook install` starts this.
    #[command(hide = true, after_help = "Example:\n  (`hook install` starts it)")]
    ProbeClaude(ProbeClaudeArgs),
    /// Become a command inside the sandbox; the sandbox starts this.
    #[command(hide = true, after_help = "Example:\n  (the sandbox starts it)")]
    SandboxExec(SandboxExecArgs),
    /// Run a command in its canonical form if it needs no approval; for tests.
    #[command(
        hide = true,
        after_help = "Example:\n  echo '{\"root\": \".\", \"command\": \"ls | head -3\"}' | countersign run-canonical"
    )]
    RunCanonical,
    /// Print the API description (OpenAPI 3.1, JSON).
    #[command(after_help = "Example:\n  countersign openapi > openapi.json")]
    Openapi,
}

/// Where the server keeps its things and where it listens.
#[derive(Args)]
pub(crate) struct ServerLocationArgs {
    /// The address to listen on; port 0 picks a free port.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:4180")]
    pub(crate) listen: SocketAddr,
    /// The data folder, which holds the database [default: the user's data folder].
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// An admin token for scripts, in place of the one-time sign-in link.
    #[arg(long, env = "COUNTERSIGN_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<SecretString>,
    /// How long a person has to decide, for every risk [default: 300 for MEDIUM, 600 for HIGH].
    #[arg(long, value_name = "SECONDS", env = "COUNTERSIGN_APPROVAL_TIMEOUT",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) approval_timeout: Option<u64>,
    /// How the log on stderr is written: `text` for people, `json` with one object per line.
    #[arg(long, value_name = "FORMAT", env = "COUNTERSIGN_LOG_FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,
}

/// Where the records are that a command looks at.
#[derive(Args)]
pub(crate) struct DatabaseArgs {
    /// The data folder, which holds the database [default: the user's data folder].
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// The database: `sqlite:PATH` or `postgres://…` [default: SQLite in the data folder].
    #[arg(long, value_name = "URL", env = "COUNTERSIGN_DATABASE", hide_env_values = true)]
    pub(crate) database: Option<String>,
}

#[derive(Args)]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    pub(crate) records: DatabaseArgs,
    /// The file to write; it must not exist yet.
    #[arg(value_name = "FILE", required_unless_present = "settle")]
    pub(crate) file: Option<PathBuf>,
    /// End waiting and running calls in a restored database, instead of copying it.
    #[arg(long, conflicts_with = "file")]
    pub(crate) settle: bool,
}

#[derive(Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) common: ServerLocationArgs,
    /// A workspace; repeat for several, the first is the default.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: Vec<PathBuf>,
    /// The database: `sqlite:PATH`, or `postgres://…` for several servers [default: SQLite in the data
    /// folder].
    #[arg(long, value_name = "URL", env = "COUNTERSIGN_DATABASE", hide_env_values = true)]
    pub(crate) database: Option<String>,
    /// What carries notifications between servers that share a PostgreSQL: `nats://HOST:PORT` [default:
    /// PostgreSQL itself].
    #[arg(long, value_name = "URL", env = "COUNTERSIGN_BUS", hide_env_values = true)]
    pub(crate) bus: Option<String>,
    /// How many requests may wait in one project at the same time.
    #[arg(long, value_name = "COUNT", env = "COUNTERSIGN_PENDING_LIMIT",
          default_value_t = GateSettings::PENDING_LIMIT, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) pending_limit: u64,
    /// How many days to keep the event log [default: forever].
    #[arg(long, value_name = "DAYS", env = "COUNTERSIGN_KEEP_EVENTS",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep_events: Option<u32>,
    /// The model, unless a prompt names another [default: claude-sonnet-4-20250514].
    #[arg(long, env = "COUNTERSIGN_MODEL")]
    pub(crate) model: Option<String>,
    /// Text to add to the system prompt of the server's own agent.
    #[arg(long, value_name = "TEXT", env = "COUNTERSIGN_SYSTEM_PROMPT")]
    pub(crate) system_prompt: Option<String>,
    /// The longest answer of the server's own agent, in tokens [default: 8192].
    #[arg(long, value_name = "COUNT", env = "COUNTERSIGN_MAX_TOKENS",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: Option<u32>,
    /// The Claude Code CLI [default: `claude` on the PATH, or where its installers put it].
    #[arg(long, value_name = "PATH", env = "COUNTERSIGN_CLAUDE")]
    pub(crate) claude: Option<PathBuf>,
    /// `true`: always ask people. `false`: ask nobody in runs that name no mode [default: ask people, unless a
    /// run chooses otherwise].
    #[arg(long, value_name = "BOOL", env = "TOOL_APPROVAL_ENABLED")]
    pub(crate) tool_approval_enabled: Option<bool>,
    /// Where commands run: `auto` uses the best sandbox of this machine, `required` refuses to run without a
    /// complete one, `off` uses none.
    #[arg(long, value_name = "WHEN", env = "COUNTERSIGN_SANDBOX", default_value = "auto")]
    pub(crate) sandbox: SandboxSwitch,
    /// Use the scripted demo model, in the workspace given by `--root`.
    #[arg(long)]
    pub(crate) demo: bool,
    /// Open the page in the browser.
    #[arg(long)]
    pub(crate) open: bool,
    /// The address at which people reach the page, for links and QR codes. Set it behind a proxy, with
    /// `https://…` if the proxy speaks TLS [default: the address to listen on].
    #[arg(long, value_name = "URL", env = "COUNTERSIGN_PUBLIC_URL")]
    pub(crate) public_url: Option<PublicUrl>,
    /// A host name to accept besides the server's addresses, such as mybox.local; repeat for several.
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<HostName>,
    /// The key for the Messages API.
    #[arg(long = "api-key", env = "ANTHROPIC_API_KEY", hide = true, hide_env_values = true)]
    pub(crate) api_key: Option<SecretString>,
    /// The base URL of the Messages API.
    #[arg(long = "base-url", env = "ANTHROPIC_BASE_URL", hide = true)]
    pub(crate) base_url: Option<String>,
}

#[derive(Args)]
pub(crate) struct DemoArgs {
    #[command(flatten)]
    pub(crate) common: ServerLocationArgs,
    /// Do not open the browser.
    #[arg(long)]
    pub(crate) no_open: bool,
}

#[derive(Args)]
pub(crate) struct ModelArgs {
    /// The address to listen on; port 0 picks a free port.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// The scenario to play.
    #[arg(long, value_name = "FILE", required_unless_present = "demo")]
    pub(crate) scenario: Option<PathBuf>,
    /// Play the built-in demo.
    #[arg(long, conflicts_with = "scenario")]
    pub(crate) demo: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound_and_every_command_shows_an_example() {
        let cli = Cli::command();
        cli.clone().debug_assert();
        let mut commands: Vec<_> = cli.get_subcommands().collect();
        while let Some(command) = commands.pop() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Example"), "`{}` shows none", command.get_name());
            commands.extend(command.get_subcommands());
        }
    }

    /// A command that is written down works as it is written: its name and every flag of it.
    #[test]
    fn every_documented_command_is_understood() {
        let mut found = 0;
        for paper in papers() {
            let text = std::fs::read_to_string(&paper).unwrap();
            let commands = text.lines().filter_map(|line| line.strip_prefix("$ "));
            for command in commands.filter_map(after_assignments) {
                let words = words(command);
                let words = words
                    .split(|word| [">", "|", "&", "#"].contains(&word.as_str()))
                    .next()
                    .unwrap();
                match Cli::try_parse_from(words) {
                    Ok(_) => found += 1,
                    Err(error) if !error.use_stderr() => found += 1,
                    Err(error) => panic!("{}: `{command}`: {error}", paper.display()),
                }
            }
        }
        assert!(found > 3, "the papers show how to use it");
    }

    /// Splits a command line at blanks that no single quotes hold together.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quoted = false;
        for c in line.chars() {
            match (c, words.last_mut()) {
                ('\'', _) => quoted = !quoted,
                (' ', _) if !quoted => words.push(String::new()),
                (c, Some(word)) => word.push(c),
                (_, None) => {}
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }

    /// Returns a command line of ours without the variables set before it.
    fn after_assignments(line: &str) -> Option<&str> {
        let start =
            line.split(' ').take_while(|word| word.contains('=')).map(|w| w.len() + 1).sum();
        let first_word = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        line.get(start..).filter(|command| first_word(command).ends_with("countersign"))
    }

    fn papers() -> Vec<PathBuf> {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let guide = std::fs::read_dir(root.join("docs/guide")).unwrap();
        let guide = guide.map(|page| page.unwrap().path());
        ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/policy.md"]
            .map(|paper| root.join(paper))
            .into_iter()
            .chain(guide)
            .collect()
    }
}

/// What the program that measures is told.
#[derive(Args)]
pub(crate) struct BenchArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORDS")]
    pub(crate) words: Vec<std::ffi::OsString>,
}
