//! The plan of Claude Code's plan mode: a file of its own, which it writes while nothing else may be.

use std::path::Path;

use countersign_claude::HookInput;
use serde_json::Value;

/// Returns whether a call writes nothing but a plan, in the folder where Claude Code keeps them.
///
/// Which file is the plan, Claude Code knows: it asks about any other.
pub(super) async fn writes_plan(input: &HookInput, plans: Option<&Path>) -> bool {
    let (Some((tool, fields)), Some(plans)) = (input.tool(), plans) else { return false };
    let mode = input.raw.get("permission_mode").and_then(Value::as_str);
    if mode != Some("plan") || !matches!(tool, "Write" | "Edit") {
        return false;
    }
    let file = fields.get("file_path").and_then(Value::as_str).map(Path::new);
    match file {
        Some(file) if is_plan(file, plans) => !is_link(plans).await && !is_link(file).await,
        _ => false,
    }
}

/// By its name alone.
fn is_plan(file: &Path, plans: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "md") && file.parent() == Some(plans)
}

async fn is_link(path: &Path) -> bool {
    tokio::fs::symlink_metadata(path).await.is_ok_and(|found| found.is_symlink())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_a_text_right_in_the_folder_of_plans() {
        let plans = Path::new("/home/ana/.claude/plans");
        let is = |file: &str| is_plan(Path::new(file), plans);
        assert!(is("/home/ana/.claude/plans/calm-deer.md"));
        for other in [
            "/home/ana/.claude/plans/calm-deer.sh",
            "/home/ana/.claude/plans/../settings.md",
            "/home/ana/.claude/plans/deep/calm-deer.md",
            "/home/ana/.claude/settings.json",
            "calm-deer.md",
        ] {
            assert!(!is(other), "{other}");
        }
    }
}
