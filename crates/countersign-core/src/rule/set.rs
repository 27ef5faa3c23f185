//! All rules that hold for one project.

use jiff::Timestamp;

use super::{PatternAnchors, Rule, RuleFile, RuleFileProblem, RuleSource};
use crate::{Digest, PermissionMode, VerdictAction};

/// The rules of one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleLayer {
    /// Where they come from.
    pub source: RuleSource,
    /// Whether what allows counts, not only what restricts.
    pub trusted: bool,
    /// The rules.
    pub rules: Vec<Rule>,
    /// Those that could not be followed.
    pub problems: Vec<RuleFileProblem>,
    /// The mode it sets, if any.
    pub mode: Option<PermissionMode>,
    /// Why the layer could not be read: everything asks until it can be.
    pub broken: Option<String>,
}

impl RuleLayer {
    /// Returns the layer of a file.
    pub fn from_file(source: RuleSource, trusted: bool, file: RuleFile) -> Self {
        let RuleFile { rules, problems, mode, .. } = file;
        Self { source, trusted, rules, problems, mode, broken: None }
    }

    /// Returns the layer of rules that somebody signed in has made.
    pub fn from_rules(source: RuleSource, rules: Vec<Rule>) -> Self {
        Self { source, trusted: true, rules, problems: Vec::new(), mode: None, broken: None }
    }

    /// Returns a layer that cannot be read now: of what it said before, the denials stay.
    pub fn for_unreadable_file(source: RuleSource, why: String, before: &[Rule]) -> Self {
        let denies =
            before.iter().filter(|rule| rule.outcome == VerdictAction::Deny).cloned().collect();
        Self { broken: Some(why), ..Self::from_rules(source, denies) }
    }

    fn counts(&self, rule: &Rule) -> bool {
        self.trusted || rule.outcome != VerdictAction::Allow
    }
}

/// All rules that hold for one project, ready to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSet {
    layers: Vec<RuleLayer>,
    anchors: PatternAnchors,
    version: Digest,
}

impl RuleSet {
    /// Returns the rules of some layers.
    pub fn new(layers: Vec<RuleLayer>, anchors: PatternAnchors) -> Self {
        let version = version(&layers);
        Self { layers, anchors, version }
    }

    /// Returns no rules at all, for a workspace.
    pub fn empty(anchors: PatternAnchors) -> Self {
        Self::new(Vec::new(), anchors)
    }

    /// Returns what tells this set from every other: part of what a decision is bound to.
    pub fn version(&self) -> &Digest {
        &self.version
    }

    /// Returns the layers.
    pub fn layers(&self) -> &[RuleLayer] {
        &self.layers
    }

    /// Returns the folders that patterns start from.
    pub fn anchors(&self) -> &PatternAnchors {
        &self.anchors
    }

    /// Returns the rules with one outcome that hold at a moment.
    pub fn rules(
        &self,
        outcome: VerdictAction,
        now: Timestamp,
    ) -> impl Iterator<Item = (RuleSource, &Rule)> {
        self.layers.iter().flat_map(move |layer| {
            let rules = layer.rules.iter();
            let holds = move |rule: &&Rule| {
                rule.outcome == outcome && rule.holds_at(now) && layer.counts(rule)
            };
            rules.filter(holds).map(move |rule| (layer.source, rule))
        })
    }

    /// Returns the layers that could not be read, and why.
    pub fn unreadable_layers(&self) -> impl Iterator<Item = (RuleSource, &str)> {
        let broken = |layer: &'_ RuleLayer| layer.broken.is_some();
        let broken = self.layers.iter().filter(move |layer| broken(layer));
        broken.filter_map(|layer| Some((layer.source, layer.broken.as_deref()?)))
    }

    /// Returns the mode for runs that name none.
    ///
    /// A layer that is not trusted may only tighten, and no file of a workspace ever bypasses.
    pub fn mode(&self) -> PermissionMode {
        let set = |layer: &RuleLayer| {
            let mode = layer.mode?;
            let tightens = matches!(
                mode,
                PermissionMode::Plan | PermissionMode::Default | PermissionMode::DontAsk
            );
            let may = tightens || (layer.trusted && mode == PermissionMode::AcceptEdits);
            (layer.source == RuleSource::User || may).then_some(mode)
        };
        // What stands closer to the work speaks last.
        self.layers.iter().rev().find_map(set).unwrap_or_default()
    }
}

fn version(layers: &[RuleLayer]) -> Digest {
    let mut parts: Vec<String> = Vec::new();
    for layer in layers {
        parts.push(format!("{:?} {} {:?}", layer.source, layer.trusted, layer.broken));
        parts.push(format!("{:?}", layer.mode));
        for rule in &layer.rules {
            let expires = rule.expires.map(|at| at.to_string()).unwrap_or_default();
            parts.push(format!("{:?} {} {expires}", rule.outcome, rule.text));
        }
    }
    Digest::for_parts(parts.iter().map(String::as_bytes))
}
