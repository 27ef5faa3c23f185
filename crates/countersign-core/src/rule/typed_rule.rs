//! The typed form: `[[rule]]` with its words, its limits and its examples.

use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Deserialize;

use super::{BadRule, Rule, RuleExample, RulePattern};
use crate::VerdictAction;
use crate::shell::{CommandPart, CommandWord, WordValue};

/// One word of a command, or one of several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum ArgvToken {
    One(String),
    OneOf(Vec<String>),
}

impl ArgvToken {
    fn is(&self, word: &str) -> bool {
        match self {
            Self::One(token) => token == word,
            Self::OneOf(tokens) => tokens.iter().any(|token| token == word),
        }
    }
}

/// What may follow the words that are spelled out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ArgvRest {
    /// Nothing.
    #[default]
    None,
    /// Words that start with `-`.
    FlagsOnly,
    /// Anything.
    Any,
}

/// A command by its words: exact ones first, then what may follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgvPattern {
    argv: Vec<ArgvToken>,
    rest: ArgvRest,
    /// Whether an allowing rule also covers talking to other machines.
    pub(crate) network: bool,
    /// Whether it allows only what runs inside a sandbox.
    pub(crate) sandboxed: bool,
}

impl ArgvPattern {
    /// Returns whether a part has these words, whatever wraps it: for rules that restrict.
    pub fn restricts(&self, part: &CommandPart) -> bool {
        let words: Vec<_> = part.argv.iter().map(CommandWord::effective_text).collect();
        let mut named = words.clone();
        if let Some(first) = named.first_mut() {
            *first = first.rsplit('/').next().unwrap_or(first);
        }
        self.matches(&words) || self.matches(&named)
    }

    /// Returns whether an allowing rule covers a part: all words known, nothing around it.
    pub fn permits(&self, part: &CommandPart) -> bool {
        let known =
            |word: &CommandWord| !word.expanded && matches!(word.value, WordValue::Literal(_));
        let words: Vec<_> = part.argv.iter().map(CommandWord::effective_text).collect();
        part.wrappers.is_empty() && part.argv.iter().all(known) && self.matches(&words)
    }

    fn matches(&self, words: &[&str]) -> bool {
        let Some(rest) = words.get(self.argv.len()..) else { return false };
        let start = self.argv.iter().zip(words).all(|(token, word)| token.is(word));
        start
            && match self.rest {
                ArgvRest::None => rest.is_empty(),
                ArgvRest::FlagsOnly => rest.iter().all(|word| word.starts_with('-')),
                ArgvRest::Any => true,
            }
    }
}

/// A rule as it stands in a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TypedRule {
    id: Option<String>,
    effect: VerdictAction,
    tool: Option<String>,
    argv: Option<Vec<ArgvToken>>,
    #[serde(default)]
    rest: ArgvRest,
    path: Option<String>,
    domain: Option<String>,
    #[serde(default)]
    network: bool,
    sandbox: Option<String>,
    expires: Option<toml::Value>,
    why: Option<String>,
    #[serde(default, rename = "match")]
    matches: Vec<String>,
    #[serde(default)]
    not_match: Vec<String>,
}

impl TypedRule {
    /// Returns what the rule was meant to do, for one that cannot be read.
    pub(crate) fn outcome(&self) -> VerdictAction {
        self.effect
    }

    /// Returns a name to speak of it by.
    pub(crate) fn name(&self) -> String {
        self.id.clone().unwrap_or_else(|| self.text())
    }

    /// Writes the rule in one line, the way Claude Code would where it can.
    fn text(&self) -> String {
        let tool = self.tool.as_deref().unwrap_or("*");
        if let Some(argv) = &self.argv {
            let words = argv.iter().map(|token| match token {
                ArgvToken::One(word) => word.clone(),
                ArgvToken::OneOf(words) => format!("{{{}}}", words.join(",")),
            });
            let rest = match self.rest {
                ArgvRest::None => "",
                ArgvRest::FlagsOnly => " -*",
                ArgvRest::Any => " *",
            };
            return format!("{tool}({}{rest})", words.collect::<Vec<_>>().join(" "));
        }
        match (&self.path, &self.domain) {
            (Some(path), _) => format!("{tool}({path})"),
            (None, Some(domain)) => format!("{tool}(domain:{domain})"),
            (None, None) => tool.to_owned(),
        }
    }

    pub(crate) fn into_rule(self) -> Result<Rule, BadRule> {
        let text = self.text();
        let pattern = self.pattern(&text)?;
        if self.effect == VerdictAction::Allow {
            pattern.may_allow()?;
        }
        let yes = self.matches.into_iter().map(|call| RuleExample { call, matches: true });
        let no = self.not_match.into_iter().map(|call| RuleExample { call, matches: false });
        Ok(Rule {
            id: self.id,
            why: self.why,
            expires: self.expires.map(|when| moment(&when)).transpose()?,
            examples: yes.chain(no).collect(),
            ..Rule::from_pattern(self.effect, text, pattern)
        })
    }

    fn pattern(&self, text: &str) -> Result<RulePattern, BadRule> {
        let Some(argv) = &self.argv else { return RulePattern::parse(text) };
        if self.path.is_some() || self.domain.is_some() {
            return Err(BadRule::new("a rule has `argv`, `path` or `domain`, not several"));
        }
        let empty =
            |token: &ArgvToken| matches!(token, ArgvToken::OneOf(words) if words.is_empty());
        if argv.is_empty() || argv.iter().any(empty) {
            return Err(BadRule::new("`argv` is empty: name the program at least"));
        }
        let sandboxed = match self.sandbox.as_deref() {
            None => false,
            Some("required") => true,
            Some(other) => {
                return Err(BadRule::new(format!("`sandbox = \"{other}\"`: write \"required\"")));
            }
        };
        let (argv, rest, network) = (argv.clone(), self.rest, self.network);
        Ok(RulePattern::Argv(ArgvPattern { argv, rest, network, sandboxed }))
    }
}

/// Reads a date or a moment, written as TOML's own or as text.
fn moment(value: &toml::Value) -> Result<Timestamp, BadRule> {
    let text = match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Datetime(when) => when.to_string(),
        other => other.to_string(),
    };
    let day = || Date::from_str(&text).ok()?.to_zoned(TimeZone::UTC).ok().map(|it| it.timestamp());
    Timestamp::from_str(&text).ok().or_else(day).ok_or_else(|| {
        BadRule::new(format!("`expires = {text}` is not a date: write one like \"2027-01-01\""))
    })
}
