//! What the client tells about itself: one line per step, for people or for programs.

use std::time::Duration;

use countersign_api::received::ReceivedRole;
use countersign_client::executor::{CallCompletion, CallLabel, ExecutorEvent};
use countersign_core::ApprovalId;
use countersign_tools::escape_to_line;
use serde_json::{Value, json};

use super::TerminalColors;

/// One thing that happened.
#[derive(Debug)]
pub(crate) enum ClientEvent {
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
    Role(ReceivedRole),
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
    /// A call of ours came a step further.
    Execution(ExecutorEvent),
    Stopping {
        running: usize,
    },
    Goodbye,
}

impl ClientEvent {
    /// Returns the line for people.
    pub(crate) fn line(&self, paint: TerminalColors) -> String {
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
            Self::Execution(event) => execution_line(event, paint),
            Self::Goodbye => "Stopped.".to_owned(),
            Self::Stopping { running } => {
                format!("Stopping: ending what runs ({running}). Ctrl-C again stops at once.")
            }
        }
    }

    /// Returns the same for programs.
    pub(crate) fn json(&self) -> Value {
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
            Self::Execution(event) => execution_json(event),
            Self::Goodbye => json!({"event": "goodbye"}),
            Self::Stopping { running } => json!({"event": "stopping", "running": running}),
        }
    }
}

fn execution_line(event: &ExecutorEvent, paint: TerminalColors) -> String {
    match event {
        ExecutorEvent::Started(step) => format!("→ {}", label_line(step)),
        ExecutorEvent::StillRuns { step, time, bytes } => {
            let (time, bytes) = (format_duration(*time), size(*bytes));
            paint.dim(&format!("… {} still runs ({time}, {bytes} of output)", label_line(step)))
        }
        ExecutorEvent::Finished { step, ended } => finished(step, ended, paint),
        ExecutorEvent::ResultRefused { step, why } => {
            let line = label_line(step);
            paint.yellow(&format!(
                "! {line}: the server did not take the result: {}",
                escape_to_line(why)
            ))
        }
        ExecutorEvent::Stopped { step, why } => {
            paint.yellow(&format!("■ {}: {}", label_line(step), escape_to_line(why)))
        }
    }
}

fn execution_json(event: &ExecutorEvent) -> Value {
    match event {
        ExecutorEvent::Started(step) => label_json(step, "started"),
        ExecutorEvent::StillRuns { step, time, bytes } => {
            with(label_json(step, "still_runs"), json!({"time_ms": millis(*time), "bytes": bytes}))
        }
        ExecutorEvent::Finished { step, ended } => with(
            label_json(step, "finished"),
            json!({
                "success": ended.success, "exit_code": ended.exit_code, "bytes": ended.bytes,
                "error": ended.error, "time_ms": millis(ended.time),
            }),
        ),
        ExecutorEvent::ResultRefused { step, why } => {
            with(label_json(step, "result_refused"), json!({"why": why}))
        }
        ExecutorEvent::Stopped { step, why } => {
            with(label_json(step, "stopped"), json!({"why": why}))
        }
    }
}

fn label_line(label: &CallLabel) -> String {
    format!("{} {}", label.tool, label.about)
}

fn label_json(label: &CallLabel, event: &str) -> Value {
    json!({"event": event, "tool_id": label.id, "tool_name": label.tool, "about": label.about})
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
    format!("{mark} {}: {how}", label_line(step))
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
pub(crate) fn format_duration(time: Duration) -> String {
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
