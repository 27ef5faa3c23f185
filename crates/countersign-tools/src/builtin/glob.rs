//! Glob: finds files by their path.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use countersign_core::{CallPlan, EffectTarget, InvalidCall, ToolCall, ToolOutput};
use globset::{GlobBuilder, GlobSet};
use ignore::DirEntry;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::files::disk::FileOpener;
use crate::files::escape::escape_to_line;
use crate::files::path_effects;
use crate::files::walk;
use crate::files::workspace::Workspace;
use crate::tool::{BlockingTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

const DESCRIPTION: &str = "\
Finds files by a pattern on their path, in projects of any size.

- Patterns are like `**/*.rs`, `src/**/*.{ts,tsx}`, `test_*.py`. A pattern without `/` is looked for at \
any depth; one with `/` starts at `path`.
- `path` is the folder to search, the working directory unless you say otherwise.
- Returns absolute paths, the most recently changed first, 100 at most; the answer says how many more \
there are.
- Files that `.gitignore` names are left out, hidden files are not. Links are not followed.
- To find files by what is in them, use Grep.";

/// How many paths are returned.
const LIMIT: usize = 100;

/// The tool that finds files.
pub type Glob = ToolAdapter<GlobTool>;

/// How [`Glob`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct GlobTool {
    workspace: Workspace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GlobInput {
    /// The pattern the paths have to match.
    pattern: String,
    /// The folder to search. Leave it out for the working directory.
    path: Option<String>,
}

/// An input, understood.
pub(crate) struct GlobSearch {
    /// The pattern as it was given.
    pattern: String,
    matcher: GlobSet,
    /// The folder as it was given.
    path: String,
    target: EffectTarget,
}

impl Glob {
    /// Returns the tool, not asking before it runs.
    pub fn new(workspace: Workspace) -> Self {
        Self::for_tool(GlobTool { workspace }, false)
    }
}

/// Moves the fixed start of an absolute pattern to the folder.
fn split(path: String, pattern: &str) -> (String, &str) {
    if !pattern.starts_with('/') {
        return (path, pattern);
    }
    let magic = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
    let fixed = pattern.get(..magic).unwrap_or_default();
    let end = fixed.rfind('/').unwrap_or_default();
    let folder = if end == 0 { "/" } else { pattern.get(..end).unwrap_or("/") };
    (folder.to_owned(), pattern.get(end + 1..).unwrap_or_default())
}

impl TypedTool for GlobTool {
    const NAME: &'static str = "Glob";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = GlobInput;
    type CheckedInput = GlobSearch;

    fn check(&self, input: GlobInput, call: &ToolCall) -> Result<Self::CheckedInput, InvalidCall> {
        let GlobInput { pattern, path } = input;
        if pattern.is_empty() {
            return Err(InvalidCall("`pattern` is empty: use `**/*` for every file".to_owned()));
        }
        if pattern.chars().any(char::is_control) {
            return Err(InvalidCall(
                "`pattern` holds a control character: leave it out".to_owned(),
            ));
        }
        let (path, rest) = split(path.unwrap_or_else(|| ".".to_owned()), &pattern);
        if Path::new(rest).components().any(|part| part == Component::ParentDir) {
            return Err(InvalidCall("`pattern` holds `..`: give that folder in `path`".to_owned()));
        }
        let rest = rest.strip_prefix("./").unwrap_or(rest);
        let anchored = if pattern.contains('/') { rest.to_owned() } else { format!("**/{rest}") };
        // A set of one: it knows shorter ways than a regular expression for what is usual.
        let glob = GlobBuilder::new(&anchored).literal_separator(true).build();
        let matcher = glob.and_then(|glob| GlobSet::new([glob]));
        let matcher = matcher
            .map_err(|error| InvalidCall(format!("`pattern`: {}; mend it", error.kind())))?;
        let target = self.workspace.find(&call.cwd, &path)?;
        Ok(GlobSearch { pattern, matcher, path, target })
    }

    fn plan(&self, search: Self::CheckedInput, _: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let summary = format!(
            "Find `{}` in `{}`",
            escape_to_line(&search.pattern),
            escape_to_line(&search.path)
        );
        Ok(CallPlan::new(vec![path_effects::read_effect(&search.path, search.target)?], summary))
    }
}

impl BlockingTool for GlobTool {
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

/// The newest files so far, and how many there were.
#[derive(Default)]
struct NewestFiles {
    // The oldest is on top, to be dropped.
    files: BinaryHeap<Reverse<(SystemTime, Reverse<PathBuf>)>>,
    count: usize,
}

impl NewestFiles {
    fn add(&mut self, changed: SystemTime, path: &Path) {
        self.count += 1;
        let is_full = self.files.len() >= LIMIT;
        if is_full && self.files.peek().is_some_and(|Reverse((oldest, _))| changed < *oldest) {
            return;
        }
        self.keep(Reverse((changed, Reverse(path.to_owned()))));
    }

    fn keep(&mut self, file: Reverse<(SystemTime, Reverse<PathBuf>)>) {
        self.files.push(file);
        if self.files.len() > LIMIT {
            self.files.pop();
        }
    }
}

/// What one thread finds; it is put to the rest when the thread is done.
struct GlobThreadResults<'a> {
    own: NewestFiles,
    all: &'a Mutex<NewestFiles>,
}

impl Drop for GlobThreadResults<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.count += self.own.count;
        for file in std::mem::take(&mut self.own.files) {
            all.keep(file);
        }
    }
}

