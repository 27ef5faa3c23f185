//! Verdicts: what the real binary says of commands, many rows per process.

use std::path::Path;

use serde_json::{Value, json};

use super::process::{clean_command, run_to_end};
use super::world::World;

/// So long may the binary take for one batch; then it counts as hanging.
const SECONDS: &str = "60";

/// The permission mode a command is judged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OracleMode {
    Default,
    AcceptEdits,
}

impl OracleMode {
    pub(super) fn wire_name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
        }
    }
}

/// A command that would run without anybody being asked.
#[derive(Clone, Debug)]
pub(super) struct AllowedCommand {
    pub(super) command: String,
    /// The text that is executed instead.
    pub(super) canonical: Option<String>,
    /// Every path that the predicted effects name.
    pub(super) predicted_paths: Vec<String>,
    /// Those of effects that do more than read.
    pub(super) predicted_changes: Vec<String>,
}

impl AllowedCommand {
    /// Returns the text that bash is given.
    pub(super) fn executed_text(&self) -> &str {
        self.canonical.as_deref().unwrap_or(&self.command)
    }
}

/// What came of judging a batch.
pub(super) enum BatchVerdict {
    Judged(Vec<AllowedCommand>),
    /// The binary gave no answer, or not one per row; what it said.
    Unanswered(String),
}

/// Asks the binary about commands and returns those that it allows.
pub(super) fn judge_commands(
    binary: &Path,
    world: &World,
    mode: OracleMode,
    commands: &[String],
) -> BatchVerdict {
    let rows: String = commands.iter().enumerate().map(|row| to_row(row, mode)).collect();
    let mut command = clean_command("timeout");
    command.args(["--signal=KILL", SECONDS]).arg(binary);
    command.args(["policy", "check", "--jsonl", "-", "--root"]).arg(world.workspace());
    command.env("HOME", world.home()).current_dir(world.home());
    let (code, answers, said) = run_to_end(&mut command, &rows);
    let answers: Vec<Value> = answers.lines().flat_map(serde_json::from_str).collect();
    if code != Some(0) || answers.len() != commands.len() {
        let answered = answers.len();
        return BatchVerdict::Unanswered(format!(
            "exit {code:?} after {answered} of {} rows: {said}",
            commands.len()
        ));
    }
    let allowed = answers.iter().enumerate().filter(|(_, it)| it["verdict"] == "allow");
    let allowed = allowed.map(|(index, answer)| AllowedCommand {
        command: commands[index].clone(),
        canonical: answer["canonical"].as_str().map(str::to_owned),
        predicted_paths: collect_paths(&answer["effects"]),
        predicted_changes: collect_changes(&answer["effects"]),
    });
    BatchVerdict::Judged(allowed.collect())
}

fn to_row((id, command): (usize, &String), mode: OracleMode) -> String {
    let given = json!({ "mode": mode.wire_name() });
    let row = json!({ "id": id, "tool": "Bash", "input": { "command": command }, "given": given });
    format!("{row}\n")
}

fn collect_changes(effects: &Value) -> Vec<String> {
    let reads = |effect: &Value| effect["kind"] == "read" || effect["kind"] == "read_all";
    let effects = effects.as_array().into_iter().flatten();
    effects.filter(|effect| !reads(effect)).flat_map(collect_paths).collect()
}

/// Returns every absolute path in a value, whatever the field is called.
fn collect_paths(effects: &Value) -> Vec<String> {
    match effects {
        Value::String(text) if text.starts_with('/') => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(collect_paths).collect(),
        // The program and its words are no paths that an effect touches.
        Value::Object(fields) if fields.get("kind").is_some_and(|it| it == "exec") => Vec::new(),
        Value::Object(fields) => fields.values().flat_map(collect_paths).collect(),
        _ => Vec::new(),
    }
}
