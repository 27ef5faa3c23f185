//! What the client tells about itself: one line per step, for people or for programs.

use std::time::Duration;

use countersign_core::{ApprovalId, ExecutionId};
use countersign_tools::escape_to_line;
use serde_json::{Value, json};

use super::server_event::ClientRoleNotice;
use crate::terminal_colors::TerminalColors;

/// One thing that happened.
#[derive(Debug)]
pub(super) enum ClientEvent {
    Connected {
        server: String,
        project: String,
        root: String,
        /// What it is worth here.
        sandbox: String,
        client: String,
        asks: bool,
    },
    ConnectedAgain,
    /// What this client is to the project's calls.
    Role(ClientRoleNotice),
    Lost {
        why: String,
        /// Whether there was a connection to lose.
        was_there: bool,
    },
    /// Something that needs a person's eye.
    Warning(String),
    /// A request that is left to others.
    Waits {
        id: ApprovalId,
        sentence: String,
        why: &'static str,
    },
    /// A request that needs nobody any more.
    Settled {
        id: ApprovalId,
        sentence: String,
        status: String,
        by: Option<String>,
    },
    Started(CallLabel),
    StillRuns {
        step: CallLabel,
        time: Duration,
        bytes: usize,
    },
    Finished {
        step: CallLabel,
        ended: CallCompletion,
    },
    /// The server did not take a result.
    ResultRefused {
        step: CallLabel,
        why: String,
    },
    /// Not run, or stopped on the way.
    Stopped {
        step: CallLabel,
        why: String,
    },
    Stopping {
        running: usize,
    },
    Goodbye,
}

/// Which call it is about.
#[derive(Clone, Debug)]
pub(super) struct CallLabel {
    pub(super) id: ExecutionId,
    pub(super) tool: String,
    /// Its path or command, on one line, safe to print.
    pub(super) about: String,
}

/// How a call ended here.
#[derive(Clone, Debug)]
pub(super) struct CallCompletion {
    pub(super) success: bool,
    pub(super) exit_code: Option<i64>,
    /// Of what it gave back.
    pub(super) bytes: usize,
    /// Why it failed, where it gave nothing back.
    pub(super) error: Option<String>,
    pub(super) time: Duration,
}

impl CallLabel {
    pub(super) fn new(id: ExecutionId, tool: &str, params: &Value) -> Self {
        let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
        let about = match tool {
            "execute_command" => {
                let args = params.get("args").and_then(Value::as_array);
                let args = args.into_iter().flatten().filter_map(Value::as_str);
                std::iter::once(text("command")).chain(args).collect::<Vec<_>>().join(" ")
            }
            _ => text("path").to_owned(),
        };
        Self { id, tool: escape_to_line(tool), about: escape_to_line(&about) }
    }

    fn line(&self) -> String {
        format!("{} {}", self.tool, self.about)
    }
}

impl ClientEvent {
    /// Returns the line for people.
    pub(super) fn line(&self, paint: TerminalColors) -> String {
        match self {
            Self::Connected { server, project, root, sandbox, asks, .. } => {
                let asks = if *asks { "asked here" } else { "decided elsewhere" };
                let first = format!("Connected to {server}, project {project}.");
                let then = format!("Tools run in {root}. Approvals are {asks}. Ctrl-C stops.");
                let inside = format!("Sandbox: {sandbox}");
                format!("{}\n{}\n{}", paint.bold(&first), paint.dim(&then), paint.dim(&inside))
            }
            Self::ConnectedAgain => paint.green("connected again"),
            Self::Role(role) => paint.yellow(&escape_to_line(&role.message)),
            Self::Lost { why, was_there } => {
                let what = if *was_there { "connection lost" } else { "no connection yet" };
                paint.yellow(&format!("{what}, trying again ({})", escape_to_line(why)))
            }
            Self::Warning(text) => paint.yellow(&format!("! {text}")),
            Self::Waits { sentence, why, .. } => {
                paint.dim(&format!("? {} waits for approval, {why}", escape_to_line(sentence)))
            }
            Self::Settled { sentence, status, by, .. } => {
                let by = by
                    .as_deref()
                    .map(|by| format!(" by {}", escape_to_line(by)))
                    .unwrap_or_default();
                paint.dim(&format!(
                    "? {}: {}{by}",
                    escape_to_line(sentence),
                    describe_status(status)
                ))
            }
            Self::Started(step) => format!("→ {}", step.line()),
            Self::StillRuns { step, time, bytes } => {
                let (time, bytes) = (format_duration(*time), size(*bytes));
                paint.dim(&format!("… {} still runs ({time}, {bytes} of output)", step.line()))
            }
            Self::Finished { step, ended } => finished(step, ended, paint),
            Self::ResultRefused { step, why } => {
                let line = step.line();
                paint.yellow(&format!(
                    "! {line}: the server did not take the result: {}",
                    escape_to_line(why)
                ))
            }
            Self::Stopped { step, why } => {
                paint.yellow(&format!("■ {}: {}", step.line(), escape_to_line(why)))
            }
            Self::Goodbye => "Stopped.".to_owned(),
            Self::Stopping { running } => {
                format!("Stopping: ending what runs ({running}). Ctrl-C again stops at once.")
            }
        }
    }

