//! Examples: what a rule must and must not match, checked whenever it is loaded.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{PatternAnchors, Rule, RulePattern};
use crate::shell::{self, CommandPart, Machine};
use crate::{EffectTarget, PathClass, normalize_lexically};

/// A call a rule was written with.
///
/// For a rule about commands it is a command, about files a path, about hosts a host or an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleExample {
    /// The call.
    pub call: String,
    /// Whether the rule must match it.
    pub matches: bool,
}

/// A rule that does not do what its own examples say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleFailure {
    /// The example.
    pub example: RuleExample,
    /// The rule, as it was written.
    pub rule: String,
}

impl fmt::Display for ExampleFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { example: RuleExample { call, matches }, rule } = self;
        let says = if *matches { "must match" } else { "must not match" };
        let does = if *matches { "does not" } else { "does" };
        write!(f, "`{rule}` {says} `{call}`, and {does}")
    }
}

impl Rule {
    /// Returns the examples that the rule fails.
    pub fn failures(&self, anchors: &PatternAnchors) -> Vec<ExampleFailure> {
        let fails = |example: &&RuleExample| self.is_for(&example.call, anchors) != example.matches;
        let failed = self.examples.iter().filter(fails).cloned();
        failed.map(|example| ExampleFailure { example, rule: self.text.clone() }).collect()
    }

    /// Returns whether a call, written as in an example, is one the rule is about.
    ///
    /// An allowing rule must cover every command of a line, a restricting one needs only one.
    fn is_for(&self, call: &str, anchors: &PatternAnchors) -> bool {
        let allows = self.outcome == crate::VerdictAction::Allow;
        let cwd = &anchors.root;
        match &self.pattern {
            RulePattern::Command(pattern) if allows => {
                every(call, anchors, |it| pattern.permits(it))
            }
            RulePattern::Command(pattern) => any(call, anchors, |it| pattern.restricts(it)),
            RulePattern::Argv(pattern) if allows => every(call, anchors, |it| pattern.permits(it)),
            RulePattern::Argv(pattern) => any(call, anchors, |it| pattern.restricts(it)),
            RulePattern::Path(_, pattern) => {
                let path = normalize_lexically(&cwd.join(call));
                if allows {
                    pattern.permits(&path, cwd, anchors)
                } else {
                    pattern.restricts(&path, cwd, anchors)
                }
            }
            RulePattern::Domain(pattern) => {
                let host = call.split_once("://").map_or(call, |(_, rest)| rest);
                let host = host.split(['/', '?', '#']).next().unwrap_or(host);
                pattern.matches(host.rsplit_once(':').map_or(host, |(host, _)| host))
            }
            RulePattern::Tool(name) => super::pattern::names_tool(name, call),
            RulePattern::Agent(name) => name == call,
            RulePattern::RemoteRead(program) => {
                call.split_whitespace().next() == Some(program.as_str())
            }
            RulePattern::Field { value, .. } => super::pattern::matches_wildcard(value, call),
        }
    }
}

fn any(command: &str, anchors: &PatternAnchors, matches: impl Fn(&CommandPart) -> bool) -> bool {
    analyse_parts(command, anchors).iter().any(matches)
}

fn every(command: &str, anchors: &PatternAnchors, matches: impl Fn(&CommandPart) -> bool) -> bool {
    let parts = analyse_parts(command, anchors);
    !parts.is_empty() && parts.iter().all(matches)
}

pub(super) fn analyse_parts(command: &str, anchors: &PatternAnchors) -> Vec<CommandPart> {
    let machine = UnknownMachine(anchors);
    let context = shell::ShellContext {
        cwd: &anchors.root,
        home: anchors.home.as_deref(),
        env: &[],
        own: &[],
        machine: &machine,
    };
    shell::analyse(command, &context).parts
}

/// A machine of which nothing is known but where paths lead by their names.
struct UnknownMachine<'a>(&'a PatternAnchors);

impl Machine for UnknownMachine<'_> {
    fn target(&self, cwd: &Path, path: &str) -> Option<EffectTarget> {
        let path = normalize_lexically(&cwd.join(path));
        let place = PathClass::from_path(&path, std::slice::from_ref(&self.0.root));
        Some(EffectTarget::new(path, place))
    }

    fn trusted_program(&self, _: &str) -> Option<PathBuf> {
        None
    }

    fn git_hazards(&self, _: &Path) -> Option<Vec<String>> {
        None
    }
}
