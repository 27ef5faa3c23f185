//! Rules: what people have said beforehand, in Claude Code's syntax or in the typed form.
//!
//! A [`Rule`] is a [`RulePattern`] and what is to happen where it matches. A [`RuleFile`] is what stands
//! in a file, read so that one bad rule never loosens anything. A [`RuleSet`] is all rules that hold
//! for one project, from every [`RuleLayer`]; deny wins over ask, ask over allow, and neither the order
//! nor how specific a rule is makes a difference.

mod command;
mod command_prefix;
mod domain;
mod example;
mod file;
mod lint;
mod path;
mod pattern;
mod preset;
mod set;
mod typed_rule;

#[cfg(test)]
mod tests;

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use command::CommandPattern;
pub use domain::DomainPattern;
pub use example::{ExampleFailure, RuleExample};
pub use file::{RuleFile, RuleFileError, RuleFileFormat};
pub use lint::lint;
pub use path::{PathPattern, PatternAnchors};
pub use pattern::{BadRule, FileAccess, RulePattern};
pub use preset::RulePreset;
pub use set::{RuleLayer, RuleSet};
pub use typed_rule::ArgvPattern;

pub(crate) use command::{
    LiteralCommand, redirects, redirects_to_file, runs_what_it_is_given, sees_through, spellings,
    token_runs,
};
pub(crate) use command_prefix::prefix_len;
pub(crate) use pattern::{COMMAND_TOOLS, WRITERS, matches_wildcard, names_tool};

use crate::VerdictAction;

/// Who a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    /// The user's own file: holds in every workspace.
    User,
    /// A file of the workspace: may only tighten until its content is trusted.
    Workspace,
    /// The project's rules, kept by the gate and edited in the page.
    Project,
    /// Said in a conversation, for that conversation.
    Session,
}

impl fmt::Display for RuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "your rules",
            Self::Workspace => "the workspace's rules",
            Self::Project => "the project's rules",
            Self::Session => "this conversation's grants",
        })
    }
}

/// What is to happen with calls that look like something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, where it has one.
    pub id: Option<String>,
    /// What is to happen.
    pub outcome: VerdictAction,
    /// As it was written: shown wherever the rule is named.
    pub text: String,
    /// What it looks for.
    pub pattern: RulePattern,
    /// Why it is there, in its author's words.
    pub why: Option<String>,
    /// From this moment on it no longer holds.
    pub expires: Option<Timestamp>,
    /// Calls it must and must not match, checked whenever it is loaded.
    pub examples: Vec<RuleExample>,
}

impl Rule {
    /// Reads a rule in Claude Code's syntax.
    ///
    /// An allowing rule must name its tool to the letter: `*` and `mcp__*` allow nothing.
    pub fn parse(outcome: VerdictAction, text: &str) -> Result<Self, BadRule> {
        let pattern = RulePattern::parse(text)?;
        if outcome == VerdictAction::Allow {
            pattern.may_allow()?;
        }
        Ok(Self::from_pattern(outcome, text.trim().to_owned(), pattern))
    }

    pub(crate) fn from_pattern(outcome: VerdictAction, text: String, pattern: RulePattern) -> Self {
        let (id, why, expires, examples) = (None, None, None, Vec::new());
        Self { id, outcome, text, pattern, why, expires, examples }
    }

    /// Returns whether it holds at a moment.
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }
}

/// A rule that spoke, as reasons name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleCitation {
    /// As it was written.
    pub rule: String,
    /// Who it comes from.
    pub source: RuleSource,
    /// Its name, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why it is there, in its author's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl RuleCitation {
    pub(crate) fn from_rule(rule: &Rule, source: RuleSource) -> Self {
        Self { rule: rule.text.clone(), source, id: rule.id.clone(), why: rule.why.clone() }
    }
}

/// A rule that was not understood, or that fails its own examples, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleFileProblem {
    /// As it was written.
    pub rule: String,
    /// What is wrong with it, and how to mend it.
    pub why: String,
    /// What it was meant to do.
    pub outcome: VerdictAction,
}