impl GlobSearch {
    fn run(&self, cancel: &CancellationToken) -> Result<ToolOutput, ToolError> {
        if !walk::check_exists(&self.path, &self.target)?.is_dir() {
            return Err(ToolError::invalid(format!("`{}` is a file, not a folder", self.path)));
        }
        let found = Mutex::new(NewestFiles::default());
        // Everything that is walked through begins with the folder, as it is written here.
        let above = match self.target.path.as_os_str().len() {
            1 => 1,
            length => length + 1,
        };
        walk::each_file(&walk::walk_folder(&self.target.path), cancel, || {
            let mut finds = GlobThreadResults { own: NewestFiles::default(), all: &found };
            let mut opener = FileOpener::default();
            move |entry: &DirEntry| {
                let path = entry.path();
                let below = path.as_os_str().as_bytes().get(above..).map(OsStr::from_bytes);
                if below.is_some_and(|path| self.matcher.is_match(path))
                    && let Some(changed) = opener.changed(path)
                {
                    finds.own.add(changed, path);
                }
            }
        });
        if cancel.is_cancelled() {
            return Err(ToolError::Interrupted);
        }
        let NewestFiles { files, count } =
            found.into_inner().unwrap_or_else(PoisonError::into_inner);
        if count == 0 {
            return Ok(ToolOutput::ok("No files found"));
        }
        let mut lines: Vec<String> = files
            .into_sorted_vec()
            .into_iter()
            .map(|Reverse((_, Reverse(path)))| path.display().to_string())
            .collect();
        if count > LIMIT {
            lines.push(format!(
                "[{} more files match; use a narrower pattern or path to see them]",
                count - LIMIT
            ));
        }
        Ok(ToolOutput::ok(lines.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_pattern_brings_its_folder_along() {
        check("src/*.rs", ".", "src/*.rs");
        check("/ws/src/**/*.rs", "/ws/src", "**/*.rs");
        check("/ws/a*/b", "/ws", "a*/b");
        check("/*.rs", "/", "*.rs");
        check("/ws/exact.rs", "/ws", "exact.rs");
    }

    #[track_caller]
    fn check(pattern: &str, folder: &str, rest: &str) {
        assert_eq!(split(".".to_owned(), pattern), (folder.to_owned(), rest));
    }
}
