//! The projects this server serves: one per workspace root.

use std::path::PathBuf;

use countersign_core::ProjectId;
use countersign_gate::Project;
use countersign_tools::Workspace;

use crate::error::ApiError;

/// The projects, the default one first.
pub(crate) struct Projects(Vec<(Project, Workspace)>);

impl Projects {
    pub(crate) fn new(workspaces: Vec<(Project, Workspace)>) -> Self {
        Self(workspaces)
    }

    /// Returns the ids of all of them.
    pub(crate) fn ids(&self) -> Vec<ProjectId> {
        self.0.iter().map(|(project, _)| project.id.clone()).collect()
    }

    /// Returns a project by its id; `default` stands for the first.
    pub(crate) fn get(&self, id: &str) -> Result<&(Project, Workspace), ApiError> {
        let found = if id == "default" {
            self.0.first()
        } else {
            self.0.iter().find(|(project, _)| project.id.as_str() == id)
        };
        found.ok_or_else(|| ApiError::not_found(format!("no project has the id `{id}`")))
    }
}

/// Returns the folder a run works in: the project's root, or a folder below it.
pub(crate) fn working_folder(
    (project, workspace): &(Project, Workspace),
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
