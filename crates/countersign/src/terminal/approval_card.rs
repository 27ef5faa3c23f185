//! The card: everything a person needs to see before they decide, as lines of a terminal.
//!
//! Text of a model is text: whatever could steer the terminal or deceive the eye is spelled out.

use std::time::Duration;

use countersign_api::file_view::FileView;
use countersign_api::preview::PreviewType;
use countersign_api::received::ReceivedApprovalRequest;
use countersign_api::risk_level::RiskLevel;
use countersign_tools::{escape_invisible, escape_to_line};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::TerminalColors;
use super::client_event::format_duration;

/// How many lines of a change are shown at first.
const FIRST: usize = 40;

/// A request, ready to be shown.
pub(crate) struct ApprovalCard {
    head: Vec<String>,
    body: Vec<String>,
}

impl ApprovalCard {
    pub(crate) fn new(
        request: &ReceivedApprovalRequest,
        more: usize,
        now: Timestamp,
        paint: TerminalColors,
    ) -> Self {
        let mut head = vec![title(request, more, now, paint), escape_to_line(request.sentence())];
        head.extend(request.reasons.iter().map(|reason| format!("  · {}", escape_to_line(reason))));
        Self { head, body: body(request, paint) }
    }

    /// Returns the card, the body cut where it is long.
    pub(crate) fn short(&self, paint: TerminalColors) -> String {
        let mut lines = self.head.clone();
        lines.extend(self.body.iter().take(FIRST).cloned());
        if self.is_long() {
            let left = self.body.len() - FIRST;
            lines.push(paint.yellow(&format!("    … {left} more lines: v shows all of it")));
        }
        lines.join("\n")
    }

    /// Returns all of it.
    pub(crate) fn full_text(&self) -> String {
        self.body.join("\n")
    }

    /// Returns whether the short form leaves something out.
    pub(crate) fn is_long(&self) -> bool {
        self.body.len() > FIRST
    }
}

fn title(
    request: &ReceivedApprovalRequest,
    more: usize,
    now: Timestamp,
    paint: TerminalColors,
) -> String {
    let risk = match request.risk_level {
        Some(RiskLevel::High) => paint.red("HIGH"),
        Some(RiskLevel::Medium) => paint.yellow("MEDIUM"),
        Some(RiskLevel::Low) => "LOW".to_owned(),
        None => "risk unknown".to_owned(),
    };
    let left = request.expires_at.and_then(|until| Duration::try_from(until - now).ok());
    let left = left
        .map(|left| format!(" · {} left", format_duration(Duration::from_secs(left.as_secs()))));
    let more = match more {
        0 => String::new(),
        more => format!(" · {more} more after this"),
    };
    let name = paint.bold(&escape_to_line(&request.tool_name));
    format!("── {name} · {risk}{}{more} ──", left.unwrap_or_default())
}

fn body(request: &ReceivedApprovalRequest, paint: TerminalColors) -> Vec<String> {
    let data = &request.preview_data;
    match request.preview_type {
        Some(PreviewType::Command) => command(data, paint),
        Some(PreviewType::Diff) => {
            let mut lines = diffed(request.diff_lines.iter().flatten(), paint);
            let count = data.get("omitted_lines").and_then(Value::as_u64);
            lines.extend(count.map(omitted));
            lines
        }
        Some(PreviewType::MultiDiff) => {
            let files = data.get("files").and_then(Value::as_array).into_iter().flatten();
            let files = files.filter_map(|file| FileView::deserialize(file).ok());
            files.flat_map(|file| file_diff_lines(&file, paint)).collect()
        }
        Some(PreviewType::Generic) | None => {
            generic(data.get("input").unwrap_or(&request.tool_input))
        }
    }
}

/// The command as it is, with where and how long it may run.
fn command(data: &Value, paint: TerminalColors) -> Vec<String> {
    let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut lines = indented(&unquoted(text("command")));
    let seconds = data.get("timeout_ms").and_then(Value::as_u64).unwrap_or_default() / 1000;
    let within = format!("    in {} · at most {seconds} s", escape_to_line(text("cwd")));
    lines.push(paint.dim(&within));
    let warnings = data.get("warnings").and_then(Value::as_array);
    let warnings = warnings.into_iter().flatten().filter_map(Value::as_str);
    lines.extend(warnings.map(|warning| paint.yellow(&format!("  ! {}", escape_to_line(warning)))));
    lines
}

/// Returns one file of several, with its diff.
pub(crate) fn file_diff_lines(file: &FileView, paint: TerminalColors) -> Vec<String> {
    let gone = if file.is_deleted { " (deleted)" } else { "" };
    let mut lines = vec![format!("  {}{gone}", escape_to_line(&file.file_path))];
    lines.extend(diffed(file.diff_lines.iter().flatten(), paint));
    lines.extend(file.omitted_lines.map(omitted));
    lines
}

fn omitted(count: impl std::fmt::Display) -> String {
    format!("    … {count} lines of the change are left out: the page shows them")
}

