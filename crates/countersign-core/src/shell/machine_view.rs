//! What looks at the machine for one command.

use std::path::PathBuf;

use super::lower::CommandLowerer;
use super::shell_state::ShellState;
use super::{CommandWord, Machine, WordValue};
use crate::{Effect, EffectTarget};

/// What looks at the machine for an entry.
#[derive(Clone, Copy)]
pub(super) struct MachineView<'a> {
    pub(super) lowering: &'a CommandLowerer<'a>,
    pub(super) state: &'a ShellState,
}

impl MachineView<'_> {
    /// Returns where a word leads that names one path or many.
    pub(super) fn targets(&self, word: &CommandWord) -> Result<Vec<EffectTarget>, String> {
        match &word.value {
            WordValue::Literal(path) => self.lowering.targets(path, self.state),
            WordValue::Glob(pattern) => {
                let mut found = self.pattern_folder_targets(pattern)?;
                found.extend(self.matches(pattern)?);
                Ok(found)
            }
            WordValue::Text | WordValue::Words => {
                Err(format!("what `{}` names is decided only when it runs", word.text))
            }
        }
    }

    /// Returns where a word leads, without the folder that a pattern is looked up in.
    pub(super) fn named_targets(&self, word: &CommandWord) -> Result<Vec<EffectTarget>, String> {
        match &word.value {
            WordValue::Glob(pattern) => self.matches(pattern),
            WordValue::Literal(_) | WordValue::Text | WordValue::Words => self.targets(word),
        }
    }

    /// Returns the folder a pattern is looked up in, whose names it shows.
    pub(super) fn pattern_folder_targets(
        &self,
        pattern: &str,
    ) -> Result<Vec<EffectTarget>, String> {
        let fixed = pattern.find(['*', '?', '[', '\\']).and_then(|at| pattern.get(..at));
        let folder =
            fixed.and_then(|fixed| fixed.rsplit_once('/')).map_or(".", |(folder, _)| folder);
        let folder = if folder.is_empty() { "/" } else { folder };
        self.lowering.targets(folder, self.state)
    }

    /// Returns what a pattern matches now.
    fn matches(&self, pattern: &str) -> Result<Vec<EffectTarget>, String> {
        let unknown = || format!("what `{pattern}` matches is unknown");
        if climbs(pattern) {
            return Err(unknown());
        }
        let mut found = Vec::new();
        for cwd in self.state.folders.as_ref().ok_or_else(unknown)? {
            found.extend(self.lowering.context.machine.matches(cwd, pattern).ok_or_else(unknown)?);
        }
        Ok(found)
    }

    pub(super) fn reads(&self, word: &CommandWord) -> Result<Vec<Effect>, String> {
        Ok(self.targets(word)?.into_iter().map(Effect::Read).collect())
    }

    pub(super) fn machine(&self) -> &dyn Machine {
        self.lowering.context.machine
    }

    /// Returns the folders the command may run in.
    pub(super) fn folders(&self) -> Result<&[PathBuf], String> {
        let unknown = || "in which folder it runs is unknown".to_owned();
        self.state.folders.as_deref().ok_or_else(unknown)
    }

    /// Whether no file's name here starts with a dash: no pattern turns into an option then.
    pub(super) fn has_no_options(&self) -> bool {
        let machine = self.lowering.context.machine;
        let none = |cwd: &PathBuf| machine.matches(cwd, "-*").is_some_and(|found| found.is_empty());
        self.state.folders.as_ref().is_some_and(|folders| folders.iter().all(none))
    }

    pub(super) fn here(&self) -> Result<Vec<EffectTarget>, String> {
        self.lowering.targets(".", self.state)
    }
}

/// Whether a pattern may lead up: by a `..` behind a wildcard, or because `.*` matches `..`.
fn climbs(pattern: &str) -> bool {
    let mut wild = false;
    pattern.split('/').any(|name| {
        let dots =
            name.strip_prefix('.').is_some_and(|rest| rest.starts_with(['*', '?', '[', '.']));
        wild |= name.contains(['*', '?', '[']);
        wild && dots
    })
}
