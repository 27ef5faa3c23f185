//! Folders, walked in parallel: ignored files left out, links not followed.

use std::path::Path;

use countersign_core::{EffectTarget, InvalidCall};
use ignore::{DirEntry, WalkBuilder, WalkState};
use tokio_util::sync::CancellationToken;

/// After how many entries it is asked whether the walk is cancelled.
const ASK_EVERY: usize = 64;

/// Returns a walk through a folder, to be narrowed further.
///
/// Hidden files are part of it, git's own folder is not, and what `.gitignore` names neither.
pub(crate) fn walk_folder(folder: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(folder);
    builder
        .hidden(false)
        .follow_links(false)
        .require_git(false)
        // It would be looked for by way of the environment.
        .git_global(false)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
    builder
}

/// Visits everything that is not a folder, on several threads, until cancelled.
///
/// `visitor` is called once per thread, for what only that thread may use.
pub(crate) fn each_file<'s, V: FnMut(&DirEntry) + Send + 's>(
    builder: &WalkBuilder,
    cancel: &'s CancellationToken,
    visitor: impl Fn() -> V,
) {
    builder.build_parallel().run(|| {
        let mut visit = visitor();
        let mut visited = 0_usize;
        Box::new(move |entry| {
            // To ask takes a lock, for which all threads would wait.
            if visited.is_multiple_of(ASK_EVERY) && cancel.is_cancelled() {
                return WalkState::Quit;
            }
            visited = visited.wrapping_add(1);
            // What cannot be looked at is not there for us.
            if let Ok(entry) = entry
                && entry.file_type().is_some_and(|kind| !kind.is_dir())
            {
                visit(&entry);
            }
            WalkState::Continue
        })
    });
}

/// Checks that there is something to walk through.
pub(crate) fn check_exists(
    path: &str,
    target: &EffectTarget,
) -> Result<std::fs::Metadata, InvalidCall> {
    target.path.metadata().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            InvalidCall(format!("`{path}` does not exist; leave `path` out to search everywhere"))
        }
        _ => InvalidCall(format!("could not open `{path}`: {error}")),
    })
}
