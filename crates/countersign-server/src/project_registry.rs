//! The projects this server serves: one per workspace root, and those made of folders inside them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use countersign_core::ProjectId;
use countersign_gate::{Gate, Project, StoreError};
use countersign_tools::Workspace;

use crate::error::ApiError;

/// A project and where it works.
pub(crate) type ProjectHandle = (Project, Workspace);

/// The projects, the default one first.
pub(crate) struct ProjectRegistry {
    gate: Gate,
    /// What was served from the start: every project lies in one of these.
    roots: Vec<Workspace>,
    known: RwLock<Vec<Arc<ProjectHandle>>>,
}

impl ProjectRegistry {
    pub(crate) fn new(gate: Gate, workspaces: Vec<ProjectHandle>) -> Self {
        let roots = workspaces.iter().map(|(_, workspace)| workspace.clone()).collect();
        let known = workspaces.into_iter().map(Arc::new).collect();
        Self { gate, roots, known: RwLock::new(known) }
    }

    /// Takes in what was made here, or at another server, out of folders of our roots.
    pub(crate) async fn load(&self) -> Result<(), StoreError> {
        for kept in self.gate.store().projects().await? {
            self.admit(&kept.project);
        }
        Ok(())
    }

    /// Returns the ids of all of them.
    pub(crate) fn ids(&self) -> Vec<ProjectId> {
        self.known().iter().map(|place| place.0.id.clone()).collect()
    }

    /// Returns a project by its id; `default` stands for the first.
    pub(crate) async fn get(&self, id: &str) -> Result<Arc<ProjectHandle>, ApiError> {
        if let Some(place) = self.find(id) {
            return Ok(place);
        }
        let unknown = || ApiError::not_found(format!("no project has the id `{id}`"));
        // One that was made at another server since we started.
        let kept = self.gate.store().project(&ProjectId::from(id)).await?;
        kept.and_then(|kept| self.admit(&kept.project)).ok_or_else(unknown)
    }

    /// Returns a project that is known here.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<ProjectHandle>> {
        let known = self.known();
        let found = if id == "default" {
            known.first()
        } else {
            known.iter().find(|place| place.0.id.as_str() == id)
        };
        found.cloned()
    }

    /// Returns the workspace that a folder would be; none for one that is not in our roots.
    pub(crate) fn workspace(&self, folder: &Path) -> Option<Workspace> {
        self.roots.iter().find_map(|root| root.narrowed(folder))
    }

    /// Serves a project from now on; none if its root is not a folder of ours.
    fn admit(&self, project: &Project) -> Option<Arc<ProjectHandle>> {
        if let Some(known) = self.find(project.id.as_str()) {
            return Some(known);
        }
        let workspace = self.workspace(Path::new(&project.root))?;
        self.gate.rulebook().add_project(project.id.clone(), PathBuf::from(&project.root));
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let place = Arc::new((project.clone(), workspace));
        // Two may come to this at the same time: the first one's stays.
        if let Some(first) = known.iter().find(|place| place.0.id == project.id) {
            return Some(first.clone());
        }
        known.push(place.clone());
        Some(place)
    }

    fn known(&self) -> std::sync::RwLockReadGuard<'_, Vec<Arc<ProjectHandle>>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the folder a run works in: the project's root, or a folder below it.
pub(crate) fn working_folder(
    (project, workspace): &ProjectHandle,
    cwd: Option<&str>,
) -> Result<PathBuf, ApiError> {
    let root = PathBuf::from(&project.root);
    let Some(cwd) = cwd else { return Ok(root) };
    let folder = root.join(cwd).canonicalize().map_err(|error| {
        ApiError::bad_request("bad_cwd", format!("`{cwd}` cannot be worked in: {error}"))
    })?;
    if folder.is_dir() && workspace.roots().iter().any(|root| folder.starts_with(root)) {
        Ok(folder)
    } else {
        Err(ApiError::bad_request("bad_cwd", format!("`{cwd}` is not a folder of this project")))
    }
}
