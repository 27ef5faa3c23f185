//! Reports: what somebody who ran a call elsewhere says came of it.

use serde_json::{Map, Value};

use crate::{InvalidCall, ToolOutput, canonical_json};

/// Above this many characters a stream is cut in the middle before the model reads it.
const TOLD: usize = 100_000;

/// What a call gave back, in the words of whoever ran it: `success`, `stdout`, `stderr`, `exit_code`,
/// and whatever else they say.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionReport(
    // INVARIANT: the four fields, where they are there, have the types `read` asks for.
    Map<String, Value>,
);

/// How a call that ran elsewhere ended.
#[derive(Clone, Debug, PartialEq)]
pub enum ReportedOutcome {
    /// It ran.
    Done(ExecutionReport),
    /// It could not run, or broke off; why.
    Failed(String),
    /// It was not run: what is there is not what was shown; what that is.
    Drifted(String),
}

impl ExecutionReport {
    /// Reads a report; the error says which field is wrong.
    pub fn from_json(value: &Value) -> Result<Self, InvalidCall> {
        let Value::Object(fields) = value else {
            return Err(InvalidCall("`result` has to be an object".to_owned()));
        };
        let check = |name: &str, fits: fn(&Value) -> bool, kind: &str| match fields.get(name) {
            Some(field) if !fits(field) => {
                Err(InvalidCall(format!("`result.{name}` has to be {kind}")))
            }
            _ => Ok(()),
        };
        check("success", Value::is_boolean, "true or false")?;
        check("stdout", |it| it.is_string() || it.is_null(), "a text or null")?;
        check("stderr", |it| it.is_string() || it.is_null(), "a text or null")?;
        check("exit_code", |it| it.is_i64() || it.is_null(), "a whole number or null")?;
        Ok(Self(fields.clone()))
    }

    /// Returns it as it is kept.
    pub fn to_json_text(&self) -> String {
        canonical_json(&Value::Object(self.0.clone()))
    }

    /// Reads one that was kept; what cannot be read is told as it stands.
    pub(crate) fn parse_stored_output(written: &str) -> ToolOutput {
        match serde_json::from_str(written).ok().and_then(|value| Self::from_json(&value).ok()) {
            Some(report) => report.to_tool_output(),
            None => ToolOutput::error(written),
        }
    }

    /// Returns whether it tells of a failure of what was run.
    pub fn is_error(&self) -> bool {
        let exit_code = self.0.get("exit_code").and_then(Value::as_i64);
        match self.0.get("success").and_then(Value::as_bool) {
            Some(success) => !success,
            None => exit_code.is_some_and(|code| code != 0),
        }
    }

    /// Returns what the model is told.
    pub fn to_tool_output(&self) -> ToolOutput {
        let text = |name| self.0.get(name).and_then(Value::as_str).unwrap_or_default();
        let closing = match self.0.get("exit_code").and_then(Value::as_i64) {
            Some(code) if code != 0 => format!("Exit code {code}"),
            _ => String::new(),
        };
        let parts = [truncate_middle(text("stdout")), truncate_middle(text("stderr")), closing];
        let parts: Vec<_> =
            parts.iter().map(|it| it.trim_end()).filter(|it| !it.is_empty()).collect();
        let content = match parts.as_slice() {
            [] if self.has_more() => truncate_middle(&self.to_json_text()),
            [] => "(no output)".to_owned(),
            parts => parts.join("\n"),
        };
        ToolOutput { is_error: self.is_error(), ..ToolOutput::ok(content) }
    }

    /// Whether it says something beside the usual fields.
    fn has_more(&self) -> bool {
        let usual = ["success", "stdout", "stderr", "exit_code"];
        self.0.keys().any(|name| !usual.contains(&name.as_str()))
    }
}

/// Leaves the two ends of a text that is too long.
fn truncate_middle(text: &str) -> String {
    let count = text.chars().count();
    if count <= TOLD {
        return text.to_owned();
    }
    let half = TOLD / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{start}\n… {} characters left out …\n{end}", count - 2 * half)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_model_is_told_what_a_shell_would_have_shown() {
        told(
            &json!({"success": true, "stdout": "ok\n", "stderr": null, "exit_code": 0}),
            "ok",
            false,
        );
        told(
            &json!({"success": false, "stdout": "a", "stderr": "b", "exit_code": 2}),
            "a\nb\nExit code 2",
            true,
        );
        told(&json!({"success": true}), "(no output)", false);
        told(&json!({"exit_code": 1}), "Exit code 1", true);
        told(&json!({"entries": [1]}), r#"{"entries":[1]}"#, false);
    }

    #[test]
    fn fields_of_the_wrong_type_are_named() {
        refused(&json!("text"), "`result` has to be an object");
        refused(&json!({"success": "yes"}), "`result.success` has to be true or false");
        refused(&json!({"stdout": 7}), "`result.stdout` has to be a text or null");
        refused(&json!({"stderr": []}), "`result.stderr` has to be a text or null");
        refused(&json!({"exit_code": 1.5}), "`result.exit_code` has to be a whole number or null");
    }

    #[test]
    fn the_two_ends_of_a_long_text_are_told() {
        let long = format!("{}{}", "a".repeat(TOLD), "z".repeat(TOLD));
        let told =
            ExecutionReport::from_json(&json!({"stdout": long})).unwrap().to_tool_output().content;
        assert!(told.starts_with("aaa") && told.ends_with("zzz"));
        assert!(told.contains("… 100000 characters left out …"), "{}", told.len());
    }

    #[track_caller]
    fn told(report: &Value, content: &str, is_error: bool) {
        let expected = ToolOutput { is_error, ..ToolOutput::ok(content) };
        let read = ExecutionReport::from_json(report).unwrap();
        assert_eq!(read.to_tool_output(), expected);
        assert_eq!(ExecutionReport::parse_stored_output(&read.to_json_text()), expected);
    }

    #[track_caller]
    fn refused(report: &Value, why: &str) {
        assert_eq!(ExecutionReport::from_json(report), Err(InvalidCall(why.to_owned())));
    }
}
