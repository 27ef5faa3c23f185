//! `countersign doctor`: what is there on this machine, what guards Claude Code, what is wrong, and what
//! to do about it.

mod claude_code;

use std::net::{SocketAddr, TcpListener};

use countersign_gate::DatabaseUrl;
use serde_json::json;

use super::hook::settings_files;
use crate::cli::{DoctorArgs, SandboxSwitch};
use crate::commands::{sandbox, serve};
use crate::paint::Paint;
use crate::running_server::RunningServer;
use crate::{environment, output, record};

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Good,
    /// Good to know; nothing is wrong.
    Note,
    /// Something that matters is wrong.
    Wrong,
}

impl Mark {
    fn shown(self, paint: Paint) -> String {
        match self {
            Self::Good => paint.green("ok"),
            Self::Note => paint.yellow("--"),
            Self::Wrong => paint.red("!!"),
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Note => "note",
            Self::Wrong => "wrong",
        }
    }
}

/// What was found about one thing.
struct Finding {
    what: &'static str,
    mark: Mark,
    text: String,
}

impl Finding {
    fn new(what: &'static str, mark: Mark, text: impl Into<String>) -> Self {
        Self { what, mark, text: text.into() }
    }
}

/// Returns the exit code: 1 where something that matters is wrong.
pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<u8> {
    let data = args.records.data.as_deref();
    let runtime = serve::runtime()?;
    let found = runtime.block_on(sandbox::beside(SandboxSwitch::Auto, data))?;
    let database = record::database(data, args.records.database.as_deref())?;
    let running = RunningServer::find(data);
    let settings = settings_files::in_folder(&environment::working_folder()?);
    let level = found.level();
    let sandboxed = if level.holds() { Mark::Good } else { Mark::Note };
    let mut findings = vec![key(args), claude_code::version(args)];
    findings.extend(claude_code::guards(&settings, args));
    findings.push(runtime.block_on(claude_code::server(args, running.as_ref(), &settings)));
    findings.push(Finding::new("Sandbox", sandboxed, sandbox::worth(&found)));
    findings.push(kept(&database));
    findings.push(port(args.listen, running.as_ref()));
    show(&findings, args.json);
    let is_wrong = findings.iter().any(|finding| finding.mark == Mark::Wrong);
    Ok(u8::from(is_wrong))
}

fn show(findings: &[Finding], is_json: bool) {
    if is_json {
        let checks: Vec<_> = findings
            .iter()
            .map(|it| json!({"name": it.what, "state": it.mark.as_str(), "text": it.text}))
            .collect();
        let ok = findings.iter().all(|it| it.mark != Mark::Wrong);
        let version = env!("CARGO_PKG_VERSION");
        output::line(&json!({"ok": ok, "version": version, "checks": checks}).to_string());
        return;
    }
    let paint = Paint(output::is_coloured());
    for Finding { what, mark, text } in findings {
        output::line(&format!("{} {what:<12} {text}", mark.shown(paint)));
    }
}

fn key(args: &DoctorArgs) -> Finding {
    match args.api_key {
        Some(_) => Finding::new("Key", Mark::Good, "ANTHROPIC_API_KEY is set"),
        None => Finding::new(
            "Key",
            Mark::Note,
            "ANTHROPIC_API_KEY is not set: prompts fail until it is; `countersign demo` works",
        ),
    }
}

fn kept(database: &DatabaseUrl) -> Finding {
    let text = match database {
        DatabaseUrl::Sqlite(file) if !file.exists() => {
            format!("{database}, which the first start makes")
        }
        DatabaseUrl::Sqlite(_) | DatabaseUrl::Postgres(_) => database.to_string(),
    };
    Finding::new("Database", Mark::Good, text)
}

fn port(address: SocketAddr, running: Option<&RunningServer>) -> Finding {
    match TcpListener::bind(address) {
        Ok(_) => Finding::new("Port", Mark::Good, format!("{address} is free")),
        Err(_) if running.is_some_and(|it| it.url.ends_with(&format!(":{}", address.port()))) => {
            Finding::new("Port", Mark::Good, format!("{address} is held by the server above"))
        }
        Err(error) => Finding::new(
            "Port",
            Mark::Wrong,
            format!("{address} cannot be listened on: {error}; give another with --listen"),
        ),
    }
}
