//! A probe: an event that the hook always denies, by which one sees that it is called at all.
//!
//! `hook install` first runs the command from the settings in a shell, as Claude Code does. Where the CLI
//! and bubblewrap are there, it then has Claude Code itself make the call: in a network namespace with
//! nothing but loopback, against a scripted model, so that nothing can leave the machine.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use countersign_agent::{Scenario, ScriptedModel};
use countersign_gate::SystemClock;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::claude_hook::event::ReceivedHookEvent;
use crate::claude_hook::settings_files::SettingsScope;
use crate::cli::ProbeClaudeArgs;
use crate::runtime::runtime;
use crate::user_process::{UserProcess, find_program};
use crate::{environment, output};

/// How the file is called that a probe wants to read; there is none of that name.
const NAME: &str = "countersign-probe-";

/// How long the shell, and Claude Code, may take.
const SHELL_TIME: Duration = Duration::from_secs(20);
const CLAUDE_TIME: Duration = Duration::from_secs(90);

/// What would make Claude Code talk to somebody else than our model.
const UNSET: [&str; 9] = [
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "http_proxy",
    "https_proxy",
    "ALL_PROXY",
];

/// Returns the denial that a probe gets; none for any other call.
pub(crate) fn answer_to(event: &ReceivedHookEvent<'_>) -> Option<String> {
    if event.tool_name != "Read" {
        return None;
    }
    let input = event.input().ok()?;
    let file = input.get("file_path")?.as_str()?.rsplit('/').next()?;
    let nonce = file.strip_prefix(NAME)?;
    let is_nonce = nonce.len() == 32 && nonce.chars().all(|c| c.is_ascii_hexdigit());
    is_nonce.then(|| reason(nonce))
}

fn reason(nonce: &str) -> String {
    format!("Countersign {} answers probe {nonce}", env!("CARGO_PKG_VERSION"))
}

fn nonce() -> String {
    Uuid::now_v7().simple().to_string()
}

/// Runs the command of the settings as Claude Code would; the error says why it is not ours that answers.
/// Returns the version of the hook that did.
pub(crate) fn run_by_shell(command: &str, project: &Path) -> Result<String, String> {
    let nonce = nonce();
    let event = json!({
        "session_id": "countersign-probe", "cwd": project, "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_use_id": "countersign-probe",
        "tool_input": {"file_path": format!("/{NAME}{nonce}")},
    });
    let child = UserProcess {
        program: Path::new("/bin/sh"),
        args: vec!["-c".into(), command.into()],
        cwd: project,
        set: vec![("CLAUDE_PROJECT_DIR", project.display().to_string())],
        unset: &[],
        stdin: event.to_string(),
        time: SHELL_TIME,
    };
    let output = child.output()?;
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let said =
        answer.pointer("/hookSpecificOutput/permissionDecisionReason").and_then(Value::as_str);
    let words: Vec<_> = said.unwrap_or_default().split(' ').collect();
    match words.as_slice() {
        ["Countersign", version, "answers", "probe", answered] if *answered == nonce => {
            Ok((*version).to_owned())
        }
        _ => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let first = stderr.lines().next().or(said).unwrap_or("it said nothing");
            Err(format!("the hook does not answer: {first}"))
        }
    }
}

/// What is known of Claude Code itself.
pub(crate) enum ClaudeProof {
    /// It has called the hook.
    Called,
    /// It could not be tried, for this reason.
    NotTried(String),
    /// It ran, and has not called it.
    NotCalled(String),
}

