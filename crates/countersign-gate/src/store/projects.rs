//! Projects: one per workspace root, with an id that stays, and what each has settled for itself.

use countersign_core::{Digest, Event, ProjectId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::audit::AuditAction;
use super::value::{SqlRow, values};
use super::{Store, StoreError, from_json, to_json};

/// A workspace whose calls, rules and events belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Its id, a uuid: follows from the root, so every server of one database finds the same.
    pub id: ProjectId,
    /// What people call it.
    pub name: String,
    /// The folder.
    pub root: String,
}

/// What a project has settled for itself; what is not given is as the server has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectSettings {
    /// How many seconds people have to decide on MEDIUM, and on LOW where even that asks.
    pub medium_seconds: Option<u64>,
    /// How many seconds people have to decide on HIGH.
    pub high_seconds: Option<u64>,
    /// Whether people are asked: never mind what a run wants, or only if it wants that.
    pub tool_approval_enabled: Option<bool>,
    /// Whether commands are tried out while they wait; not unless said.
    pub rehearse: Option<bool>,
}

/// A project as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredProject {
    /// Which.
    pub project: Project,
    /// What it has settled.
    pub settings: ProjectSettings,
    /// Who changed any of that last, and when; none while it is as it was made.
    pub changed: Option<LastProjectChange>,
}

/// The last change of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastProjectChange {
    /// Who made it.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// The column `settings`.
#[derive(Serialize, Deserialize)]
struct ProjectSettingsColumn {
    #[serde(flatten)]
    settings: ProjectSettings,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changed: Option<LastProjectChange>,
}

const COLUMNS: &str = "SELECT id, name, root, settings FROM projects";

impl Project {
    /// Returns the project of a root.
    pub fn from_root(root: &str) -> Self {
        let digest = Digest::for_bytes(root.as_bytes());
        let name = root.rsplit('/').find(|part| !part.is_empty()).unwrap_or(root);
        Self {
            id: ProjectId::from(digest.as_str().chars().take(16).collect::<String>()),
            name: name.to_owned(),
            root: root.to_owned(),
        }
    }
}

impl Store {
    /// Makes sure a project is there; returns whether it was not.
    pub async fn register_project(
        &self,
        project: Project,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.writer
            .write(move |ledger| {
                let made = ledger.execute(
                    "INSERT INTO projects (id, name, root, created_at) VALUES ($1, $2, $3, $4)
                     ON CONFLICT DO NOTHING",
                    values![project.id.as_str(), &project.name, &project.root, now],
                )?;
                Ok(made == 1)
            })
            .await
    }

    /// Returns all projects, the oldest first.
    pub async fn projects(&self) -> Result<Vec<StoredProject>, StoreError> {
        self.readers
            .read(|db| {
                let rows = db.query(&format!("{COLUMNS} ORDER BY created_at, id"), &[])?;
                rows.into_iter().map(stored_project).collect()
            })
            .await
    }

    /// Returns a project.
    pub async fn project(&self, id: &ProjectId) -> Result<Option<StoredProject>, StoreError> {
        let id = id.clone();
        self.readers
            .read(move |db| {
                let row =
                    db.query_one(&format!("{COLUMNS} WHERE id = $1"), values![id.as_str()])?;
                row.map(stored_project).transpose()
            })
            .await
    }

    /// Changes what a project is called and has settled, as `change` says; returns what stands, none
    /// if there is no such project.
    pub(crate) async fn change_project(
        &self,
        id: &ProjectId,
        by: &str,
        now: Timestamp,
        change: impl Fn(&mut StoredProject) + Send + 'static,
    ) -> Result<Option<StoredProject>, StoreError> {
        let (id, by) = (id.clone(), by.to_owned());
        self.writer
            .write(move |ledger| {
                // Of two servers that change it, the second one sees what the first has left.
                ledger.lock_counters(&id)?;
                let found =
                    ledger.query_one(&format!("{COLUMNS} WHERE id = $1"), values![id.as_str()])?;
                let Some(row) = found else { return Ok(None) };
                let before = stored_project(row)?;
                let mut project = before.clone();
                change(&mut project);
                if project == before {
                    return Ok(Some(project));
                }
                project.changed = Some(LastProjectChange { by: by.clone(), at: now });
                let settings = ProjectSettingsColumn {
                    settings: project.settings,
                    changed: project.changed.clone(),
                };
                ledger.execute(
                    "UPDATE projects SET name = $1, settings = $2 WHERE id = $3",
                    values![&project.project.name, to_json(&settings)?, id.as_str()],
                )?;
                let (who, name) = (by.clone(), project.project.name.clone());
                let act = AuditAction::Settings { who, name, settings: project.settings };
                ledger.append_audit(&id, now, &act)?;
                ledger.append_event(&id, None, None, now, &Event::SettingsChanged)?;
                Ok(Some(project))
            })
            .await
    }
}

fn stored_project(mut row: SqlRow) -> Result<StoredProject, StoreError> {
    let project =
        Project { id: row.take::<String>()?.into(), name: row.take()?, root: row.take()? };
    let ProjectSettingsColumn { settings, changed } =
        from_json("settings", &row.take::<String>()?)?;
    Ok(StoredProject { project, settings, changed })
}