    /// Returns the same for programs.
    pub(super) fn json(&self) -> Value {
        match self {
            Self::Connected { server, project, root, sandbox, client, .. } => json!({
                "event": "connected", "server": server, "project": project, "root": root,
                "sandbox": sandbox, "client_id": client,
            }),
            Self::ConnectedAgain => json!({"event": "connected_again"}),
            Self::Role(role) => {
                json!({"event": "executor_role", "role": role.role, "message": role.message})
            }
            Self::Lost { why, .. } => json!({"event": "connection_lost", "why": why}),
            Self::Warning(text) => json!({"event": "warning", "message": text}),
            Self::Waits { id, sentence, .. } => {
                json!({"event": "approval_waits", "approval_id": id, "summary": sentence})
            }
            Self::Settled { id, status, by, .. } => json!({
                "event": "approval_settled", "approval_id": id, "status": status, "decided_by": by,
            }),
            Self::Started(step) => step.json("started"),
            Self::StillRuns { step, time, bytes } => {
                with(step.json("still_runs"), json!({"time_ms": millis(*time), "bytes": bytes}))
            }
            Self::Finished { step, ended } => with(
                step.json("finished"),
                json!({
                    "success": ended.success, "exit_code": ended.exit_code, "bytes": ended.bytes,
                    "error": ended.error, "time_ms": millis(ended.time),
                }),
            ),
            Self::ResultRefused { step, why } => {
                with(step.json("result_refused"), json!({"why": why}))
            }
            Self::Stopped { step, why } => with(step.json("stopped"), json!({"why": why})),
            Self::Goodbye => json!({"event": "goodbye"}),
            Self::Stopping { running } => json!({"event": "stopping", "running": running}),
        }
    }
}

impl CallLabel {
    fn json(&self, event: &str) -> Value {
        json!({"event": event, "tool_id": self.id, "tool_name": self.tool, "about": self.about})
    }
}

fn with(mut value: Value, more: Value) -> Value {
    if let (Some(fields), Value::Object(more)) = (value.as_object_mut(), more) {
        fields.extend(more);
    }
    value
}

fn finished(step: &CallLabel, ended: &CallCompletion, paint: TerminalColors) -> String {
    let time = format_duration(ended.time);
    let how = match (&ended.error, ended.exit_code) {
        (Some(error), _) => escape_to_line(error),
        (None, Some(code)) => format!("exit code {code}, {} in {time}", size(ended.bytes)),
        (None, None) => format!("{} in {time}", size(ended.bytes)),
    };
    let mark = if ended.success { paint.green("✓") } else { paint.red("✗") };
    format!("{mark} {}: {how}", step.line())
}

fn describe_status(status: &str) -> &str {
    match status {
        "timeout" => "nobody decided in time",
        "awaiting_approval" => "still waits",
        other => other,
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns a time as people say it.
pub(super) fn format_duration(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (0, millis) => format!("{millis} ms"),
        (seconds @ 1..60, millis) => format!("{seconds}.{} s", millis / 100),
        (seconds, _) => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// Returns a number of bytes as people say it.
fn size(bytes: usize) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}
