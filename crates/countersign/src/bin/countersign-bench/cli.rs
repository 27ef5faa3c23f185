//! What can be measured.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Measures this machine; prints one line of JSON.
#[derive(Parser)]
#[command(name = "countersign bench", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) bench: BenchCommand,
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
    /// Very many event streams on one project: how soon all hear of a request, and what each costs the server.
    #[command(after_help = "Example:\n  countersign bench listeners --n 1000")]
    Listeners(BenchListenersArgs),
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
    /// A stream of messages and permission requests through the Rust SDK for the Claude Code CLI.
    #[command(after_help = "Example:\n  countersign bench sdk --cli ./plays-the-cli")]
    Sdk(BenchSdkArgs),
    /// Plays the Claude Code CLI for who measures an SDK.
    #[command(after_help = "Example:\n  countersign bench sdk-cli --messages 20000 --asks 500")]
    SdkCli(BenchSdkCliArgs),
    /// Glob or Grep on a folder, as an agent's call runs them.
    #[command(
        after_help = "Examples:\n  countersign bench search --root . --pattern '**/*.rs'\n  countersign bench search --root . --grep --pattern 'fn main'"
    )]
    Search(BenchSearchArgs),
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
pub(crate) struct BenchListenersArgs {
    /// How many streams.
    #[arg(long, default_value_t = 1000)]
    pub(crate) n: usize,
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

#[derive(Args)]
pub(crate) struct BenchSdkArgs {
    /// A program that runs `countersign bench sdk-cli`, whatever its arguments.
    #[arg(long, value_name = "FILE")]
    pub(crate) cli: PathBuf,
}

#[derive(Args)]
pub(crate) struct BenchSdkCliArgs {
    /// How many messages a prompt gets; with none, the requests come one after the other.
    #[arg(long, default_value_t = 20_000)]
    pub(crate) messages: usize,
    /// How many permission requests among them.
    #[arg(long, default_value_t = 500)]
    pub(crate) asks: usize,
}

#[derive(Args)]
pub(crate) struct BenchSearchArgs {
    /// The folder to search.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// What to look for: a pattern on paths, or with `--grep` on what is in files.
    #[arg(long)]
    pub(crate) pattern: String,
    /// Looks into files.
    #[arg(long)]
    pub(crate) grep: bool,
    /// How often.
    #[arg(long, default_value_t = 15)]
    pub(crate) rounds: usize,
}
