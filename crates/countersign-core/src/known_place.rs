//! Places outside the workspace that are known by what they are for.
//!
//! They can be read without asking: the notes that Claude Code keeps of this very project, sources that
//! toolchains have fetched, and the scratch folder of a session, which may also be written. Keys in them
//! are still keys. Nothing that is executed or that steers an agent is among them.

use std::path::{Component, Path};

use crate::rule::PatternAnchors;

/// What a place is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownPlace {
    /// A plan that Claude Code writes down before it begins.
    AgentPlan,
    /// Memory and transcripts of this project, which Claude Code keeps in the home.
    AgentNotes,
    /// Sources of libraries and toolchains.
    LibrarySources,
    /// What a session of Claude Code puts aside while it works on this project.
    SessionScratch,
}

impl KnownPlace {
    /// Returns which one a resolved path lies in.
    pub(crate) fn find(path: &Path, anchors: &PatternAnchors) -> Option<Self> {
        let is_resolved =
            path.components().all(|it| matches!(it, Component::RootDir | Component::Normal(_)));
        let text = path.to_str().filter(|_| is_resolved)?;
        let project = project_name(&anchors.root)?;
        if is_scratch(text, &project) {
            return Some(Self::SessionScratch);
        }
        if SYSTEM_SOURCES.iter().any(|folder| is_below(text, folder)) {
            return Some(Self::LibrarySources);
        }
        let below_home = path.strip_prefix(anchors.home.as_ref()?).ok()?.to_str()?;
        if SOURCES.iter().any(|folder| is_below(below_home, folder)) {
            return Some(Self::LibrarySources);
        }
        if Path::new(below_home).parent() == Some(Path::new(".claude/plans"))
            && path.extension().is_some_and(|ending| ending == "md")
        {
            return Some(Self::AgentPlan);
        }
        is_below(below_home, &format!(".claude/projects/{project}")).then_some(Self::AgentNotes)
    }

    /// Returns whether files in it may be changed where edits are accepted.
    pub(crate) fn may_be_changed(self) -> bool {
        match self {
            Self::AgentPlan | Self::SessionScratch => true,
            Self::AgentNotes | Self::LibrarySources => false,
        }
    }

    /// Returns what it is, for the person who reads the verdict.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::AgentPlan => "a plan of Claude Code's",
            Self::AgentNotes => "one of Claude Code's own notes on this project",
            Self::LibrarySources => "the source of a library",
            Self::SessionScratch => "in the session's scratch folder",
        }
    }
}

/// In the home: what package managers have fetched, to be read.
const SOURCES: &[&str] = &[
    "go/pkg/mod",
    ".cargo/git/checkouts",
    ".cargo/registry/src",
    ".m2/repository",
    ".gradle/caches/modules-2",
    ".nuget/packages",
    ".pub-cache/hosted",
    ".local/share/mise/installs",
    ".local/share/uv/python",
    ".nvm/versions",
    ".pyenv/versions",
    ".rbenv/versions",
    ".rustup/toolchains",
    "Library/Caches/go-build",
    "Library/pnpm/store",
    ".local/share/pnpm/store",
    ".bun/install/cache",
];

/// Of the system.
const SYSTEM_SOURCES: &[&str] = &[
    "/usr/include",
    "/usr/lib/go",
    "/usr/lib/node_modules",
    "/usr/lib/python3",
    "/usr/lib/rustlib/src",
    "/usr/local/go",
    "/usr/local/lib/node_modules",
    "/usr/share/doc",
    "/usr/share/man",
    "/opt/homebrew/lib/node_modules",
    "/opt/homebrew/opt/go/libexec/src",
];

/// `/tmp/claude-1000/-home-me-project/SESSION/…`, as Claude Code calls it.
fn is_scratch(path: &str, project: &str) -> bool {
    let path = path.strip_prefix("/private").unwrap_or(path);
    let Some(rest) = path.strip_prefix("/tmp/claude") else { return false };
    let mut parts = rest.split('/');
    let user = parts.next().unwrap_or("?");
    let is_user = user.is_empty()
        || user.strip_prefix('-').is_some_and(|id| id.bytes().all(|b| b.is_ascii_digit()));
    is_user && parts.next() == Some(project) && parts.next().is_some_and(|it| !it.is_empty())
}

/// Claude Code names a project's folders by its path, with a dash for all but letters and digits.
fn project_name(root: &Path) -> Option<String> {
    let dashed = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    Some(root.to_str()?.chars().map(dashed).collect())
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_known_by_what_they_are_for() {
        check("/home/me/.claude/plans/a.md", Some(KnownPlace::AgentPlan));
        check("/home/me/.claude/projects/-home-me-my-app/x.jsonl", Some(KnownPlace::AgentNotes));
        check("/home/me/go/pkg/mod/a@v1/b.go", Some(KnownPlace::LibrarySources));
        check("/usr/include/stdio.h", Some(KnownPlace::LibrarySources));
        check("/tmp/claude-1000/-home-me-my-app/s1/scratchpad/a", Some(KnownPlace::SessionScratch));
    }

    #[test]
    fn what_is_another_projects_or_steers_an_agent_is_none() {
        for path in [
            "/home/me/.claude/settings.json",
            "/home/me/.claude/projects/-home-me-other/x.jsonl",
            "/home/me/.claude/projects",
            "/home/me/.claude/commands/a.md",
            "/home/me/.claude/plans/a.sh",
            "/home/me/.claude/plans/../settings.json",
            "/home/me/go/bin/x",
            "/home/you/go/pkg/mod/a",
            "/tmp/a",
            "/tmp/claude-1000/-home-me-other/s1/a",
            "/tmp/claude-x/-home-me-my-app/s1/a",
            "/tmp/claude-1000/-home-me-my-app",
            "/usr/includes/a",
            "/home/me/go/pkg/mod/../../../.ssh/id",
        ] {
            check(path, None);
        }
    }

    #[track_caller]
    fn check(path: &str, expected: Option<KnownPlace>) {
        let anchors =
            PatternAnchors { root: "/home/me/my.app".into(), home: Some("/home/me".into()) };
        assert_eq!(KnownPlace::find(Path::new(path), &anchors), expected, "{path}");
    }
}
