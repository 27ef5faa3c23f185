//! A request as lines of a terminal. Text of a model is text: whatever could steer the terminal or
//! deceive the eye is spelled out.

use countersign_tools::{escape_invisible, escape_to_line};
use serde_json::Value;

use crate::terminal_colors::TerminalColors;

/// A request, ready to be shown.
pub(super) struct RequestCard<'a>(&'a Value);

impl<'a> RequestCard<'a> {
    pub(super) fn new(request: &'a Value) -> Self {
        Self(request)
    }

    /// Returns all of it: what it would do, where it belongs, why a person is asked, and the change.
    pub(super) fn lines(&self, paint: TerminalColors) -> Vec<String> {
        let mut lines = vec![heading(self.0, paint), belonging(self.0)];
        if let Some(folder) = text(self.0, "/workspace/root") {
            lines.push(paint.dim(&format!("in {}", escape_to_line(folder))));
        }
        lines.extend(
            texts(self.0, "/reasons").map(|reason| format!("  · {}", escape_to_line(reason))),
        );
        let warnings = texts(self.0, "/preview_data/warnings");
        lines.extend(warnings.map(|it| paint.yellow(&format!("  ! {}", escape_to_line(it)))));
        lines.extend(self.body(paint));
        lines
    }

    fn body(&self, paint: TerminalColors) -> Vec<String> {
        let mut diff: Vec<_> =
            texts(self.0, "/diff_lines").map(|line| diffed(line, paint)).collect();
        if !diff.is_empty() {
            let omitted = self.0.pointer("/diff_stat/omitted").and_then(Value::as_u64);
            if let Some(omitted) = omitted.filter(|omitted| *omitted > 0) {
                let left = format!(
                    "    … {omitted} lines of the change are left out: the page shows them"
                );
                diff.push(paint.yellow(&left));
            }
            return diff;
        }
        if let Some(command) = text(self.0, "/preview_data/command") {
            return command.split('\n').map(indented).collect();
        }
        let input = self.0.pointer("/preview_data/input").or_else(|| self.0.get("tool_input"));
        let input = input.and_then(|input| serde_json::to_string_pretty(input).ok());
        input.unwrap_or_default().split('\n').map(indented).collect()
    }
}

/// Returns the risk, the tool and what the call would do.
pub(super) fn heading(request: &Value, paint: TerminalColors) -> String {
    let risk = match text(request, "/risk_level").unwrap_or_default() {
        "HIGH" => paint.red("HIGH"),
        "MEDIUM" => paint.yellow("MEDIUM"),
        other => escape_to_line(other),
    };
    let tool = paint.bold(&escape_to_line(text(request, "/tool_name").unwrap_or_default()));
    let status = match text(request, "/status") {
        Some("awaiting_approval") | None => String::new(),
        Some(status) => format!("  {}", escape_to_line(status)),
    };
    format!(
        "{risk}  {tool}  {}{status}",
        escape_to_line(text(request, "/summary").unwrap_or_default())
    )
}

/// Returns the workspace, the conversation and the agent of a request.
pub(super) fn belonging(request: &Value) -> String {
    let named = |pointer: &str| text(request, pointer).map(escape_to_line);
    let workspace = named("/workspace/name").unwrap_or_else(|| "an unknown workspace".to_owned());
    let conversation = match named("/conversation/title") {
        Some(title) => format!("\"{title}\""),
        None => format!("conversation {}", named("/session_id").unwrap_or_default()),
    };
    let agent = named("/agent_name").unwrap_or_else(|| "an unknown agent".to_owned());
    let child = named("/agent").map(|child| format!(" ({child})")).unwrap_or_default();
    let until = named("/expires_at").map(|until| format!(" · until {until}")).unwrap_or_default();
    format!("{workspace} · {conversation} · {agent}{child}{until}")
}

fn diffed(line: &str, paint: TerminalColors) -> String {
    let written = indented(line);
    match line.bytes().next() {
        Some(b'+') => paint.green(&written),
        Some(b'-') => paint.red(&written),
        Some(b'@') => paint.dim(&written),
        _ => written,
    }
}

fn indented(line: &str) -> String {
    format!("    {}", escape_invisible(line.strip_suffix('\r').unwrap_or(line)).replace('\n', "⏎"))
}

fn text<'a>(request: &'a Value, pointer: &str) -> Option<&'a str> {
    request.pointer(pointer).and_then(Value::as_str)
}

fn texts<'a>(request: &'a Value, pointer: &str) -> impl Iterator<Item = &'a str> {
    let list = request.pointer(pointer).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_names_where_it_belongs_and_shows_its_change() {
        let request = json!({
            "tool_name": "Write", "risk_level": "MEDIUM", "summary": "Write `a.txt`",
            "status": "awaiting_approval", "session_id": "s", "agent_name": "Countersign agent",
            "workspace": {"project_id": "p", "name": "shop", "root": "/home/me/shop"},
            "conversation": {"session_id": "s", "title": "Add a tax"},
            "expires_at": "2026-11-15T23:14:03Z", "reasons": ["changes `a.txt`"],
            "diff_lines": ["--- a/a.txt", "+++ b/a.txt", "@@ -0,0 +1 @@", "+hello"],
            "diff_stat": {"added": 1, "removed": 0, "omitted": 0}, "preview_data": {},
        });
        assert_eq!(
            RequestCard::new(&request).lines(TerminalColors(false)),
            [
                "MEDIUM  Write  Write `a.txt`",
                "shop · \"Add a tax\" · Countersign agent · until 2026-11-15T23:14:03Z",
                "in /home/me/shop",
                "  · changes `a.txt`",
                "    --- a/a.txt",
                "    +++ b/a.txt",
                "    @@ -0,0 +1 @@",
                "    +hello",
            ]
        );
    }

    #[test]
    fn no_letter_of_a_model_reaches_the_terminal_raw() {
        let evil = "\u{1b}[31m\r\u{9b}2J\u{8}\u{202e}";
        for shape in [
            json!({"diff_lines": [evil]}),
            json!({"preview_data": {"command": evil, "warnings": [evil]}}),
            json!({"preview_data": {"input": {evil: evil}}}),
        ] {
            let mut request = json!({
                "tool_name": evil, "risk_level": evil, "summary": evil, "status": evil,
                "session_id": evil, "agent_name": evil, "agent": evil, "reasons": [evil],
                "workspace": {"name": evil, "root": evil}, "conversation": {"title": evil},
            });
            for (name, value) in shape.as_object().unwrap() {
                request[name.as_str()] = value.clone();
            }
            let text = RequestCard::new(&request).lines(TerminalColors(false)).join("\n");
            let raw = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(raw, None, "{text:?}");
        }
    }
}
