//! What the fuzz targets try, and the machine they try it on: one that never existed, so that nothing
//! here touches a disk. The targets themselves are one line each; `make test` compiles all of this.

pub mod intake;
pub mod patch;
pub mod policy;
pub mod rule;
pub mod shell;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::rule::PatternAnchors;
use countersign_core::shell::{
    CommandAnalysis, FileTree, Machine, SearchScope, ShellContext, TreeKind, analyse,
};
use countersign_core::{CallPlan, Effect, EffectTarget, PathClass, ToolCall, normalize_lexically};

/// The workspace.
pub const ROOT: &str = "/ws";

/// Every program is where it should be, every repository is clean: the most trusting machine there
/// is, so that whatever can look harmless does.
struct Trusting;

impl Machine for Trusting {
    fn target(&self, cwd: &Path, path: &str) -> Option<EffectTarget> {
        let path = normalize_lexically(&cwd.join(path));
        let place = PathClass::from_path(&path, &[PathBuf::from(ROOT)]);
        Some(EffectTarget::new(path, place))
    }

    fn matches(&self, cwd: &Path, pattern: &str) -> Option<Vec<EffectTarget>> {
        Some(self.target(cwd, &pattern.replace(['*', '?', '\\'], "x")).into_iter().collect())
    }

    fn secrets_below(&self, _: &Path) -> Option<Vec<EffectTarget>> {
        Some(Vec::new())
    }

    fn links_below(&self, _: &Path) -> Option<Vec<EffectTarget>> {
        Some(Vec::new())
    }

    fn entry(&self, cwd: &Path, path: &str) -> Option<EffectTarget> {
        self.target(cwd, path)
    }

    /// What has no dot in its name is a folder, and all of them are empty.
    fn kind(&self, path: &Path) -> Option<TreeKind> {
        let is_file = path.extension().is_some() || path.ends_with(".env");
        Some(if is_file { TreeKind::File } else { TreeKind::Folder })
    }

    fn tree(&self, path: &Path) -> Option<Arc<FileTree>> {
        Some(Arc::new(FileTree { kind: self.kind(path)?, entries: Vec::new() }))
    }

    fn arrivals(&self, _: &Path, _: &Path) -> Option<Vec<EffectTarget>> {
        Some(Vec::new())
    }

    fn searched_secrets(&self, _: &Path, _: &Path, _: &SearchScope) -> Option<Vec<EffectTarget>> {
        Some(Vec::new())
    }

    fn has_file_above(&self, _: &Path, _: &[&str]) -> Option<bool> {
        Some(false)
    }

    fn trusted_program(&self, name: &str) -> Option<PathBuf> {
        (!name.contains('/')).then(|| Path::new("/usr/bin").join(name))
    }

    fn git_hazards(&self, _: &Path) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    fn git_tracked_secrets(&self, _: &Path) -> Option<Vec<EffectTarget>> {
        Some(Vec::new())
    }

    fn git_tracked_links(&self, _: &Path) -> Option<Vec<EffectTarget>> {
        Some(Vec::new())
    }
}

/// Reads a command as on that machine.
pub fn read(command: &str) -> CommandAnalysis {
    let context = ShellContext {
        cwd: Path::new(ROOT),
        home: Some(Path::new("/home/me")),
        env: &[],
        own: &[PathBuf::from("/home/me/.local/share/countersign")],
        machine: &Trusting,
    };
    analyse(command, &context)
}

/// Returns a call of Bash and its plan, as the tool makes it.
pub fn planned(command: &str) -> (ToolCall, CallPlan) {
    let analysis = read(command);
    let mut effects = analysis.effects;
    effects.extend(analysis.denials.into_iter().map(|it| Effect::Forbidden { why: it.reason }));
    let call = call("Bash", serde_json::json!({ "command": command }));
    (call, CallPlan { commands: analysis.parts, ..CallPlan::new(effects, "") })
}

/// Returns a call of a tool.
pub fn call(tool: &str, input: serde_json::Value) -> ToolCall {
    let call = serde_json::from_value(serde_json::json!({
        "id": "01890000-0000-7000-8000-000000000000",
        "project": "fuzz",
        "session": "fuzz",
        "run": null,
        "tool_use_id": "fuzz",
        "tool_name": tool,
        "input": input,
        "cwd": ROOT,
    }));
    call.expect("a call")
}

/// Returns the folders that rules start from.
pub fn anchors() -> PatternAnchors {
    PatternAnchors { root: ROOT.into(), home: Some("/home/me".into()) }
}
