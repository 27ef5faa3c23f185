//! The command line: what can be said, with an example each.

mod audit;
mod policy;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use countersign_gate::Settings;
use secrecy::SecretString;

pub(crate) use audit::{AuditCommand, AuditExportArgs, AuditVerifyArgs};
pub(crate) use policy::{
    PolicyCheckArgs, PolicyCommand, PolicyExplainArgs, PolicySimulateArgs, PolicyTestArgs,
    PolicyTrustArgs, Rulings,
};

/// The gate between AI agents and the machines they act on.
///
/// Every tool call an agent makes is understood, rated, and where needed shown to a person, who
/// approves or rejects exactly what will run.
#[derive(Parser)]
#[command(version, about, propagate_version = true, after_help = "Example:\n  countersign demo")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Starts the server and its page.
    #[command(after_help = "Example:\n  countersign serve --root ~/shop --open")]
    Serve(ServeArgs),
    /// Shows the product without an API key: a scripted model in a scratch workspace.
    #[command(after_help = "Example:\n  countersign demo")]
    Demo(DemoArgs),
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
    /// Checks and prints what was decided and what ran.
    #[command(subcommand, after_help = "Example:\n  countersign audit verify")]
    Audit(AuditCommand),
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
    /// Prints the description of the API (OpenAPI 3.1, JSON).
    #[command(after_help = "Example:\n  countersign openapi > openapi.json")]
    Openapi,
}

/// Where the server keeps its things and where it listens.
#[derive(Args)]
pub(crate) struct Common {
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
pub(crate) struct Records {
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
    pub(crate) records: Records,
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
    pub(crate) common: Common,
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
          default_value_t = Settings::PENDING_LIMIT, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) pending_limit: u64,
    /// For how many days the log of events is kept [default: for good].
    #[arg(long, value_name = "DAYS", env = "COUNTERSIGN_KEEP_EVENTS",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep_events: Option<u32>,
    /// The model unless a prompt names another [default: claude-sonnet-4-20250514].
    #[arg(long, env = "COUNTERSIGN_MODEL")]
    pub(crate) model: Option<String>,
    /// Answers with the scripted demo model, in the workspace given by `--root`.
    #[arg(long)]
    pub(crate) demo: bool,
    /// Opens the page in the browser.
    #[arg(long)]
    pub(crate) open: bool,
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
    pub(crate) common: Common,
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

#[derive(Subcommand)]
pub(crate) enum BenchCommand {
    /// Calls through the gate, each durably asked for, approved, started and finished.
    #[command(
        after_help = "Example:\n  countersign bench approval --n 2000 --c 32 --db /tmp/bench.db"
    )]
    Approval(BenchApprovalArgs),
    /// Very many requests that wait: how soon a restarted server is ready, and the first page of them.
    #[command(after_help = "Example:\n  countersign bench pending --n 100000 --db /tmp/bench.db")]
    Pending(BenchPendingArgs),
    /// The preview of a change: reads two files and makes their diff.
    #[command(
        after_help = "Example:\n  countersign bench diff --old a.txt --new b.txt --rounds 20"
    )]
    Diff(BenchDiffArgs),
    /// The verdict on a call: reading it and holding it against the rules.
    #[command(
        after_help = "Examples:\n  countersign bench policy\n  countersign bench policy --rules rules.toml --calls calls.jsonl --rounds 20"
    )]
    Policy(BenchPolicyArgs),
}

#[derive(Args)]
pub(crate) struct BenchApprovalArgs {
    /// How many calls.
    #[arg(long, default_value_t = 1000)]
    pub(crate) n: usize,
    /// How many at the same time.
    #[arg(long, default_value_t = 1)]
    pub(crate) c: usize,
    /// The database: a file, `sqlite:PATH` or `postgres://…`; it is kept.
    #[arg(long, value_name = "FILE")]
    pub(crate) db: String,
    /// Measures what the disk allows instead: as many rows of the same size, written bare.
    #[arg(long)]
    pub(crate) floor: bool,
}

#[derive(Args)]
pub(crate) struct BenchPendingArgs {
    /// How many requests; 0 takes those that are there.
    #[arg(long, default_value_t = 100_000)]
    pub(crate) n: usize,
    /// The database: a file, `sqlite:PATH` or `postgres://…`; it is kept.
    #[arg(long, value_name = "FILE")]
    pub(crate) db: String,
}

#[derive(Args)]
pub(crate) struct BenchDiffArgs {
    /// The file as it is.
    #[arg(long, value_name = "FILE")]
    pub(crate) old: PathBuf,
    /// The file as it will be.
    #[arg(long, value_name = "FILE")]
    pub(crate) new: PathBuf,
    /// How often.
    #[arg(long, default_value_t = 20)]
    pub(crate) rounds: usize,
}

#[derive(Args)]
pub(crate) struct BenchPolicyArgs {
    /// The rules [default: 200 made up ones].
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// The calls, one `{"tool", "input"}` per line [default: one typical command].
    #[arg(long, value_name = "FILE")]
    pub(crate) calls: Option<PathBuf>,
    /// How often.
    #[arg(long, default_value_t = 2_000)]
    pub(crate) rounds: usize,
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
