//! The plan of an undo: which calls, and what it does to which file.

use countersign_api::undo::{LeftFile, UndoView, UndoneView};
use countersign_core::{Digest, Effect, FileChange, FileReversal, plan_reversals};
use countersign_gate::{ChangedFiles, UndoTarget};
use countersign_tools::{BackupStore, RestoreError};

use super::view::{display_path, undo_file};
use crate::app::App;
use crate::error::ApiError;
use crate::project_registry::ProjectHandle;

/// What is to be undone, and how.
pub(super) struct UndoPlan {
    keep: BackupStore,
    calls: Vec<ChangedFiles>,
    reversals: Vec<FileReversal>,
    /// Whether the calls may have changed more than is kept.
    is_partial: bool,
}

impl UndoPlan {
    /// Makes the plan from what the files are at this moment.
    pub(super) async fn for_undo(
        app: &App,
        (project, _): &ProjectHandle,
        undo: UndoTarget,
    ) -> Result<Self, ApiError> {
        let nothing = || {
            let why = "nothing is kept of files that were changed there";
            ApiError { code: "nothing_to_undo", ..ApiError::not_found(why) }
        };
        let keep = app.keep.clone().ok_or_else(nothing)?;
        let mut calls = app.gate.store().changes(&project.id, undo).await?;
        if matches!(undo, UndoTarget::Run(_)) && calls.iter().any(|call| call.undone.is_none()) {
            // What was put back already must not be taken for somebody else's change.
            calls.retain(|call| call.undone.is_none());
        }
        if calls.iter().all(|call| call.changes.is_empty()) {
            return Err(nothing());
        }
        let mut is_partial = false;
        for call in &calls {
            let approval = app.gate.store().approval(call.approval).await?;
            is_partial |= approval.is_some_and(|it| it.effects().iter().any(reaches_further));
        }
        let changes: Vec<FileChange> = calls.iter().flat_map(|call| call.changes.clone()).collect();
        let reversals =
            run_blocking(move || plan_reversals(&changes, BackupStore::read_file_state)).await?;
        Ok(Self { keep, calls, reversals, is_partial })
    }

    /// Returns the digest of what it would do: what was shown is what is done.
    fn digest(&self) -> Digest {
        let parts = self.reversals.iter().map(|it| format!("{it:?}"));
        let parts: Vec<String> = parts.collect();
        Digest::for_parts(parts.iter().map(String::as_bytes))
    }

    fn tool_ids(&self) -> Vec<String> {
        self.calls.iter().map(|call| call.execution.to_string()).collect()
    }

    /// Returns it as clients see it.
    pub(super) async fn view(self, (project, _): &ProjectHandle) -> Result<UndoView, ApiError> {
        let (digest, tool_ids) = (self.digest().to_string(), self.tool_ids());
        let is_partial = self.is_partial;
        let undone = self.calls.into_iter().map(|call| call.undone).collect::<Option<Vec<_>>>();
        let (undone_by, undone_at) = undone.and_then(|mut all| all.pop()).unzip();
        let root = project.root.clone();
        let (keep, reversals) = (self.keep, self.reversals);
        let files = move || reversals.iter().map(|it| undo_file(&keep, it, &root)).collect();
        let files = run_blocking(files).await?;
        Ok(UndoView { success: true, tool_ids, files, is_partial, digest, undone_by, undone_at })
    }

    /// Checks that this is what was shown, and that nothing stands against it.
    pub(super) fn check(&self, shown: &str, skip_refused: bool) -> Result<(), ApiError> {
        if self.digest().as_str() != shown {
            let why = "the files have changed since this was shown; look at it again";
            return Err(ApiError::conflict("drift", why));
        }
        let refused: Vec<_> = self.reversals.iter().filter(|it| it.hindrance.is_some()).collect();
        match refused.as_slice() {
            [first, rest @ ..] if !skip_refused => {
                let path = first.path.display();
                let more = match rest.len() {
                    0 => String::new(),
                    more => format!("; so with {more} more"),
                };
                let why = first.hindrance.as_ref().map(ToString::to_string).unwrap_or_default();
                let hint = "send `skip_refused` to put back the others";
                let refused = ApiError::conflict("refused", format!("`{path}`: {why}{more}"));
                Err(ApiError { hint: Some(hint), ..refused })
            }
            _ => Ok(()),
        }
    }

    /// Puts the files back, and records it.
    pub(super) async fn carry_out(
        self,
        app: &App,
        (project, _): &ProjectHandle,
        person: &str,
    ) -> Result<UndoneView, ApiError> {
        let tool_ids = self.tool_ids();
        let (keep, all, root) = (self.keep, self.reversals, project.root.clone());
        let restore = move || {
            let tried =
                all.into_iter().map(|it| (keep.restore(&it), display_path(&it.path, &root)));
            tried.collect::<Vec<_>>()
        };
        let tried = run_blocking(restore).await?;
        let files = tried.iter().filter(|(restored, _)| restored.is_ok()).count() as u64;
        let left = |(restored, file_path): (Result<(), RestoreError>, String)| {
            restored.err().map(|error| LeftFile { file_path, reason: error.to_string() })
        };
        let left = tried.into_iter().filter_map(left).collect();
        // After the files: an undo that is not recorded can be done again, and then finds it done.
        app.gate.record_undo(&project.id, &self.calls, files, person).await?;
        Ok(UndoneView { success: true, tool_ids, files, left })
    }
}

/// Returns whether an effect may change more than the files that are named.
fn reaches_further(effect: &Effect) -> bool {
    matches!(effect, Effect::Exec { .. } | Effect::Opaque { .. } | Effect::SpawnAgent { .. })
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "an undo broke off");
        ApiError::internal("broken", "the server failed internally; its log says why")
    })
}
