//! What a row gives along with its call: other rules, a mode, an environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use countersign_core::rule::{RuleFile, RuleLayer, RuleSource};
use countersign_core::{InvalidCall, Rule, VerdictAction};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{EvaluationTerms, PolicyEvaluator};

/// Of what a row gives, what we go by. A sandbox is not among it: nothing runs because of one yet.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RowOverrides {
    /// Lists `allow`, `ask` and `deny`, in the place of all other rules.
    rules: Option<Value>,
    mode: Option<String>,
    /// The folder the call is made in, below the root.
    cwd: Option<PathBuf>,
    env: BTreeMap<String, String>,
    /// Whether the workspace's own file counts in full.
    trusted: Option<bool>,
    /// Commands that somebody has said "always" to, as broadly as was offered.
    learned_from: Option<LearnedCommands>,
    /// Where the address of a fetch leads on to: judged as a call of its own. Only a row knows it
    /// beforehand; a fetch that another program makes shows us its first address alone.
    pub(super) redirect_to: Option<String>,
}

/// One command, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum LearnedCommands {
    One(String),
    Several(Vec<String>),
}

impl LearnedCommands {
    fn as_slice(&self) -> &[String] {
        match self {
            Self::One(command) => std::slice::from_ref(command),
            Self::Several(commands) => commands,
        }
    }
}

impl RowOverrides {
    /// Returns what a row's call is judged by.
    pub(super) fn terms(&self, judge: &PolicyEvaluator) -> Result<EvaluationTerms, InvalidCall> {
        let mut terms = judge.terms().clone();
        if let Some(lists) = &self.rules {
            terms.rules = judge.rule_set(vec![layer_from_lists(lists, judge)]);
        } else if let Some(trusted) = self.trusted {
            let mut layers = terms.rules.layers().to_vec();
            for layer in layers.iter_mut().filter(|layer| layer.source == RuleSource::Workspace) {
                layer.trusted = trusted;
            }
            terms.rules = judge.rule_set(layers);
        }
        if let Some(mode) = &self.mode {
            // A mode we do not have must not be taken for one that asks less.
            terms.mode = Some(mode.parse().unwrap_or_default());
        }
        terms.env = self.env.clone().into_iter().collect();
        terms.cwd = self.cwd.as_deref().map(|cwd| folder_below(cwd, judge.root())).transpose()?;
        if let Some(commands) = &self.learned_from {
            let learned = commands.as_slice().iter().flat_map(|command| learned(command, judge));
            let mut layers = terms.rules.layers().to_vec();
            layers.push(RuleLayer::from_rules(RuleSource::Session, learned.collect()));
            terms.rules = judge.rule_set(layers);
        }
        Ok(terms)
    }
}

/// Returns a folder of the workspace, links resolved.
fn folder_below(cwd: &Path, root: &Path) -> Result<PathBuf, InvalidCall> {
    let folder = root.join(cwd).canonicalize().ok().filter(|it| it.is_dir());
    folder.filter(|folder| folder.starts_with(root)).ok_or_else(|| {
        InvalidCall(format!("`cwd`: `{}` is not a folder below the root", cwd.display()))
    })
}

fn layer_from_lists(lists: &Value, judge: &PolicyEvaluator) -> RuleLayer {
    match RuleFile::from_lists(lists, judge.anchors()) {
        Ok(file) => RuleLayer::from_file(RuleSource::User, true, file),
        Err(error) => RuleLayer::for_unreadable_file(
            RuleSource::User,
            format!("the row's rules: {error}"),
            &[],
        ),
    }
}

/// Returns the rules that "always" would have made of a command.
fn learned(command: &str, judge: &PolicyEvaluator) -> Vec<Rule> {
    let bare = EvaluationTerms { rules: judge.rule_set(Vec::new()), ..judge.terms().clone() };
    let judged = judge.judge("Bash", Ok(json!({ "command": command })), &bare);
    let broadest = judge.proposals(&judged).pop();
    let texts = broadest.map(|proposal| proposal.rules).unwrap_or_default();
    texts.iter().filter_map(|text| Rule::parse(VerdictAction::Allow, text).ok()).collect()
}
