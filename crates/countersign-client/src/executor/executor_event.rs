//! What the executor does, as it is told to whoever shows it.

use std::time::Duration;

use countersign_core::ExecutionId;
use countersign_tools::escape_to_line;
use serde_json::Value;

/// One step of a call.
#[derive(Clone, Debug)]
pub enum ExecutorEvent {
    /// It runs.
    Started(CallLabel),
    /// It has been running for a while.
    StillRuns {
        /// Which call.
        step: CallLabel,
        /// For how long.
        time: Duration,
        /// How much it has printed.
        bytes: usize,
    },
    /// It ran, or could not.
    Finished {
        /// Which call.
        step: CallLabel,
        /// How it ended.
        ended: CallCompletion,
    },
    /// The server did not take a result.
    ResultRefused {
        /// Which call.
        step: CallLabel,
        /// Why.
        why: String,
    },
    /// It was not run, or stopped on the way.
    Stopped {
        /// Which call.
        step: CallLabel,
        /// Why.
        why: String,
    },
}

/// Which call it is about.
#[derive(Clone, Debug)]
pub struct CallLabel {
    /// Its id.
    pub id: ExecutionId,
    /// The tool, safe to print.
    pub tool: String,
    /// Its path or command, on one line, safe to print.
    pub about: String,
}

/// How a call ended here.
#[derive(Clone, Debug)]
pub struct CallCompletion {
    /// Whether it did what it was to do.
    pub success: bool,
    /// The exit code of a command.
    pub exit_code: Option<i64>,
    /// How many bytes it gave back.
    pub bytes: usize,
    /// Why it failed, where it gave nothing back.
    pub error: Option<String>,
    /// How long it took.
    pub time: Duration,
}

impl CallLabel {
    /// Returns the label of a call of one of the client's tools.
    pub fn new(id: ExecutionId, tool: &str, params: &Value) -> Self {
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
}
