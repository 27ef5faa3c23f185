//! The command line: what can be said, with an example each.

mod approvals;
mod audit;
mod bench;
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
pub(crate) use bench::{
    BenchApprovalArgs, BenchCommand, BenchDiffArgs, BenchListenersArgs, BenchPendingArgs,
    BenchPolicyArgs, BenchSdkArgs, BenchSdkCliArgs, BenchSearchArgs,
};
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

/// The gate between AI agents and the machines they act on.
///
/// Every tool call an agent makes is understood, rated, and where needed shown to a person, who
/// approves or rejects exactly what will run.
#[derive(Parser)]
#[command(version, about, propagate_version = true, after_help = "Example:\n  countersign demo")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

#[derive(Subcommand)]
pub(crate) enum CliCommand {
    /// Starts the server and its page.
    #[command(after_help = "Example:\n  countersign serve --root ~/shop --open")]
    Serve(ServeArgs),
    /// Shows the product without an API key: a scripted model in a scratch workspace.
    #[command(after_help = "Example:\n  countersign demo")]
    Demo(DemoArgs),
    /// Executes what a server has approved, on this machine, and asks here.
    #[command(after_help = "Examples:
  countersign client --token-file ~/.countersign-agent --server http://127.0.0.1:4180 --root ~/shop
  countersign client --token-file ~/.countersign-agent --root . --json

The token is one of the role `agent` (`countersign token create --role agent --file …`): with it calls
that were approved run here. To decide at this terminal as well, use one of the role `approver`.

The tools are read_file, write_file, list_directory and execute_command. Files are reached below --root
only, whatever the server says. A program that you approve runs in the sandbox of this machine; where there
is none it can do what you can.")]
    Client(ClientArgs),
    /// Answers for Claude Code: reads what it is about to do on stdin, says whether it may on stdout.
    #[command(after_help = "Examples:
  countersign hook install
  countersign hook < event.json

Events are those of Claude Code's hooks: PreToolUse and PermissionRequest are answered, PostToolUse and
PostToolUseFailure are passed on to the server. What the rules allow or deny is answered at once,
without a server; for the rest a person is asked there. If that cannot be done, Claude Code asks.")]
    Hook(HookArgs),
    /// Serves the permission tool of Claude Code over stdio; and `mcp list`, `trust`, `forget`.
    #[command(after_help = "Example:
  claude -p 'tidy up' --permission-prompt-tool mcp__countersign__approve \\
    --mcp-config '{\"mcpServers\": {\"countersign\": {\"command\": \"countersign\", \"args\": [\"mcp\"]}}}'")]
    Mcp(McpArgs),
    /// Serves a scripted Messages API on loopback, for tests and demonstrations.
    #[command(
        after_help = "Example:\n  countersign model --scenario talk.toml --listen 127.0.0.1:9999"
    )]
    Model(ModelArgs),
    /// Says what the rules say: of one call, of many, and whether they say what they should.
    #[command(
        subcommand,
        after_help = "Example:\n  countersign policy explain -- 'git status && rm -rf build'"
    )]
    Policy(PolicyCommand),
    /// Makes, lists and revokes the tokens that open the server's door.
    #[command(
        subcommand,
        after_help = "Example:\n  countersign token create --role approver --name ana"
    )]
    Token(TokenCommand),
    /// Checks and prints what was decided and what ran.
    #[command(subcommand, after_help = "Example:\n  countersign audit verify")]
    Audit(AuditCommand),
    /// Lists, shows and decides the requests that wait, of all workspaces of a server.
    #[command(subcommand, after_help = "Example:\n  countersign approvals list")]
    Approvals(ApprovalsCommand),
    /// Puts files back to what they were before a call, or before a whole run.
    #[command(after_help = "Examples:
  countersign undo
  countersign undo --run 01a1e402-59b7-749a-b9d7-ef9261dea722 --dry-run

The server does it, where the call ran; COUNTERSIGN_TOKEN opens its door. A file that was changed since
is left alone. What a command changed beyond the files that it names is not kept.")]
    Undo(UndoArgs),
    /// Writes a copy of the database while the server goes on.
    #[command(after_help = "Example:
  countersign backup countersign-backup.db

In the copy, what was waiting or running is ended, so that nothing runs a second time when it is put
back. A PostgreSQL is backed up with its own tools; after putting it back, say
  countersign backup --settle --database postgres://countersign@db.example/countersign")]
    Backup(BackupArgs),
    /// Measures this machine; prints one JSON line.
    #[command(
        subcommand,
        after_help = "Example:\n  countersign bench approval --n 2000 --c 32 --db /tmp/bench.db"
    )]
    Bench(BenchCommand),
    /// Prints a fresh one-time sign-in link and its QR code, while the server runs.
    #[command(after_help = "Examples:
  countersign login
  countersign login --no-qr --data ~/gate-data

The link signs one browser in, once, within ten minutes. The server is found by its data folder; only its
own user can read what opens its door.")]
    Login(LoginArgs),
    /// Says what is there, what guards Claude Code and what is wrong; fails if something that matters is.
    #[command(after_help = "Examples:
  countersign doctor
  countersign doctor --json

Each line has a mark: `ok`, `!!` for what is wrong, `--` for what is only good to know.")]
    Doctor(DoctorArgs),
    /// Runs Claude Code once where there is no network, to see that it calls the hook; `hook install` starts this.
    #[command(hide = true, after_help = "Example:\n  (`hook install` starts it)")]
    ProbeClaude(ProbeClaudeArgs),
    /// Becomes a command inside the sandbox, which starts this; not for calling by hand.
    #[command(hide = true, after_help = "Example:\n  (the sandbox starts it)")]
    SandboxExec(SandboxExecArgs),
    /// Runs a command in its canonical form, if nobody would be asked about it; for tests.
    #[command(
        hide = true,
        after_help = "Example:\n  echo '{\"root\": \".\", \"command\": \"ls | head -3\"}' | countersign run-canonical"
    )]
    RunCanonical,
    /// Prints the description of the API (OpenAPI 3.1, JSON).
    #[command(after_help = "Example:\n  countersign openapi > openapi.json")]
    Openapi,
}

