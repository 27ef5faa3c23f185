//! The plan of Claude Code's plan mode: a file of its own, which it writes while nothing else may be.

use std::path::Path;

use countersign_core::PermissionMode;

use super::ConsentRequest;

/// Returns whether a call writes nothing but the plan, where Claude Code keeps plans.
///
/// Which file is the plan, Claude Code knows; it asks about any other.
pub(super) fn writes_plan(call: &ConsentRequest, plans: Option<&Path>) -> bool {
    if call.mode != PermissionMode::Plan || !matches!(call.tool_name.as_str(), "Write" | "Edit") {
        return false;
    }
    let file = call.input.get("file_path").and_then(|path| path.as_str()).map(Path::new);
    file.zip(plans).is_some_and(|(file, plans)| {
        let is_text = file.extension().is_some_and(|ending| ending == "md");
        // The same folder by name and on the disk, and no link in it to somewhere else.
        let is_there = file.parent() == Some(plans) && !plans.is_symlink() && !file.is_symlink();
        is_text && is_there
    })
}
