//! What a command gives back: its output, how it ended, and what was in its way.

use std::time::Duration;

use countersign_core::ToolOutput;

use super::OUTPUT_LIMIT;
use crate::machine::process::{FinishedProcess, ProcessEnd};
use crate::sandbox::SandboxedCommand;
use crate::tool_error::ToolError;

/// What a command gives back.
pub(super) struct BashResult {
    pub(super) output: ToolOutput,
    /// What it had to do with its walls; part of the output.
    pub(super) notes: Vec<String>,
}

impl BashResult {
    /// Puts together what the model reads of a command that is no more.
    pub(super) fn from_process(
        ended: FinishedProcess,
        time_limit: Duration,
        confined: &SandboxedCommand,
    ) -> Result<Self, ToolError> {
        if ended.end == ProcessEnd::Cancelled {
            return Err(ToolError::Interrupted);
        }
        let exit_code = ended.end.exit_code();
        let is_error = exit_code != Some(0);
        let closing = match exit_code {
            Some(0) => None,
            Some(code) => Some(format!("Exit code {code}")),
            None => ended.end.without_exit_code(time_limit),
        };
        let exceeded = ended.exceeded;
        let by_signal = exit_code.and_then(name_signal);
        let (stdout, stderr) = ended.texts(OUTPUT_LIMIT);
        // What a command prints that succeeds is seldom about walls.
        let mut told =
            if is_error { vec![stdout.as_str(), &stderr] } else { vec![stderr.as_str()] };
        told.extend(by_signal);
        let notes = confined.notes(&told, exceeded);
        let mut parts = vec![stdout, stderr, closing.unwrap_or_default()];
        parts.extend(notes.iter().cloned());
        let mut content = String::new();
        for part in parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty()) {
            if !content.is_empty() {
                content.push('\n');
            }
            content.push_str(part);
        }
        if content.is_empty() {
            content.push_str("(no output)");
        }
        let output = ToolOutput { is_error, ..ToolOutput::ok(content) };
        Ok(Self { output, notes })
    }
}

/// Some walls are told by a signal alone, which a shell passes on as a code.
fn name_signal(code: i32) -> Option<&'static str> {
    match code - 128 {
        25 => Some("File size limit exceeded"),
        31 => Some("Bad system call"),
        _ => None,
    }
}
