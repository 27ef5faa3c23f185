//! `ApplyPatch`: changes to several files in one text, all of them or none.
//!
//! Two forms are read, unified diffs with git's headers (`unified`) and `*** Begin Patch`
//! (`envelope`), into the same [`FilePatch`]s. Reading is strict: what one program skips as noise
//! another would apply.

mod envelope;
mod file_patch;
mod hunk;
mod resolved_patch;
mod unified;

use std::path::Path;

use countersign_core::{CallPlan, DiffPreview, InvalidCall, Preview, ToolCall, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use self::file_patch::{FilePatch, FilePatchKind};
use self::resolved_patch::ResolvedFilePatch;
use crate::files::escape::escape_to_line;
use crate::files::path;
use crate::files::path_effects;
use crate::files::transaction::carry_out;
use crate::files::workspace::Workspace;
use crate::tool::{BlockingTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

const DESCRIPTION: &str = "\
Applies a patch to one or more files: all of it or nothing.

- `patch` is a unified diff, as `git diff` or `diff -u` write it, or has this form:
*** Begin Patch
*** Update File: src/a.rs
@@ fn main() {
-    old line
+    new line
*** Add File: src/b.rs
+its first line
*** Delete File: src/c.rs
*** Update File: old.rs
*** Move to: new.rs
@@
-a
+b
*** End Patch
- Files can be changed, added, deleted and moved. Paths are relative to the working directory.
- Lines that are kept or removed have to be in the file to the letter. In a unified diff the line \
numbers may be off; in the other form a hunk is found by its lines, behind the line after `@@`.
- `fuzz` (0 unless you set it, 3 at most) lets so many lines at either end of a hunk differ.
- Nothing but the patch: no text before or after it.
- A file keeps its line ends, its encoding and its mode, unless the patch changes the mode.
- The user may see every file as a diff before anything is changed and reject it.";

/// Above this many bytes a patch is refused.
const PATCH_LIMIT: usize = 10 * 1024 * 1024;

/// How many files and places one patch may change: more than anybody looks at.
const FILES: usize = 500;
const HUNKS: usize = 5_000;

/// Above this many bytes in all, the texts of further files are left out: the diffs say what changes.
const CARRIED: usize = 4 * 1024 * 1024;

/// How many lines at either end of a hunk may differ at the most.
const FUZZ: usize = 3;

/// The tool that applies a patch.
pub type ApplyPatch = ToolAdapter<ApplyPatchTool>;

/// How [`ApplyPatch`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct ApplyPatchTool {
    workspace: Workspace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApplyPatchInput {
    /// The whole patch.
    patch: String,
    /// How many unchanged lines at either end of a hunk may differ from the file (default 0, at most 3).
    #[serde(default)]
    fuzz: usize,
}

impl ApplyPatch {
    /// Returns the tool, asking before it runs.
    pub fn new(workspace: Workspace) -> Self {
        Self::for_tool(ApplyPatchTool { workspace }, true)
    }
}

impl ApplyPatchTool {
    fn locate(
        &self,
        cwd: &Path,
        change: FilePatch,
        fuzz: usize,
    ) -> Result<ResolvedFilePatch, InvalidCall> {
        let at = self.workspace.find(cwd, &change.path)?;
        let to = match &change.kind {
            FilePatchKind::Move { to } => Some(self.workspace.find(cwd, to)?),
            FilePatchKind::Add | FilePatchKind::Update | FilePatchKind::Delete => None,
        };
        let replaced = matches!(change.kind, FilePatchKind::Move { .. } | FilePatchKind::Delete);
        if replaced && path_effects::is_link(cwd, &change.path) {
            return Err(InvalidCall(format!(
                "`{}` is a link: patches neither move nor delete links here; use Bash",
                escape_to_line(&change.path)
            )));
        }
        Ok(ResolvedFilePatch { change, at, to, fuzz })
    }
}

/// Checks that no file is changed twice, and none by way of a link that the patch makes.
fn check_apart(changes: &[ResolvedFilePatch]) -> Result<(), InvalidCall> {
    let paths = |it: &ResolvedFilePatch| {
        std::iter::once(it.at.path.clone()).chain(it.to.as_ref().map(|to| to.path.clone()))
    };
    let mut seen = Vec::new();
    for path in changes.iter().flat_map(paths) {
        if seen.contains(&path) {
            return Err(InvalidCall(format!(
                "`{}` is changed twice in one patch: put its changes together",
                path.display()
            )));
        }
        seen.push(path);
    }
    for link in changes.iter().filter(|it| it.change.makes_link()).map(|it| &it.at.path) {
        if seen.iter().any(|path| path != link && path.starts_with(link)) {
            return Err(InvalidCall(format!(
                "`{}` becomes a link, and the patch writes through it: make two calls",
                link.display()
            )));
        }
    }
    Ok(())
}

impl TypedTool for ApplyPatchTool {
    const NAME: &'static str = "ApplyPatch";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = ApplyPatchInput;
    type CheckedInput = Vec<ResolvedFilePatch>;

    fn check(
        &self,
        input: ApplyPatchInput,
        call: &ToolCall,
    ) -> Result<Self::CheckedInput, InvalidCall> {
        let ApplyPatchInput { patch, fuzz } = input;
        if fuzz > FUZZ {
            return Err(InvalidCall(format!(
                "`fuzz`: at most {FUZZ}; read the file again instead"
            )));
        }
        if patch.len() > PATCH_LIMIT {
            return Err(InvalidCall(format!(
                "`patch` is longer than {PATCH_LIMIT} bytes: split it"
            )));
        }
        if patch.contains('\0') {
            return Err(InvalidCall(
                "`patch` holds a NUL character: binary patches are not read".into(),
            ));
        }
        let first = patch.lines().find(|line| !line.trim().is_empty());
        let changes = if first.is_some_and(|line| line.trim_end() == envelope::BEGIN) {
            envelope::read(&patch)?
        } else {
            unified::read(&patch)?
        };
        if changes.is_empty() {
            return Err(InvalidCall("`patch` changes no file".to_owned()));
        }
        let hunks: usize = changes.iter().map(|change| change.hunks.len()).sum();
        if changes.len() > FILES || hunks > HUNKS {
            return Err(InvalidCall(format!(
                "`patch` changes {} files in {hunks} places, the limits are {FILES} and {HUNKS}: \
                 split it",
                changes.len()
            )));
        }
        let located = changes.into_iter().map(|change| self.locate(&call.cwd, change, fuzz));
        let located = located.collect::<Result<Vec<_>, _>>()?;
        check_apart(&located)?;
        Ok(located)
    }

    fn plan(&self, changes: Self::CheckedInput, _: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let effects =
            changes.iter().map(ResolvedFilePatch::effects).collect::<Result<Vec<_>, _>>()?;
        let told: Vec<String> = changes.iter().take(3).map(ResolvedFilePatch::summary).collect();
        let more = match changes.len().saturating_sub(told.len()) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let summary = format!("Apply a patch: {}{more}", told.join(", "));
        Ok(CallPlan::new(effects.concat(), summary))
    }

    fn preview(&self, changes: Self::CheckedInput, _: &ToolCall) -> Result<Preview, InvalidCall> {
        let shown =
            changes.iter().map(ResolvedFilePatch::preview).collect::<Result<Vec<_>, _>>()?;
        let (mut files, preimages): (Vec<_>, Vec<_>) = shown.into_iter().unzip();
        lighten(&mut files);
        Ok(Preview::MultiDiff { files, preimages: preimages.concat() })
    }
}

impl BlockingTool for ApplyPatchTool {
    fn run_blocking(
        &self,
        changes: Self::CheckedInput,
        permit: &VerifiedPermit,
        _: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        for target in changes.iter().flat_map(ResolvedFilePatch::targets) {
            permit.check_reach(target)?;
        }
        // Everything is worked out before anything is touched.
        let steps = changes.iter().map(|it| it.step(permit)).collect::<Result<Vec<_>, _>>()?;
        carry_out(steps)?;
        let done: Vec<String> = changes.iter().map(ResolvedFilePatch::report).collect();
        Ok(ToolOutput::ok(format!("The patch has been applied:\n{}", done.join("\n"))))
    }
}

/// Leaves out the texts of files once there are too many to carry along.
fn lighten(files: &mut [DiffPreview]) {
    let mut carried = 0;
    for file in files {
        let texts = [&file.original_content, &file.new_content];
        carried += texts.into_iter().flatten().map(String::len).sum::<usize>();
        if carried > CARRIED {
            (file.original_content, file.new_content) = (None, None);
        }
    }
}

/// Checks a path of a patch where its line is known.
fn checked_path(number: usize, path: &str) -> Result<String, InvalidCall> {
    if path.starts_with('"') {
        return Err(at_line(number, "the path is quoted; write it plainly, as it is"));
    }
    path::check(path).map_err(|InvalidCall(why)| at_line(number, &why))?;
    Ok(path.to_owned())
}

/// Says which line of a patch is wrong, and why.
fn at_line(number: usize, why: &str) -> InvalidCall {
    InvalidCall(format!("line {number} of the patch: {why}"))
}
