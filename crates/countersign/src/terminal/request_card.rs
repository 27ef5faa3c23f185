//! A request as lines of a terminal. Text of a model is text: whatever could steer the terminal or
//! deceive the eye is spelled out.

use countersign_api::approval::ApprovalView;
use countersign_api::call_status::CallStatus;
use countersign_api::preview::PreviewData;
use countersign_api::risk_level::RiskLevel;
use countersign_tools::{escape_invisible, escape_to_line};

use super::TerminalColors;

/// A request, ready to be shown.
pub(crate) struct RequestCard<'a>(&'a ApprovalView);

impl<'a> RequestCard<'a> {
    pub(crate) fn new(request: &'a ApprovalView) -> Self {
        Self(request)
    }

    /// Returns all of it: what it would do, where it belongs, why a person is asked, and the change.
    pub(crate) fn lines(&self, paint: TerminalColors) -> Vec<String> {
        let folder = &self.0.context.workspace.root;
        let mut lines = vec![heading(self.0, paint), belonging(self.0)];
        lines.push(paint.dim(&format!("in {}", escape_to_line(folder))));
        let reasons = self.0.reasons.iter();
        lines.extend(reasons.map(|reason| format!("  · {}", escape_to_line(reason))));
        if let PreviewData::Command { warnings, .. } = &self.0.preview_data {
            let warning = |it: &String| paint.yellow(&format!("  ! {}", escape_to_line(it)));
            lines.extend(warnings.iter().map(warning));
        }
        lines.extend(self.body(paint));
        lines
    }

    fn body(&self, paint: TerminalColors) -> Vec<String> {
        let mut diff: Vec<_> = self.0.diff_lines.iter().map(|line| diffed(line, paint)).collect();
        if !diff.is_empty() {
            let omitted = self.0.diff_stat.as_ref().map_or(0, |stat| stat.omitted);
            if omitted > 0 {
                let left = format!(
                    "    … {omitted} lines of the change are left out: the page shows them"
                );
                diff.push(paint.yellow(&left));
            }
            return diff;
        }
        let input = match &self.0.preview_data {
            PreviewData::Command { command, .. } => {
                return command.split('\n').map(indented).collect();
            }
            PreviewData::Generic { input } => input,
            PreviewData::Diff(_) | PreviewData::MultiDiff { .. } => &self.0.tool_input,
        };
        let input = serde_json::to_string_pretty(input).unwrap_or_default();
        input.split('\n').map(indented).collect()
    }
}

/// Returns the risk, the tool and what the call would do.
pub(crate) fn heading(request: &ApprovalView, paint: TerminalColors) -> String {
    let risk = match request.risk_level {
        RiskLevel::High => paint.red("HIGH"),
        RiskLevel::Medium => paint.yellow("MEDIUM"),
        RiskLevel::Low => "LOW".to_owned(),
    };
    let tool = paint.bold(&escape_to_line(&request.tool_name));
    let status = match request.status {
        CallStatus::AwaitingApproval => String::new(),
        status => format!("  {status}"),
    };
    format!("{risk}  {tool}  {}{status}", escape_to_line(&request.summary))
}

/// Returns the workspace, the conversation and the agent of a request.
pub(crate) fn belonging(request: &ApprovalView) -> String {
    let context = &request.context;
    let workspace = escape_to_line(&context.workspace.name);
    let conversation = match &context.conversation.title {
        Some(title) => format!("\"{}\"", escape_to_line(title)),
        None => format!("conversation {}", escape_to_line(&request.session_id)),
    };
    let agent = escape_to_line(&context.agent_name);
    let child = request.agent.as_deref().map(|child| format!(" ({})", escape_to_line(child)));
    let child = child.unwrap_or_default();
    let until = request.expires_at.map(|until| format!(" · until {until}")).unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_request_names_where_it_belongs_and_shows_its_change() {
        let request = request(&json!({
            "preview_type": "diff",
            "preview_data": {
                "file_path": "a.txt", "is_new_file": true, "original_lines": 0, "new_lines": 1,
            },
            "diff_lines": ["--- a/a.txt", "+++ b/a.txt", "@@ -0,0 +1 @@", "+hello"],
            "diff_stat": {"added": 1, "removed": 0, "omitted": 0},
        }));
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
            json!({"preview_type": "command", "preview_data": {
                "command": evil, "cwd": evil, "description": null, "timeout_ms": 1,
                "warnings": [evil], "parts": [],
            }}),
            json!({"preview_data": {"input": {evil: evil}}}),
        ] {
            let mut fields = json!({
                "tool_name": evil, "summary": evil, "session_id": evil, "agent_name": evil,
                "agent": evil, "reasons": [evil],
                "workspace": {"project_id": evil, "name": evil, "root": evil},
                "conversation": {"session_id": evil, "title": evil},
            });
            for (name, value) in shape.as_object().unwrap() {
                fields[name.as_str()] = value.clone();
            }
            let request = request(&fields);
            let text = RequestCard::new(&request).lines(TerminalColors(false)).join("\n");
            let raw = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(raw, None, "{text:?}");
        }
    }

    /// Returns a request as the server sends it, with these fields of its own.
    fn request(fields: &Value) -> ApprovalView {
        let mut request = json!({
            "approval_id": "a", "tool_id": "t", "tool_use_id": "u", "session_id": "s", "run_id": null,
            "origin": "agent", "workspace": {"project_id": "p", "name": "shop", "root": "/home/me/shop"},
            "conversation": {"session_id": "s", "title": "Add a tax"},
            "agent_name": "Countersign agent", "tool_name": "Write", "tool_input": {},
            "status": "awaiting_approval", "risk_level": "MEDIUM", "reasons": ["changes `a.txt`"],
            "summary": "Write `a.txt`", "preview_type": "generic", "preview_data": {"input": {}},
            "diff_lines": [], "diff_stat": null, "file_path": null, "digest": "d",
            "allowed_decisions": ["approve"], "proposals": [], "edited": null, "asked_again": null,
            "created_at": "2026-11-15T23:09:03Z", "expires_at": "2026-11-15T23:14:03Z",
        });
        for (name, value) in fields.as_object().unwrap() {
            request[name.as_str()] = value.clone();
        }
        serde_json::from_value(request).unwrap()
    }
}