fn diffed<S: AsRef<str>>(lines: impl Iterator<Item = S>, paint: TerminalColors) -> Vec<String> {
    let line = |line: S| {
        let text = format!("    {}", one_line(line.as_ref()));
        match line.as_ref().bytes().next() {
            Some(b'+') => paint.green(&text),
            Some(b'-') => paint.red(&text),
            Some(b'@') => paint.dim(&text),
            _ => text,
        }
    };
    lines.map(line).collect()
}

/// An input by its fields: texts as texts, everything else as JSON.
fn generic(input: &Value) -> Vec<String> {
    let Some(fields) = input.as_object() else { return indented(&input.to_string()) };
    let mut lines = Vec::new();
    for (name, value) in fields {
        match value.as_str() {
            Some(text) if text.contains('\n') || text.len() > 60 => {
                lines.push(format!("  {}:", escape_to_line(name)));
                lines.extend(indented(text));
            }
            Some(text) => lines.push(format!("  {}: {}", escape_to_line(name), one_line(text))),
            None => {
                lines.push(format!("  {}: {}", escape_to_line(name), one_line(&value.to_string())));
            }
        }
    }
    lines
}

fn indented(text: &str) -> Vec<String> {
    text.split('\n').map(|line| format!("    {}", one_line(line))).collect()
}

fn one_line(text: &str) -> String {
    escape_invisible(text.strip_suffix('\r').unwrap_or(text)).replace('\n', "⏎")
}

/// Takes the quotes off words that need none; what is not a row of quoted words stays as it is.
fn unquoted(command: &str) -> String {
    let Some(inner) = command.strip_prefix('\'').and_then(|it| it.strip_suffix('\'')) else {
        return command.to_owned();
    };
    let plain = |word: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
        if !word.is_empty() && word.chars().all(is_plain) {
            word.to_owned()
        } else {
            format!("'{word}'")
        }
    };
    // A quote inside a word is written `'\''`: that is no end of a word.
    inner.split("' '").map(plain).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_that_need_no_quotes_have_none() {
        assert_eq!(unquoted("'npm' 'run' 'test:unit'"), "npm run test:unit");
        assert_eq!(unquoted(r"'echo' 'a; b' 'it'\''s' ''"), r"echo 'a; b' 'it'\''s' ''");
        assert_eq!(unquoted("git status && ls"), "git status && ls");
    }

    #[test]
    fn a_command_is_shown_whole_and_harmless() {
        let text = card(json!({
            "tool_name": "execute_command", "risk_level": "HIGH", "summary": "Run `rm`\u{1b}[2J",
            "reasons": ["it \u{202e}deletes"], "preview_type": "command",
            "preview_data": {"command": "'rm' '-rf' '\u{1b}]0;x\u{7}build'", "cwd": "/p",
                "timeout_ms": 60000, "warnings": ["It deletes files."]},
        }));
        assert_eq!(
            text,
            "── execute_command · HIGH · 4 min 59 s left · 2 more after this ──\n\
             Run `rm`\\u{1b}[2J\n  · it \\u{202e}deletes\n    \
             rm -rf '\\u{1b}]0;x\\u{7}build'\n    in /p · at most 60 s\n  ! It deletes files."
        );
    }

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        let content: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let input = json!({"path": "a.txt", "content": content});
        let request = request(json!({"tool_name": "write_file", "tool_input": input}));
        let card = ApprovalCard::new(&request, 0, Timestamp::UNIX_EPOCH, TerminalColors(false));
        assert!(card.is_long());
        assert!(
            card.short(TerminalColors(false))
                .ends_with("line 37\n    … 63 more lines: v shows all of it")
        );
        assert!(card.full_text().contains("line 99"));
    }

    #[test]
    fn no_letter_of_a_model_reaches_the_terminal_raw() {
        let evil = "\u{1b}[31m\r\u{9b}2J\u{8}\u{202e}";
        for kind in ["command", "diff", "multi_diff", "generic"] {
            let text = card(json!({
                "tool_name": evil, "summary": evil, "reasons": [evil], "preview_type": kind,
                "tool_input": {evil: evil, "b": {evil: 1}},
                "diff_lines": [format!("+{evil}"), evil],
                "preview_data": {"command": evil, "cwd": evil, "warnings": [evil],
                    "input": {evil: [evil]},
                    "files": [{"file_path": evil, "is_new_file": false, "original_lines": 1,
                        "new_lines": 1, "diff_lines": [evil]}]},
            }));
            let raw = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(raw, None, "{kind}: {text:?}");
        }
    }

    fn card(fields: Value) -> String {
        let now = Timestamp::UNIX_EPOCH;
        let mut request = request(fields);
        request.expires_at = Some(now + Duration::from_millis(299_500));
        ApprovalCard::new(&request, 2, now, TerminalColors(false)).short(TerminalColors(false))
    }

    fn request(mut fields: Value) -> ReceivedApprovalRequest {
        let id = "123e4567-e89b-12d3-a456-426614174000";
        fields["approval_id"] = json!(id);
        fields["tool_id"] = json!(id);
        serde_json::from_value(fields).unwrap()
    }
}
