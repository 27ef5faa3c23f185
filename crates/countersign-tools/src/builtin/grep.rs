//! Grep: finds text in files.

mod file_matches;
mod worker;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use countersign_core::{CallPlan, EffectTarget, InvalidCall, ToolCall, ToolOutput};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;
use ignore::{DirEntry, WalkBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use self::file_matches::{FileMatches, MatchPage};
use self::worker::{FileSearchResult, GrepTask, GrepWorker};
use crate::files::escape::escape_to_line;
use crate::files::path_effects;
use crate::files::walk;
use crate::files::workspace::Workspace;
use crate::tool::{BlockingTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

const DESCRIPTION: &str = "\
Searches the content of files with a regular expression, as ripgrep does.

- `pattern` is a regular expression in Rust's syntax: `log.*Error`, `fn\\s+\\w+`. Escape braces and \
parentheses that you mean literally (`interface\\{\\}`).
- `path` is the file or folder to search, the working directory unless you say otherwise.
- Narrow it down with `glob` (`*.js`, `**/*.tsx`, `!*.min.js`) or `type` (`rust`, `py`, `js`).
- `output_mode`: `files_with_matches` (default) lists files, the most recently changed first; `content` \
shows the lines, with `-A`, `-B`, `-C` lines around them; `count` counts the matching lines per file.
- A pattern matches within one line. For one that spans lines set `multiline` to true.
- The answer holds 250 lines unless you set `head_limit`; with `offset` you go on from there.
- Binary files and files that `.gitignore` names are left out, and so are files that may hold secrets \
(`.env`, keys) unless you name one in `path`.
- Use this instead of running `grep` or `rg` in Bash.";

/// How many entries are returned unless the call says otherwise.
const HEAD_LIMIT: usize = 250;

/// Above this many bytes of finds, nothing further is collected.
const COLLECT_LIMIT: usize = 32 * 1024 * 1024;

/// How many lines of context can be had.
const CONTEXT_LIMIT: usize = 1000;

/// The tool that searches files.
pub type Grep = ToolAdapter<GrepTool>;

/// How [`Grep`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct GrepTool {
    workspace: Workspace,
}

/// What the answer is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    #[default]
    FilesWithMatches,
    Content,
    Count,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrepInput {
    /// The regular expression to search for.
    pattern: String,
    /// The file or folder to search. Leave it out for the working directory.
    path: Option<String>,
    /// Which files to search, by name: `*.js`, `*.{ts,tsx}`, `!*.min.js`.
    glob: Option<String>,
    /// Which files to search, by kind: `rust`, `py`, `js`, `go`, …
    r#type: Option<String>,
    /// What to return: the files (default), the matching lines, or how many there are per file.
    #[serde(default)]
    output_mode: OutputMode,
    /// Whether upper and lower case are the same (default false).
    #[serde(rename = "-i", default)]
    ignore_case: bool,
    /// Whether lines come with their numbers (default true). Only for `content`.
    #[serde(rename = "-n")]
    numbers: Option<bool>,
    /// How many lines to show after each match. Only for `content`.
    #[serde(rename = "-A")]
    after: Option<usize>,
    /// How many lines to show before each match. Only for `content`.
    #[serde(rename = "-B")]
    before: Option<usize>,
    /// How many lines to show before and after each match. Only for `content`.
    #[serde(rename = "-C")]
    context: Option<usize>,
    /// Whether a match may span lines, and `.` matches line ends (default false).
    #[serde(default)]
    multiline: bool,
    /// How many entries to return (default 250, 0 for as many as fit).
    head_limit: Option<usize>,
    /// How many entries to leave out at the start (default 0).
    offset: Option<usize>,
}

/// An input, understood.
pub(crate) struct GrepSearch {
    input: GrepInput,
    matcher: RegexMatcher,
    /// The path as it was given.
    path: String,
    target: EffectTarget,
}

impl Grep {
    /// Returns the tool, not asking before it runs.
    pub fn new(workspace: Workspace) -> Self {
        Self::for_tool(GrepTool { workspace }, false)
    }
}

impl GrepInput {
    /// Checks that no filter looks like an option: whoever runs a search program would pass it on.
    fn check_filters(&self) -> Result<(), InvalidCall> {
        let globs = self.glob.as_deref().into_iter().flat_map(words);
        let globs = globs.map(|glob| ("glob", glob));
        let types = self.r#type.as_deref().map(|kind| ("type", kind));
        match globs.chain(types).find(|(_, value)| value.starts_with('-')) {
            Some((field, value)) => Err(InvalidCall(format!(
                "`{field}`: `{}` starts with `-` and looks like an option; write it without",
                escape_to_line(value)
            ))),
            None => Ok(()),
        }
    }

    fn contexts(&self) -> impl Iterator<Item = usize> {
        [self.after, self.before, self.context].into_iter().flatten()
    }
}

fn matcher(input: &GrepInput) -> Result<RegexMatcher, InvalidCall> {
    if input.pattern.is_empty() {
        return Err(InvalidCall("`pattern` is empty: say what to search for".to_owned()));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(input.ignore_case).multi_line(true);
    if input.multiline {
        builder.dot_matches_new_line(true);
    } else {
        builder.crlf(true);
    }
    builder.build(&input.pattern).map_err(|error| {
        let hint = if error.to_string().contains("not allowed in a regex") {
            "to match across lines set `multiline` to true"
        } else {
            "escape characters that you mean literally with `\\`"
        };
        InvalidCall(format!("`pattern` is not a valid regular expression: {error}\n{hint}"))
    })
}

impl TypedTool for GrepTool {
    const NAME: &'static str = "Grep";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = GrepInput;
    type CheckedInput = GrepSearch;

    fn check(&self, input: GrepInput, call: &ToolCall) -> Result<Self::CheckedInput, InvalidCall> {
        let matcher = matcher(&input)?;
        input.check_filters()?;
        if input.contexts().any(|lines| lines > CONTEXT_LIMIT) {
            return Err(InvalidCall(format!("`-A`, `-B`, `-C`: at most {CONTEXT_LIMIT} lines")));
        }
        let path = input.path.clone().unwrap_or_else(|| ".".to_owned());
        let target = self.workspace.find(&call.cwd, &path)?;
        Ok(GrepSearch { input, matcher, path, target })
    }

    fn plan(&self, search: Self::CheckedInput, _: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let (pattern, path) = (escape_to_line(&search.input.pattern), escape_to_line(&search.path));
        let summary = format!("Search for `{pattern}` in `{path}`");
        Ok(CallPlan::new(vec![path_effects::search_effect(&search.path, search.target)?], summary))
    }
}

impl BlockingTool for GrepTool {
    fn run_blocking(
        &self,
        search: Self::CheckedInput,
        permit: &VerifiedPermit,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        permit.check_reach(&search.target)?;
        search.run(&self.workspace, &permit.call().cwd, cancel)
    }
}

impl GrepSearch {
    fn run(
        &self,
        workspace: &Workspace,
        cwd: &Path,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        walk::check_exists(&self.path, &self.target)?;
        let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let walk = self.walk()?;
        let finds = Mutex::new(Vec::new());
        let (secrets, collected) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let visit = |worker: &mut GrepWorker<'_>, entry: &DirEntry| {
            if collected.load(Ordering::Relaxed) > COLLECT_LIMIT {
                return;
            }
            match worker.search_entry(entry) {
                FileSearchResult::Nothing => {}
                FileSearchResult::Secret => drop(secrets.fetch_add(1, Ordering::Relaxed)),
                FileSearchResult::Something(found) => {
                    collected.fetch_add(found.bytes(), Ordering::Relaxed);
                    finds.lock().unwrap_or_else(PoisonError::into_inner).push(found);
                }
            }
        };
        let task = GrepTask { search: self, workspace, cwd: &cwd, cancel };
        walk::each_file(&walk, cancel, || {
            let mut worker = GrepWorker::new(task);
            move |entry: &DirEntry| visit(&mut worker, entry)
        });
        if cancel.is_cancelled() {
            return Err(ToolError::Interrupted);
        }
        let finds = finds.into_inner().unwrap_or_else(PoisonError::into_inner);
        let was_cut = collected.into_inner() > COLLECT_LIMIT;
        let page = self.page(&finds, was_cut, secrets.into_inner());
        Ok(ToolOutput::ok(match self.input.output_mode {
            OutputMode::FilesWithMatches => file_matches::files(finds, &page),
            OutputMode::Content => file_matches::content(finds, &page, self.has_context()),
            OutputMode::Count => file_matches::counts(finds, &page),
        }))
    }

    /// Returns which part of the finds is shown, with notes on what is missing from it.
    fn page(&self, finds: &[FileMatches], was_cut: bool, secrets: usize) -> MatchPage {
        let mut notes = Vec::new();
        if was_cut {
            notes
                .push("[Too much matches: not every file was searched; narrow it down]".to_owned());
        }
        if finds.iter().any(FileMatches::is_cut) {
            notes.push("[Not every line of the longest files is counted here]".to_owned());
        }
        if secrets > 0 {
            notes.push(format!(
                "[{secrets} files that may hold secrets were left out; name one in `path` to search it]"
            ));
        }
        let limit = NonZeroUsize::new(self.input.head_limit.unwrap_or(HEAD_LIMIT));
        MatchPage { offset: self.input.offset.unwrap_or(0), limit, notes }
    }

    fn walk(&self) -> Result<WalkBuilder, InvalidCall> {
        let mut walk = walk::walk_folder(&self.target.path);
        if let Some(globs) = &self.input.glob {
            let mut overrides = OverrideBuilder::new(&self.target.path);
            for glob in words(globs) {
                overrides
                    .add(glob)
                    .map_err(|error| InvalidCall(format!("`glob`: {error}; mend it")))?;
            }
            let overrides = overrides.build();
            walk.overrides(overrides.map_err(|error| InvalidCall(format!("`glob`: {error}")))?);
        }
        if let Some(kind) = &self.input.r#type {
            let mut types = TypesBuilder::new();
            types.add_defaults().select(kind);
            walk.types(types.build().map_err(|_| {
                InvalidCall(format!(
                    "`type`: `{}` is not known; use one like `rust`, `py`, `js`, `ts`, `go`, or `glob`",
                    escape_to_line(kind)
                ))
            })?);
        }
        Ok(walk)
    }

    fn has_context(&self) -> bool {
        self.input.contexts().any(|lines| lines > 0)
    }
}

/// Cuts a list of globs at white space and commas, except within braces.
fn words(globs: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    globs
        .split(|letter: char| {
            match letter {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && (letter.is_whitespace() || letter == ',')
        })
        .filter(|word| !word.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_cut_outside_braces_only() {
        assert_eq!(words("*.{ts,tsx} !*.min.js,*.rs"), ["*.{ts,tsx}", "!*.min.js", "*.rs"]);
    }
}
