//! The binary: reads settings, wires the parts, offers the commands.
//!
//! The only place that reads the environment, prints or exits. Each command is a file in `commands/`;
//! this one only chooses among them and says what went wrong.

mod claude_hook;
mod cli;
mod commands;
mod consent_setup;
mod data_paths;
mod environment;
mod hint;
mod log_format;
mod log_setup;
mod metrics_setup;
mod output;
mod running_server;
mod runtime;
mod server_target;
mod terminal;
mod token_store;
mod user_process;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, CliCommand};

fn main() -> ExitCode {
    environment::hide_from_children();
    let cli = Cli::parse();
    let done = match cli.command {
        CliCommand::Serve(serve) => commands::serve::run(serve),
        CliCommand::Demo(demo) => commands::demo::run(demo),
        CliCommand::Client(client) => commands::client::run(client),
        CliCommand::Hook(hook) => commands::hook::run(&hook),
        CliCommand::Mcp(mcp) => commands::mcp::run(mcp),
        CliCommand::Model(model) => commands::model::run(&model),
        CliCommand::Policy(policy) => commands::policy::run(policy),
        CliCommand::Token(token) => commands::token::run(&token),
        CliCommand::Audit(audit) => commands::audit::run(&audit),
        CliCommand::Approvals(approvals) => commands::approvals::run(&approvals),
        CliCommand::Undo(undo) => commands::undo::run(&undo),
        CliCommand::Backup(backup) => commands::backup::run(&backup),
        CliCommand::Bench(bench) => commands::bench::run(&bench),
        CliCommand::Login(login) => commands::login::run(&login),
        CliCommand::Doctor(doctor) => return exit_code(commands::doctor::run(&doctor)),
        CliCommand::ProbeClaude(probe) => claude_hook::probe::probe_inside(&probe),
        CliCommand::SandboxExec(exec) => return exit_code(commands::sandbox::exec(&exec)),
        CliCommand::RunCanonical => return exit_code(commands::run_canonical::run()),
        CliCommand::Openapi => commands::openapi::run(),
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
