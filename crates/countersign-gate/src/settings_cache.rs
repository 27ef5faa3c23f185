//! What projects have settled for themselves, kept in memory.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use countersign_core::ProjectId;

use crate::store::ProjectSettings;

/// What projects have settled, as last read: wanted for every request that asks.
///
/// Only where this process alone writes; elsewhere the table is asked.
#[derive(Default)]
pub(crate) struct SettingsCache(Mutex<HashMap<ProjectId, ProjectSettings>>);

impl SettingsCache {
    pub(crate) fn get(&self, project: &ProjectId) -> Option<ProjectSettings> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(project).copied()
    }

    pub(crate) fn put(&self, project: &ProjectId, settings: ProjectSettings) {
        let mut settled = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        settled.insert(project.clone(), settings);
    }
}
