//! Projects: one per workspace root, with an id that stays.

use countersign_core::{Digest, ProjectId};
use jiff::Timestamp;

use super::value::values;
use super::{Store, StoreError};

/// A workspace whose calls, rules and events belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Its id: follows from the root, so every server of one database finds the same.
    pub id: ProjectId,
    /// What people call it.
    pub name: String,
    /// The folder.
    pub root: String,
}

impl Project {
    /// Returns the project of a root.
    pub fn of_root(root: &str) -> Self {
        let digest = Digest::of(root.as_bytes());
        let name = root.rsplit('/').find(|part| !part.is_empty()).unwrap_or(root);
        Self {
            id: ProjectId::from(digest.as_str().chars().take(16).collect::<String>()),
            name: name.to_owned(),
            root: root.to_owned(),
        }
    }
}

impl Store {
    /// Makes sure a project is there.
    pub async fn keep_project(&self, project: Project, now: Timestamp) -> Result<(), StoreError> {
        self.writer
            .write(move |ledger| {
                ledger.execute(
                    "INSERT INTO projects (id, name, root, created_at) VALUES ($1, $2, $3, $4)
                     ON CONFLICT DO NOTHING",
                    values![project.id.as_str(), &project.name, &project.root, now],
                )?;
                Ok(())
            })
            .await
    }
}
