//! `countersign doctor`: what is there on this machine, what is missing, and what to do about it.

use std::net::{SocketAddr, TcpListener};

use countersign_agent::ClaudeSetup;
use countersign_gate::DatabaseUrl;

use crate::cli::{DoctorArgs, SandboxSwitch};
use crate::commands::{sandbox, serve};
use crate::{environment, output, record};

pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<()> {
    let data = args.records.data.as_deref();
    let found = serve::runtime()?.block_on(sandbox::beside(SandboxSwitch::Auto, data))?;
    let database = record::database(data, args.records.database.as_deref())?;
    let rows = [
        ("Key", key(args)),
        ("Claude Code", claude(args)),
        ("Sandbox", sandbox::worth(&found)),
        ("Database", kept(&database)),
        ("Port", port(args.listen)),
    ];
    for (what, how) in rows {
        output::line(&format!("{what:<12} {how}"));
    }
    Ok(())
}

fn key(args: &DoctorArgs) -> String {
    match args.api_key {
        Some(_) => "ANTHROPIC_API_KEY is set".to_owned(),
        None => "ANTHROPIC_API_KEY is not set: prompts fail until it is; `countersign demo` works"
            .into(),
    }
}

fn claude(args: &DoctorArgs) -> String {
    let setup = ClaudeSetup { cli: args.claude.clone(), env: environment::for_claude() };
    setup.find().map_or_else(|why| why, |path| path.display().to_string())
}

fn kept(database: &DatabaseUrl) -> String {
    match database {
        DatabaseUrl::Sqlite(file) if file.exists() => database.to_string(),
        DatabaseUrl::Sqlite(_) => format!("{database}, which the first start makes"),
        DatabaseUrl::Postgres(_) => database.to_string(),
    }
}

fn port(address: SocketAddr) -> String {
    match TcpListener::bind(address) {
        Ok(_) => format!("{address} is free"),
        Err(error) => {
            format!("{address} cannot be listened on: {error}; give another with --listen")
        }
    }
}
