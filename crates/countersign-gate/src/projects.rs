//! Projects at the gate: what each has settled for itself, and how long its people have to decide.

use std::time::Duration;

use countersign_core::ProjectId;

use crate::gate::Gate;
use crate::store::{ProjectSettings, StoreError, StoredProject};
use crate::timeouts::DecisionTimeouts;

impl Gate {
    /// Returns how long people of a project have to decide.
    pub async fn timeouts(&self, project: &ProjectId) -> Result<DecisionTimeouts, StoreError> {
        let settings = self.project_settings(project).await?;
        let server = self.inner().timeouts;
        let or = |own: Option<u64>, servers| own.map_or(servers, Duration::from_secs);
        Ok(DecisionTimeouts {
            medium: or(settings.medium_seconds, server.medium),
            high: or(settings.high_seconds, server.high),
        })
    }

    /// Returns how long people have where a project has settled nothing.
    pub fn default_timeouts(&self) -> DecisionTimeouts {
        self.inner().timeouts
    }

    /// Changes what a project is called and has settled; returns what stands, none if there is no
    /// such project. Requests that wait already keep their deadline.
    pub async fn change_project(
        &self,
        project: &ProjectId,
        by: &str,
        change: impl Fn(&mut StoredProject) + Send + 'static,
    ) -> Result<Option<StoredProject>, StoreError> {
        let now = self.inner().clock.now();
        let changed = self.store().change_project(project, by, now, change).await?;
        if let Some(stands) = &changed {
            self.inner().settled.put(project, stands.settings);
        }
        Ok(changed)
    }

    pub(crate) async fn project_settings(
        &self,
        project: &ProjectId,
    ) -> Result<ProjectSettings, StoreError> {
        let alone = !self.store().is_shared();
        if let Some(settings) = self.inner().settled.get(project).filter(|_| alone) {
            return Ok(settings);
        }
        let kept = self.store().project(project).await?;
        let settings = kept.map(|kept| kept.settings).unwrap_or_default();
        self.inner().settled.put(project, settings);
        Ok(settings)
    }
}