/// Where the server keeps its things and where it listens.
#[derive(Args)]
pub(crate) struct ServerLocationArgs {
    /// The address to listen on; port 0 takes a free one.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:4180")]
    pub(crate) listen: SocketAddr,
    /// The folder for the database [default: the user's data folder].
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// An admin token for scripts, instead of the one-time sign-in link.
    #[arg(long, env = "COUNTERSIGN_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<SecretString>,
    /// How long a person has to decide, for all risks [default: 300 MEDIUM, 600 HIGH].
    #[arg(long, value_name = "SECONDS", env = "COUNTERSIGN_APPROVAL_TIMEOUT",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) approval_timeout: Option<u64>,
}

/// Where the records are that a command looks at.
#[derive(Args)]
pub(crate) struct DatabaseArgs {
    /// The folder of the database [default: the user's data folder].
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
    /// The file to write; it must not be there yet.
    #[arg(value_name = "FILE", required_unless_present = "settle")]
    pub(crate) file: Option<PathBuf>,
    /// Ends what waits or runs in a database that was put back, instead of copying it.
    #[arg(long, conflicts_with = "file")]
    pub(crate) settle: bool,
}

#[derive(Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) common: ServerLocationArgs,
    /// A workspace; may be given several times, the first one is the default.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: Vec<PathBuf>,
    /// The database: `sqlite:PATH`, or `postgres://…` for several servers [default: SQLite in the data
    /// folder].
    #[arg(long, value_name = "URL", env = "COUNTERSIGN_DATABASE", hide_env_values = true)]
    pub(crate) database: Option<String>,
    /// What carries news between servers on one PostgreSQL: `nats://HOST:PORT` [default: PostgreSQL].
    #[arg(long, value_name = "URL", env = "COUNTERSIGN_BUS", hide_env_values = true)]
    pub(crate) bus: Option<String>,
    /// How many requests of one project may wait at the same time.
    #[arg(long, value_name = "COUNT", env = "COUNTERSIGN_PENDING_LIMIT",
          default_value_t = GateSettings::PENDING_LIMIT, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) pending_limit: u64,
    /// For how many days the log of events is kept [default: for good].
    #[arg(long, value_name = "DAYS", env = "COUNTERSIGN_KEEP_EVENTS",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep_events: Option<u32>,
    /// The model unless a prompt names another [default: claude-sonnet-4-20250514].
    #[arg(long, env = "COUNTERSIGN_MODEL")]
    pub(crate) model: Option<String>,
    /// Added to the system prompt of the server's own agent.
    #[arg(long, value_name = "TEXT", env = "COUNTERSIGN_SYSTEM_PROMPT")]
    pub(crate) system_prompt: Option<String>,
    /// How many tokens one answer of the server's own agent may have [default: 8192].
    #[arg(long, value_name = "COUNT", env = "COUNTERSIGN_MAX_TOKENS",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: Option<u32>,
    /// The Claude Code CLI [default: `claude` on the path, or where installers put it].
    #[arg(long, value_name = "PATH", env = "COUNTERSIGN_CLAUDE")]
    pub(crate) claude: Option<PathBuf>,
    /// `true`: people are asked, always. `false`: runs that name no mode ask nobody [default: people are
    /// asked, unless a run chooses otherwise].
    #[arg(long, value_name = "BOOL", env = "TOOL_APPROVAL_ENABLED")]
    pub(crate) tool_approval_enabled: Option<bool>,
    /// Where commands run: `auto` in the best sandbox there is, `required` in a whole one or not at all,
    /// `off` without.
    #[arg(long, value_name = "WHEN", env = "COUNTERSIGN_SANDBOX", default_value = "auto")]
    pub(crate) sandbox: SandboxSwitch,
    /// Answers with the scripted demo model, in the workspace given by `--root`.
    #[arg(long)]
    pub(crate) demo: bool,
    /// Opens the page in the browser.
    #[arg(long)]
    pub(crate) open: bool,
    /// How people reach the page, where that is not the address it listens on: links and QR codes lead
    /// there. `https://…` where a proxy in front of it speaks TLS.
    #[arg(long, value_name = "URL", env = "COUNTERSIGN_PUBLIC_URL")]
    pub(crate) public_url: Option<PublicUrl>,
    /// A name that the server answers to beside its addresses, such as mybox.local; may be given several
    /// times.
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<HostName>,
    /// The key for the Messages API.
    #[arg(long = "api-key", env = "ANTHROPIC_API_KEY", hide = true, hide_env_values = true)]
    pub(crate) api_key: Option<SecretString>,
    /// Where the Messages API is.
    #[arg(long = "base-url", env = "ANTHROPIC_BASE_URL", hide = true)]
    pub(crate) base_url: Option<String>,
}

#[derive(Args)]
pub(crate) struct DemoArgs {
    #[command(flatten)]
    pub(crate) common: ServerLocationArgs,
    /// Does not open the browser.
    #[arg(long)]
    pub(crate) no_open: bool,
}

#[derive(Args)]
pub(crate) struct ModelArgs {
    /// The address to listen on; port 0 takes a free one.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// The scenario to play.
    #[arg(long, value_name = "FILE", required_unless_present = "demo")]
    pub(crate) scenario: Option<PathBuf>,
    /// Plays the built-in demo.
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
