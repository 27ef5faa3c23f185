//! Examples: what a rule must and must not match, checked whenever it is loaded.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{Anchors, Pattern, Rule};
use crate::shell::{self, Machine, Part};
use crate::{Place, Target, lexical};

/// A call a rule was written with.
///
/// For a rule about commands it is a command, about files a path, about hosts a host or an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The call.
    pub call: String,
    /// Whether the rule must match it.
    pub matches: bool,
}

/// A rule that does not do what its own examples say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleFailure {
    /// The example.
    pub example: Example,
    /// The rule, as it was written.
    pub rule: String,
}

impl fmt::Display for ExampleFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { example: Example { call, matches }, rule } = self;
        let says = if *matches { "must match" } else { "must not match" };
        let does = if *matches { "does not" } else { "does" };
        write!(f, "`{rule}` {says} `{call}`, and {does}")
    }
}

impl Rule {
    /// Returns the examples that the rule fails.
    pub fn failures(&self, anchors: &Anchors) -> Vec<ExampleFailure> {
        let fails = |example: &&Example| self.is_for(&example.call, anchors) != example.matches;
        let failed = self.examples.iter().filter(fails).cloned();
        failed.map(|example| ExampleFailure { example, rule: self.text.clone() }).collect()
    }

    /// Returns whether a call, written as in an example, is one the rule is about.
    ///
    /// An allowing rule must cover every command of a line, a restricting one needs only one.
    fn is_for(&self, call: &str, anchors: &Anchors) -> bool {
        let allows = self.outcome == crate::Outcome::Allow;
        let cwd = &anchors.root;
        match &self.pattern {
            Pattern::Command(pattern) if allows => every(call, anchors, |it| pattern.permits(it)),
            Pattern::Command(pattern) => any(call, anchors, |it| pattern.restricts(it)),
            Pattern::Argv(pattern) if allows => every(call, anchors, |it| pattern.permits(it)),
            Pattern::Argv(pattern) => any(call, anchors, |it| pattern.restricts(it)),
            Pattern::Path(_, pattern) => {
                let path = lexical(&cwd.join(call));
                if allows {
                    pattern.permits(&path, cwd, anchors)
                } else {
                    pattern.restricts(&path, cwd, anchors)
                }
            }
            Pattern::Domain(pattern) => {
                let host = call.split_once("://").map_or(call, |(_, rest)| rest);
                let host = host.split(['/', '?', '#']).next().unwrap_or(host);
                pattern.matches(host.rsplit_once(':').map_or(host, |(host, _)| host))
            }
            Pattern::Tool(name) => super::pattern::names_tool(name, call),
            Pattern::Agent(name) => name == call,
            Pattern::Field { value, .. } => super::pattern::wild(value, call),
        }
    }
}

fn any(command: &str, anchors: &Anchors, matches: impl Fn(&Part) -> bool) -> bool {
    parts_of(command, anchors).iter().any(matches)
}

fn every(command: &str, anchors: &Anchors, matches: impl Fn(&Part) -> bool) -> bool {
    let parts = parts_of(command, anchors);
    !parts.is_empty() && parts.iter().all(matches)
}

pub(super) fn parts_of(command: &str, anchors: &Anchors) -> Vec<Part> {
    let machine = Nowhere(anchors);
    let context = shell::Context {
        cwd: &anchors.root,
        home: anchors.home.as_deref(),
        env: &[],
        own: &[],
        machine: &machine,
    };
    shell::analyse(command, &context).parts
}

/// A machine of which nothing is known but where paths lead by their names.
struct Nowhere<'a>(&'a Anchors);

impl Machine for Nowhere<'_> {
    fn target(&self, cwd: &Path, path: &str) -> Option<Target> {
        let path = lexical(&cwd.join(path));
        let place = Place::of(&path, std::slice::from_ref(&self.0.root));
        Some(Target::new(path, place))
    }

    fn trusted_program(&self, _: &str) -> Option<PathBuf> {
        None
    }

    fn git_hazards(&self, _: &Path) -> Option<Vec<String>> {
        None
    }
}
