//! Any text is a patch or an error; a patch says what it changes, and nothing outside goes unseen.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use countersign_core::{Effect, EffectTarget, Planner, WorkspaceSide};
use countersign_tools::{Environment, PlannerCatalogue, Workspace};
use serde_json::json;

/// An empty folder to plan in: planning reads, and never writes.
static FOLDER: LazyLock<Option<(PathBuf, Arc<dyn Planner>)>> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("countersign-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).ok()?;
    let workspace = Workspace::new([folder]).ok()?;
    let root = workspace.roots().first()?.clone();
    let planner = PlannerCatalogue::new(workspace, Environment::default()).planner("ApplyPatch")?;
    Some((root, planner))
});

/// Tries one text.
pub fn try_one(patch: &str) {
    let Some((root, planner)) = FOLDER.as_ref() else { panic!("there is nowhere to plan in") };
    let mut call = crate::call("ApplyPatch", json!({ "patch": patch }));
    call.cwd.clone_from(root);
    let Ok(plan) = planner.plan(&call) else { return };
    assert!(!plan.effects.is_empty(), "a patch that does nothing");
    let seen = |target: &EffectTarget| {
        assert_eq!(target.path.starts_with(root), target.place.side == WorkspaceSide::Inside);
    };
    for effect in &plan.effects {
        match effect {
            Effect::Read(target) | Effect::Write(target) | Effect::Delete(target) => seen(target),
            Effect::Rename { from, to } => [from, to].into_iter().for_each(seen),
            _ => {}
        }
    }
}
