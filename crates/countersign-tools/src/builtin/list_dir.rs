//! `ListDir`: what is in a folder, and in those below it as deep as is asked for.

mod listing;

use std::num::NonZeroUsize;

use countersign_core::{CallPlan, EffectTarget, InvalidCall, ToolCall, ToolOutput};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use self::listing::FolderListing;
use crate::files::escape::escape_to_line;
use crate::files::path_effects;
use crate::files::walk;
use crate::files::workspace::Workspace;
use crate::tool::{BlockingTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

const DESCRIPTION: &str = "\
Lists what is in a folder: names in alphabetical order, folders with a `/` at the end, files with their \
size, links with where they lead.

- `path` is absolute, or relative to the working directory; `.` is the working directory itself.
- `depth` says how many levels are shown: 1 unless you set it, 10 at most. Deeper levels are indented. \
Below the first level, what `.gitignore` names is left out, and links are never followed.
- `ignore` takes patterns of names to leave out, such as `[\"*.o\", \"node_modules\"]`.
- At most 1000 entries are shown; the answer says how many more there are.
- To find files by name use Glob, by content use Grep.";

/// How deep a listing goes at the most.
const DEEPEST: usize = 10;

/// The tool that lists a folder.
pub type ListDir = ToolAdapter<ListDirTool>;

/// How [`ListDir`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct ListDirTool {
    workspace: Workspace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListDirInput {
    /// The folder to list, absolute or relative to the working directory.
    path: String,
    /// Patterns of names to leave out.
    // They narrow, so they are not judged.
    ignore: Option<Vec<String>>,
    /// How many levels to show (default 1, at most 10).
    depth: Option<NonZeroUsize>,
}

/// An input, understood.
pub(crate) struct ListDirQuery {
    path: String,
    target: EffectTarget,
    ignored: GlobSet,
    depth: usize,
}

impl ListDir {
    /// Returns the tool, not asking before it runs.
    pub fn new(workspace: Workspace) -> Self {
        Self::for_tool(ListDirTool { workspace }, false)
    }
}

fn patterns(ignore: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in ignore {
        set.add(GlobBuilder::new(pattern.trim_end_matches('/')).literal_separator(true).build()?);
    }
    set.build()
}

impl TypedTool for ListDirTool {
    const NAME: &'static str = "ListDir";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = ListDirInput;
    type CheckedInput = ListDirQuery;

    fn check(
        &self,
        input: ListDirInput,
        call: &ToolCall,
    ) -> Result<Self::CheckedInput, InvalidCall> {
        let ListDirInput { path, ignore, depth } = input;
        let target = self.workspace.find(&call.cwd, &path)?;
        let depth = depth.map_or(1, NonZeroUsize::get);
        if depth > DEEPEST {
            return Err(InvalidCall(format!(
                "`depth`: at most {DEEPEST}; list a folder further down"
            )));
        }
        let ignored = patterns(&ignore.unwrap_or_default())
            .map_err(|error| InvalidCall(format!("`ignore`: {}; mend it", error.kind())))?;
        Ok(ListDirQuery { path, target, ignored, depth })
    }

    fn plan(&self, search: Self::CheckedInput, _: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let summary = format!("List `{}`", escape_to_line(&search.path));
        Ok(CallPlan::new(vec![path_effects::read_effect(&search.path, search.target)?], summary))
    }
}

impl BlockingTool for ListDirTool {
    fn run_blocking(
        &self,
        search: Self::CheckedInput,
        permit: &VerifiedPermit,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        permit.check_reach(&search.target)?;
        search.run(cancel)
    }
}

impl ListDirQuery {
    fn run(&self, cancel: &CancellationToken) -> Result<ToolOutput, ToolError> {
        if !walk::check_exists(&self.path, &self.target)?.is_dir() {
            let path = &self.path;
            return Err(ToolError::invalid(format!("`{path}` is a file; use Read to see it")));
        }
        let mut listing = FolderListing::new(&self.target.path, &self.ignored);
        listing.add_top().map_err(|cause| ToolError::Io {
            doing: "list",
            path: self.path.clone(),
            cause,
        })?;
        if self.depth > 1 {
            listing.add_below(self.depth, cancel);
        }
        if cancel.is_cancelled() {
            return Err(ToolError::Interrupted);
        }
        Ok(ToolOutput::ok(listing.text()))
    }
}