/// Has Claude Code make a call where it can reach nothing but us, and looks whether the hook answers.
pub(crate) fn run_by_claude(cli: &Path, scope: SettingsScope, project: &Path) -> ClaudeProof {
    let Some(bwrap) = find_program("bwrap") else {
        return ClaudeProof::NotTried("bubblewrap is not installed".to_owned());
    };
    let Ok(program) = environment::own_program() else {
        return ClaudeProof::NotTried("where this program lies is not known".to_owned());
    };
    let words = ["--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", "--"];
    let mut args: Vec<OsString> = words.iter().map(OsString::from).collect();
    args.push(program.into_os_string());
    args.extend(["probe-claude", "--claude"].iter().map(OsString::from));
    args.push(cli.as_os_str().to_owned());
    args.extend(["--source".to_owned(), scope.to_string()].iter().map(OsString::from));
    let child = UserProcess {
        program: &bwrap,
        args,
        cwd: project,
        set: Vec::new(),
        unset: &UNSET,
        stdin: String::new(),
        time: CLAUDE_TIME,
    };
    let output = match child.output() {
        Ok(output) => output,
        Err(why) => return ClaudeProof::NotTried(why),
    };
    let said: Option<HookProbeResult> = serde_json::from_slice(&output.stdout).ok();
    match said {
        Some(HookProbeResult { called: true, .. }) => ClaudeProof::Called,
        Some(HookProbeResult { why, .. }) => ClaudeProof::NotCalled(why),
        None => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let why = stderr.lines().next().unwrap_or("it ended without a word");
            ClaudeProof::NotTried(why.to_owned())
        }
    }
}

/// What the probe inside the namespace found.
#[derive(serde::Deserialize, serde::Serialize)]
struct HookProbeResult {
    called: bool,
    why: String,
}

/// `countersign probe-claude`: plays the model for one run of Claude Code, and says what came of it.
pub(crate) fn probe_inside(args: &ProbeClaudeArgs) -> anyhow::Result<()> {
    let nonce = nonce();
    let runtime = runtime()?;
    let stop = CancellationToken::new();
    let _ending = stop.clone().drop_guard();
    let url = runtime.block_on(serve_model(&nonce, stop))?;
    let source = format!("--setting-sources={}", args.source);
    let words =
        ["--print", "--output-format=json", "--strict-mcp-config", "--no-session-persistence"];
    let words = words.into_iter().chain([source.as_str(), "--", "probe"]);
    let cli_args = words.map(OsString::from).collect();
    let cwd = environment::working_folder()?;
    let child = UserProcess {
        program: &args.claude,
        args: cli_args,
        cwd: &cwd,
        set: vec![
            ("ANTHROPIC_API_KEY", "opens-nothing".to_owned()),
            ("ANTHROPIC_BASE_URL", url),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ],
        unset: &UNSET,
        stdin: String::new(),
        time: CLAUDE_TIME,
    };
    let ended = child.output().map_err(|why| anyhow::anyhow!("{why}"))?;
    let said = String::from_utf8_lossy(&ended.stdout);
    if said.trim().is_empty() {
        let stderr = String::from_utf8_lossy(&ended.stderr);
        bail!("Claude Code said nothing: {}", stderr.lines().next().unwrap_or_default());
    }
    let called = said.contains(&reason(&nonce));
    let why = if called { String::new() } else { "Claude Code made a call without it".to_owned() };
    output::line(&serde_json::to_string(&HookProbeResult { called, why })?);
    Ok(())
}

/// Serves a model that has Claude Code read the probe's file, and repeats what it is told.
async fn serve_model(nonce: &str, stop: CancellationToken) -> anyhow::Result<String> {
    let scenario = format!(
        "[[script]]\n[[script.turn]]\ncall = {{ tool = \"Read\", input = {{ file_path = \
         \"/{NAME}{nonce}\" }} }}\n[[script.turn]]\nsay = \"It said: {{{{result}}}}\"\n"
    );
    let model = ScriptedModel::new(Scenario::parse(&scenario)?, Arc::new(SystemClock));
    let listener = TcpListener::bind("127.0.0.1:0").await.context("there is no loopback")?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { model.serve(listener, stop).await });
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_probe_is_answered_as_one_and_always_with_no() {
        let answer = |tool: &str, file: &str| {
            let event = json!({
                "hook_event_name": "PreToolUse", "tool_name": tool,
                "tool_input": {"file_path": file},
            });
            answer_to(&ReceivedHookEvent::read(&event.to_string()).unwrap())
        };
        let nonce = "0123456789abcdef0123456789abcdef";
        assert_eq!(answer("Read", &format!("/{NAME}{nonce}")), Some(reason(nonce)));
        assert_eq!(answer("Write", &format!("/{NAME}{nonce}")), None);
        assert_eq!(answer("Read", &format!("/{NAME}{nonce}/x")), None);
        assert_eq!(answer("Read", &format!("/{NAME}0")), None);
        assert_eq!(answer("Read", "a.txt"), None);
    }
}
