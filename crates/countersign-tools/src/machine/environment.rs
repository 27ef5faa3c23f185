//! The environment that children see, with the programs that its `PATH` leads to.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::local_machine::ProgramCache;

/// The variable that says where programs are looked up.
const SEARCH_PATH: &str = "PATH";

/// The environment a child sees: what the binary chose, and nothing else.
#[derive(Clone, Default)]
pub struct Environment {
    variables: Arc<[(String, String)]>,
    /// The programs that its `PATH` was found to lead to.
    programs: Arc<ProgramCache>,
}

impl From<Vec<(String, String)>> for Environment {
    fn from(variables: Vec<(String, String)>) -> Self {
        Self { variables: variables.into(), programs: Arc::default() }
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self { variables: variables.into_iter().collect(), programs: Arc::default() }
    }
}

impl Environment {
    /// Returns the same with some variables set, whatever they were before.
    #[must_use]
    pub(crate) fn with(&self, set: &[(String, String)]) -> Self {
        if set.is_empty() {
            return self.clone();
        }
        let is_set = |name: &str| set.iter().any(|(other, _)| other == name);
        let kept = self.variables.iter().filter(|(name, _)| !is_set(name));
        self.with_variables(kept.chain(set).cloned().collect())
    }

    /// Returns the same without the variables whose names are meant.
    #[must_use]
    pub(crate) fn without(&self, is_meant: impl Fn(&str) -> bool) -> Self {
        let kept = self.variables.iter().filter(|(name, _)| !is_meant(name));
        self.with_variables(kept.cloned().collect())
    }

    /// Programs are where they were, unless they are looked up elsewhere.
    fn with_variables(&self, variables: Arc<[(String, String)]>) -> Self {
        let mut changed = Self { variables, programs: Arc::default() };
        if changed.get(SEARCH_PATH) == self.get(SEARCH_PATH) {
            changed.programs = Arc::clone(&self.programs);
        }
        changed
    }

    /// Returns the value of a variable.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Environment {
    /// Returns its variables.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the programs that were looked up in it.
    pub(crate) fn programs(&self) -> &ProgramCache {
        &self.programs
    }

    /// Returns the program that a command means, as it will be started: one with a `/` from a folder,
    /// any other from `PATH`.
    pub(crate) fn find_program(&self, command: &str, from: &Path) -> Option<PathBuf> {
        if command.contains('/') {
            return Some(from.join(command)).filter(|path| path.is_file());
        }
        std::env::split_paths(self.get(SEARCH_PATH).unwrap_or_default())
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(command))
            .find(|path| is_program(path))
    }

    /// Returns the names of its variables.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|(name, _)| name.as_str())
    }
}

/// Names only: values may be private.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.variables.iter().map(|(name, _)| name)).finish()
    }
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}
