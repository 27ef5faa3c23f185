//! The binary: reads settings, wires the parts, offers the commands.
//!
//! The only place that reads the environment, prints or exits. Each command is a file in `commands/`;
//! this one only chooses among them and says what went wrong.

mod cli;
mod commands;
mod credential_file;
mod environment;
mod hint;
mod output;
mod paint;
mod record;
mod server_proof;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    environment::hide_from_children();
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Serve(serve) => commands::serve::run(serve),
        Command::Demo(demo) => commands::demo::run(demo),
        Command::Client(client) => commands::client::run(client),
        Command::Hook(hook) => commands::hook::run(&hook),
        Command::Mcp(mcp) => commands::mcp::run(mcp),
        Command::Model(model) => commands::model::run(&model),
        Command::Policy(policy) => commands::policy::run(policy),
        Command::Token(token) => commands::token::run(&token),
        Command::Audit(audit) => commands::audit::run(&audit),
        Command::Approvals(approvals) => commands::approvals::run(&approvals),
        Command::Undo(undo) => commands::undo::run(&undo),
        Command::Backup(backup) => commands::backup::run(&backup),
        Command::Bench(bench) => commands::bench::run(bench),
        Command::Doctor(doctor) => commands::doctor::run(&doctor),
        Command::SandboxExec(exec) => return exit_code(commands::sandbox::exec(&exec)),
        Command::RunCanonical => return exit_code(commands::run_canonical::run()),
        Command::Openapi => commands::openapi::run(),
    };
    exit_code(done.map(|()| 0))
}

/// Returns the exit code of a command; an error is told first.
fn exit_code(done: anyhow::Result<u8>) -> ExitCode {
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output::error(&error);
            ExitCode::FAILURE
        }
    }
}
