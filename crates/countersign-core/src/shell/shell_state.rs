//! What is known of the shell while it runs: where it is, what its variables hold.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{ShellContext, WordValue, variable};

/// More possible folders than this count as unknown.
const MAX_FOLDERS: usize = 4;

/// What is known of the shell at one point of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShellState {
    /// Every folder it may be in; `None` when that is unknown.
    pub(super) folders: Option<Vec<PathBuf>>,
    /// Variables that the text has set, and the few that are known from outside.
    pub(super) variables: BTreeMap<String, WordValue>,
    /// Whether it went through a link to get there.
    pub(super) linked: bool,
    /// What came before and may change what later words mean.
    pub(super) tainted: Option<String>,
    /// What came before and may have changed which files there are.
    pub(super) changed: Option<String>,
}

impl ShellState {
    pub(super) fn for_context(context: &ShellContext<'_>) -> Self {
        let mut variables = BTreeMap::new();
        if let Some(home) = context.home.and_then(Path::to_str) {
            variables.insert("HOME".to_owned(), WordValue::Literal(home.to_owned()));
        }
        if let Some(cwd) = context.cwd.to_str() {
            variables.insert("PWD".to_owned(), WordValue::Literal(cwd.to_owned()));
        }
        Self {
            folders: Some(vec![context.cwd.to_owned()]),
            variables,
            linked: false,
            tainted: None,
            changed: None,
        }
    }

    /// Returns the state of a shell of which nothing is known.
    #[cfg(test)]
    pub(super) fn empty() -> Self {
        let variables = BTreeMap::new();
        Self { folders: None, variables, linked: false, tainted: None, changed: None }
    }

    /// Returns what is known when either may have happened.
    pub(super) fn merge(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        let folders = match (self.folders, other.folders) {
            (Some(some), Some(more)) => joined(some, more),
            _ => None,
        };
        let mut variables = BTreeMap::new();
        for name in self.variables.keys().chain(other.variables.keys()) {
            let value = either(name, self.variables.get(name), other.variables.get(name));
            variables.insert(name.clone(), value);
        }
        let linked = self.linked || other.linked;
        let tainted = self.tainted.or(other.tainted);
        Self { folders, variables, linked, tainted, changed: self.changed.or(other.changed) }
    }

    /// Returns what is known of a loop's body before any of its rounds, given one round's end.
    pub(super) fn widen(self, after: Self) -> Self {
        if self == after {
            return self;
        }
        let moved = self.folders != after.folders;
        let mut wide = self.merge(after);
        if moved {
            wide.leave();
        }
        wide
    }

    /// Moves to other folders.
    pub(super) fn enter(&mut self, folders: Vec<PathBuf>) {
        let one = match folders.as_slice() {
            [one] => one.to_str().map(|path| WordValue::Literal(path.to_owned())),
            _ => None,
        };
        self.variables.insert("PWD".to_owned(), one.unwrap_or(WordValue::Text));
        self.variables.insert("OLDPWD".to_owned(), WordValue::Text);
        self.folders = Some(folders);
    }

    /// Moves to an unknown folder.
    pub(super) fn leave(&mut self) {
        self.variables.insert("PWD".to_owned(), WordValue::Text);
        self.folders = None;
    }

    pub(super) fn taint(&mut self, what: &str) {
        self.tainted.get_or_insert_with(|| what.to_owned());
    }
}

/// Returns what a variable holds that was set in one of two ways.
fn either(name: &str, one: Option<&WordValue>, two: Option<&WordValue>) -> WordValue {
    match (one, two) {
        (Some(one), Some(two)) if one == two => one.clone(),
        (Some(WordValue::Words), _) | (_, Some(WordValue::Words)) => WordValue::Words,
        (Some(_), Some(_)) => WordValue::Text,
        // It may still hold what the environment gave it.
        _ if variable::may_be_shown(name) => WordValue::Text,
        _ => WordValue::Words,
    }
}

fn joined(mut some: Vec<PathBuf>, more: Vec<PathBuf>) -> Option<Vec<PathBuf>> {
    for folder in more {
        if !some.contains(&folder) {
            some.push(folder);
        }
    }
    (some.len() <= MAX_FOLDERS).then_some(some)
}
