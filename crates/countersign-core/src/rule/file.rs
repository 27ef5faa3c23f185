//! A file of rules: `countersign.toml`, the user's `config.toml`, Claude Code's `settings.json`.
//!
//! A rule that cannot be read never loosens anything: one that restricts makes its tool ask, one that
//! allows is left out, and both are told as a [`RuleFileProblem`]. A file that cannot be read at all is an
//! error; whoever loads it asks for everything and keeps the denials it knew.

use serde::Deserialize;
use serde_json::Value;

use super::typed_rule::TypedRule;
use super::{BadRule, PatternAnchors, Rule, RuleFileProblem, RulePattern, RulePreset};
use crate::{PermissionMode, VerdictAction};

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleFileFormat {
    /// Ours.
    Toml,
    /// Claude Code's.
    Json,
}

/// A file of rules that is not what it should be.
#[derive(Debug, thiserror::Error)]
pub enum RuleFileError {
    /// It is not TOML.
    #[error("it is not valid TOML: {0}")]
    Toml(String),
    /// It is not JSON.
    #[error("it is not valid JSON: {0}")]
    Json(String),
}

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleFile {
    /// The rules that were understood.
    pub rules: Vec<Rule>,
    /// Those that were not, and what was done about it.
    pub problems: Vec<RuleFileProblem>,
    /// The mode that runs have unless they name one.
    pub mode: Option<PermissionMode>,
    /// Further files whose rules count as this one's.
    pub imports: Vec<String>,
}

#[derive(Deserialize)]
struct RawRuleFile {
    #[serde(default)]
    permissions: PermissionLists,
    #[serde(default)]
    rule: Vec<toml::Value>,
}

#[derive(Default, Deserialize)]
struct PermissionLists {
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
    #[serde(default)]
    deny: Vec<String>,
    #[serde(default, rename = "defaultMode", alias = "default_mode")]
    default_mode: Option<String>,
    #[serde(default)]
    import: Vec<String>,
    #[serde(default)]
    presets: Vec<String>,
}

impl RuleFile {
    /// Reads a file. `anchors` are what the rules' own examples are tried with.
    pub fn parse(
        text: &str,
        format: RuleFileFormat,
        anchors: &PatternAnchors,
    ) -> Result<Self, RuleFileError> {
        let raw: RawRuleFile = match format {
            RuleFileFormat::Toml => toml::from_str(text)
                .map_err(|error| RuleFileError::Toml(error.to_string().trim().to_owned()))?,
            RuleFileFormat::Json => serde_json::from_str(text)
                .map_err(|error| RuleFileError::Json(error.to_string()))?,
        };
        let mut file = Self { imports: raw.permissions.import, ..Self::default() };
        let lists = [
            (VerdictAction::Deny, raw.permissions.deny),
            (VerdictAction::Ask, raw.permissions.ask),
            (VerdictAction::Allow, raw.permissions.allow),
        ];
        for (outcome, texts) in lists {
            for text in texts {
                file.keep(&text, outcome, Rule::parse(outcome, &text));
            }
        }
        for name in raw.permissions.presets {
            file.keep_preset(&name);
        }
        for value in raw.rule {
            file.keep_typed(value, anchors);
        }
        file.set_mode(raw.permissions.default_mode.as_deref());
        Ok(file)
    }

    /// Reads lists of rules as they stand in a JSON object: `{"allow": […], "ask": […], "deny": […]}`.
    pub fn from_lists(lists: &Value, anchors: &PatternAnchors) -> Result<Self, RuleFileError> {
        let text = serde_json::json!({ "permissions": lists }).to_string();
        Self::parse(&text, RuleFileFormat::Json, anchors)
    }

    fn keep(&mut self, text: &str, outcome: VerdictAction, read: Result<Rule, BadRule>) {
        match read {
            Ok(rule) => self.rules.push(rule),
            Err(why) => {
                self.refuse(text, RulePattern::extract_tool_name(text), outcome, why.to_string());
            }
        }
    }

    fn keep_preset(&mut self, name: &str) {
        let Some(preset) = RulePreset::find(name) else {
            let names: Vec<_> = RulePreset::names().collect();
            let why = format!("no preset is called `{name}`: there are {}", names.join(", "));
            let rule = format!("presets = [\"{name}\"]");
            self.problems.push(RuleFileProblem { rule, why, outcome: VerdictAction::Allow });
            return;
        };
        for text in &preset.allow {
            let why = Some(format!("the preset `{name}`"));
            let read = Rule::parse(VerdictAction::Allow, text).map(|rule| Rule { why, ..rule });
            self.keep(text, VerdictAction::Allow, read);
        }
    }

    fn keep_typed(&mut self, value: toml::Value, anchors: &PatternAnchors) {
        let written = value.to_string();
        let said = |key: &str| value.get(key).and_then(|it| it.as_str()).map(str::to_owned);
        let tool = said("tool").unwrap_or_else(|| "*".to_owned());
        // A rule whose effect cannot be read may have been meant to restrict.
        let meant = match said("effect").as_deref() {
            Some("allow") => VerdictAction::Allow,
            Some("ask") => VerdictAction::Ask,
            _ => VerdictAction::Deny,
        };
        let name = said("id").unwrap_or(written);
        let typed: TypedRule = match value.try_into() {
            Ok(typed) => typed,
            Err(error) => {
                let why = error.to_string();
                return self.refuse(&name, tool, meant, why.trim().to_owned());
            }
        };
        let (name, outcome) = (typed.name(), typed.outcome());
        let checked = typed.into_rule().and_then(|rule| {
            let failures = rule.failures(anchors);
            let told: Vec<_> = failures.iter().map(ToString::to_string).collect();
            if told.is_empty() { Ok(rule) } else { Err(BadRule::new(told.join("; "))) }
        });
        match checked {
            Ok(rule) => self.rules.push(rule),
            Err(why) => self.refuse(&name, tool, outcome, why.to_string()),
        }
    }

    /// Notes a rule that cannot be followed; what was meant to restrict asks instead.
    fn refuse(&mut self, text: &str, tool: String, outcome: VerdictAction, why: String) {
        if outcome != VerdictAction::Allow {
            let rule =
                Rule::from_pattern(VerdictAction::Ask, text.to_owned(), RulePattern::Tool(tool));
            let said = format!("this rule was not understood, so its tool asks: {why}");
            self.rules.push(Rule { why: Some(said), ..rule });
        }
        self.problems.push(RuleFileProblem { rule: text.to_owned(), why, outcome });
    }

    fn set_mode(&mut self, mode: Option<&str>) {
        let Some(text) = mode else { return };
        match text.parse() {
            Ok(mode) => self.mode = Some(mode),
            Err(why) => self.problems.push(RuleFileProblem {
                rule: format!("defaultMode = \"{text}\""),
                why,
                outcome: VerdictAction::Allow,
            }),
        }
    }
}
