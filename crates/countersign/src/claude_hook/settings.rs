//! Claude Code's settings, as far as hooks go: ours are put in and taken out, all else stays.

use serde::Serialize;
use serde_json::ser::PrettyFormatter;
use serde_json::{Map, Serializer, Value, json};

/// How long Claude Code lets a hook run that waits for a person, and one that only reports.
const WAITS: u64 = 600;
const REPORTS: u64 = 30;

/// What Claude Code is told if our program is gone or dies: to ask, as it would without us.
const OTHERWISE: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Countersign could not answer"}}"#;

/// Returns settings with our hooks in them, those of before replaced.
///
/// `command` is ours as a shell would be told to run it.
pub(crate) fn with_hooks(settings: &Value, command: &str) -> Result<Value, String> {
    let mut settings = without_hooks(settings)?;
    let fields = settings.as_object_mut().ok_or("they are not an object")?;
    let hooks = fields.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or("`hooks` is not an object")?;
    for (event, command, timeout) in [
        ("PreToolUse", guarded_command(command), WAITS),
        ("PermissionRequest", format!("{command} --again"), REPORTS),
        ("PostToolUse", command.to_owned(), REPORTS),
        ("PostToolUseFailure", command.to_owned(), REPORTS),
    ] {
        let groups = hooks.entry(event).or_insert_with(|| json!([]));
        let groups =
            groups.as_array_mut().ok_or_else(|| format!("`hooks.{event}` is not a list"))?;
        groups.push(json!({
            "matcher": "*",
            "hooks": [{"type": "command", "command": command, "timeout": timeout}],
        }));
    }
    Ok(settings)
}

/// Returns a command that asks where ours is gone or dies.
pub(crate) fn guarded_command(command: &str) -> String {
    format!("{command} || echo '{OTHERWISE}'")
}

/// Returns the command of ours that is asked before each call, if there is one.
pub(crate) fn installed_command(settings: &Value) -> Option<&str> {
    let groups = settings.pointer("/hooks/PreToolUse")?.as_array()?;
    let hooks = groups.iter().filter_map(|group| group.get("hooks")?.as_array()).flatten();
    let mut ours = hooks.filter(|hook| is_ours(hook));
    ours.next()?.get("command")?.as_str()
}

/// Returns settings without our hooks, and without what only held them.
pub(crate) fn without_hooks(settings: &Value) -> Result<Value, String> {
    let mut settings = settings.clone();
    let fields = settings.as_object_mut().ok_or("they are not an object")?;
    let Some(hooks) = fields.get_mut("hooks") else { return Ok(settings) };
    let hooks = hooks.as_object_mut().ok_or("`hooks` is not an object")?;
    let before = hooks.len();
    hooks.retain(|_, groups| !take_ours(groups));
    if hooks.is_empty() && before > 0 {
        fields.shift_remove("hooks");
    }
    Ok(settings)
}

/// Takes our hooks out of an event's; returns whether nothing is left of it.
fn take_ours(groups: &mut Value) -> bool {
    let Some(groups) = groups.as_array_mut() else { return false };
    let before = groups.len();
    groups.retain_mut(|group| {
        let Some(hooks) = group.get_mut("hooks").and_then(Value::as_array_mut) else { return true };
        let before = hooks.len();
        hooks.retain(|hook| !is_ours(hook));
        !hooks.is_empty() || before == 0
    });
    groups.is_empty() && before > 0
}

/// Returns whether a hook is one of ours: our program, told to be a hook.
fn is_ours(hook: &Value) -> bool {
    let Some(command) = hook.get("command").and_then(Value::as_str) else { return false };
    let Some((program, rest)) = first_word(command.trim_start()) else { return false };
    let name = program.rsplit('/').next().unwrap_or(program);
    let is_told = rest.trim_start().split(char::is_whitespace).next() == Some("hook");
    name == "countersign" && is_told
}

/// Splits a command after its first word, which may stand in quotes.
fn first_word(command: &str) -> Option<(&str, &str)> {
    match command.strip_prefix('\'') {
        Some(quoted) => quoted.split_once('\''),
        None => command.split_once(char::is_whitespace),
    }
}

/// Returns a word as a shell reads it back.
pub(crate) fn quote_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Writes settings in the manner of the file they come from.
pub(crate) fn to_text_like(settings: &Value, like: &str) -> Result<String, serde_json::Error> {
    let indent = indent(like);
    let mut bytes = Vec::new();
    let mut serializer =
        Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(indent.as_bytes()));
    settings.serialize(&mut serializer)?;
    if like.is_empty() || like.ends_with('\n') {
        bytes.push(b'\n');
    }
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

/// Returns how the first line that is indented is.
fn indent(text: &str) -> String {
    let line = text.lines().find(|line| line.starts_with([' ', '\t']));
    let blanks = line.map(|line| line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect());
    blanks.unwrap_or_else(|| "  ".to_owned())
}

/// Returns settings of nothing.
pub(crate) fn empty_settings() -> Value {
    Value::Object(Map::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "/opt/countersign hook --server http://127.0.0.1:4180";

    #[test]
    fn ours_come_and_go_and_all_else_stays_in_its_place() {
        for before in [
            json!({}),
            json!({"z": 1, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}, "a": [1.5, null]}),
            json!({"hooks": {"PreToolUse": [
                {"matcher": "Bash", "hooks": [{"type": "command", "command": "/bin/countersigner hook"}]},
                {"matcher": "Edit", "hooks": []},
            ]}, "model": "x"}),
        ] {
            let with = with_hooks(&before, COMMAND).unwrap();
            assert_ne!(with, before);
            assert_eq!(with_hooks(&with, COMMAND).unwrap(), with, "twice is once");
            let without = without_hooks(&with).unwrap();
            assert_eq!(without.to_string(), before.to_string(), "in the same order, too");
        }
    }

    #[test]
    fn a_hook_of_ours_among_others_leaves_them_alone() {
        let other = json!({"type": "command", "command": "log-it"});
        let ours = json!({"type": "command", "command": "'/my tools/countersign' hook --again"});
        let mixed = json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [other, ours]}]}});
        assert_eq!(
            without_hooks(&mixed).unwrap(),
            json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [other]}]}})
        );
    }

    #[test]
    fn settings_that_are_no_settings_are_refused() {
        for bad in [json!([]), json!({"hooks": []}), json!({"hooks": {"PreToolUse": {}}})] {
            with_hooks(&bad, COMMAND).unwrap_err();
        }
    }

    #[test]
    fn the_manner_of_the_file_is_kept() {
        for text in ["{\n    \"a\": 1\n}", "{\n\t\"a\": [\n\t\t1\n\t]\n}\n", "{\n  \"a\": 0.1\n}\n"]
        {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(to_text_like(&value, text).unwrap(), text);
        }
    }

    #[test]
    fn a_word_is_quoted_where_a_shell_would_split_it() {
        assert_eq!(quote_word("/usr/bin/countersign"), "/usr/bin/countersign");
        assert_eq!(quote_word("/my tools/it's"), r"'/my tools/it'\''s'");
    }
}
