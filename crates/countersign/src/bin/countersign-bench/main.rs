//! `countersign-bench`: measures this machine, one JSON line per bench. Not part of the product.
//!
//! `countersign bench …` starts it from beside the product's own program.

mod approval;
mod bench_server;
mod cli;
mod diff;
mod listeners;
mod measurement;
mod open_file_limit;
mod pending;
mod policy;
mod sdk;
mod sdk_cli;
mod search;

use clap::Parser;

use crate::cli::{BenchCommand, Cli};

fn main() -> anyhow::Result<()> {
    match Cli::parse().bench {
        BenchCommand::Approval(args) => approval::run(&args),
        BenchCommand::Diff(args) => diff::run(&args),
        BenchCommand::Listeners(args) => listeners::run(&args),
        BenchCommand::Pending(args) => pending::run(&args),
        BenchCommand::Policy(args) => policy::run(&args),
        BenchCommand::Sdk(args) => sdk::run(&args),
        BenchCommand::SdkCli(args) => sdk_cli::run(&args),
        BenchCommand::Search(args) => search::run(&args),
    }
}

/// Returns the runtime that benches run on.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
