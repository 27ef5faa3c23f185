//! `countersign doctor`: what is there on this machine, what guards Claude Code, what is wrong, and what
//! to do about it.

mod claude_code;

use std::net::{SocketAddr, TcpListener};

use countersign_gate::DatabaseUrl;
use serde_json::json;

use crate::claude_hook::settings_files;
use crate::cli::{DoctorArgs, SandboxSwitch};
use crate::commands::sandbox;
use crate::running_server::RunningServer;
use crate::runtime::runtime;
use crate::terminal::TerminalColors;
use crate::{data_paths, environment, output};

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DoctorMark {
    Good,
    /// Good to know; nothing is wrong.
    Note,
    /// Something that matters is wrong.
    Wrong,
}

impl DoctorMark {
    fn shown(self, paint: TerminalColors) -> String {
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
struct DoctorFinding {
    what: &'static str,
    mark: DoctorMark,
    text: String,
}

impl DoctorFinding {
    fn new(what: &'static str, mark: DoctorMark, text: impl Into<String>) -> Self {
        Self { what, mark, text: text.into() }
    }
}

/// Returns the exit code: 1 where something that matters is wrong.
pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<u8> {
    let data = args.records.data.as_deref();
    let runtime = runtime()?;
    let found = runtime.block_on(sandbox::probe_beside_server(SandboxSwitch::Auto, data))?;
    let database = data_paths::database(data, args.records.database.as_deref())?;
    let running = RunningServer::find(data);
    let settings = settings_files::read_settings_files(&environment::working_folder()?);
    let level = found.level();
    let sandboxed = if level.holds() { DoctorMark::Good } else { DoctorMark::Note };
    let mut findings = vec![key(args), claude_code::version(args)];
    findings.extend(claude_code::guards(&settings, args));
    findings.push(runtime.block_on(claude_code::server(args, running.as_ref(), &settings)));
    findings.push(DoctorFinding::new("Sandbox", sandboxed, sandbox::describe_level(&found)));
    findings.push(kept(&database));
    findings.push(port(args.listen, running.as_ref()));
    show(&findings, args.json);
    let is_wrong = findings.iter().any(|finding| finding.mark == DoctorMark::Wrong);
    Ok(u8::from(is_wrong))
}

fn show(findings: &[DoctorFinding], is_json: bool) {
    if is_json {
        let checks: Vec<_> = findings
            .iter()
            .map(|it| json!({"name": it.what, "state": it.mark.as_str(), "text": it.text}))
            .collect();
        let ok = findings.iter().all(|it| it.mark != DoctorMark::Wrong);
        let version = env!("CARGO_PKG_VERSION");
        output::line(&json!({"ok": ok, "version": version, "checks": checks}).to_string());
        return;
    }
    let paint = TerminalColors(output::is_coloured());
    for DoctorFinding { what, mark, text } in findings {
        output::line(&format!("{} {what:<12} {text}", mark.shown(paint)));
    }
}

fn key(args: &DoctorArgs) -> DoctorFinding {
    match args.api_key {
        Some(_) => DoctorFinding::new("Key", DoctorMark::Good, "ANTHROPIC_API_KEY is set"),
        None => DoctorFinding::new(
            "Key",
            DoctorMark::Note,
            "ANTHROPIC_API_KEY is not set: prompts fail until it is; `countersign demo` works",
        ),
    }
}

fn kept(database: &DatabaseUrl) -> DoctorFinding {
    let text = match database {
        DatabaseUrl::Sqlite(file) if !file.exists() => {
            format!("{database}, which the first start makes")
        }
        DatabaseUrl::Sqlite(_) | DatabaseUrl::Postgres(_) => database.to_string(),
    };
    DoctorFinding::new("Database", DoctorMark::Good, text)
}

fn port(address: SocketAddr, running: Option<&RunningServer>) -> DoctorFinding {
    match TcpListener::bind(address) {
        Ok(_) => DoctorFinding::new("Port", DoctorMark::Good, format!("{address} is free")),
        Err(_) if running.is_some_and(|it| it.url.ends_with(&format!(":{}", address.port()))) => {
            DoctorFinding::new(
                "Port",
                DoctorMark::Good,
                format!("{address} is held by the server above"),
            )
        }
        Err(error) => DoctorFinding::new(
            "Port",
            DoctorMark::Wrong,
            format!("{address} cannot be listened on: {error}; give another with --listen"),
        ),
    }
}
