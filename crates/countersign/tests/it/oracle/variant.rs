//! Variants of the workspace: what a hostile repository could bring along.

use fastrand::Rng;

use super::choice::{happens, pick, pick_some};
use super::git_config::{random_attributes, random_config};
use super::given_file::{FileKind, GivenFile};

/// What a variant is about, so that a finding can be told from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariantKind {
    Plain,
    Links,
    GitConfig,
    GitFiles,
    BrokenGit,
    BareAtTop,
    Trees,
    Corpus,
}

/// A workspace: what it brings along besides the usual files.
#[derive(Clone, Debug)]
pub(super) struct WorkspaceVariant {
    pub(super) kind: VariantKind,
    pub(super) files: Vec<GivenFile>,
    /// Whether the secret is committed.
    pub(super) tracks_secrets: bool,
}

/// Where a link may lead that must not be followed.
const OUTSIDE: &[&str] = &[
    "../outside/marker",
    "../outside",
    "{{WORLD}}/home/.ssh/id_rsa",
    "{{WORLD}}/home/.bashrc",
    "{{WORLD}}/outside",
    "../home",
    "/",
    "..",
];

/// Files that git keeps for itself and reads again; `*` in them is any name.
const GIT_FILES: &[&str] = &[
    "HEAD",
    "packed-refs",
    "shallow",
    "index",
    "description",
    "config.worktree",
    "info/grafts",
    "info/exclude",
    "info/attributes",
    "info/sparse-checkout",
    "info/refs",
    "objects/info/alternates",
    "objects/info/packs",
    "objects/info/commit-graph",
    "BISECT_START",
    "BISECT_LOG",
    "BISECT_TERMS",
    "BISECT_NAMES",
    "rebase-merge/done",
    "rebase-merge/git-rebase-todo",
    "rebase-merge/head-name",
    "rebase-merge/onto",
    "rebase-apply/head-name",
    "rebase-apply/onto",
    "sequencer/todo",
    "MERGE_HEAD",
    "MERGE_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "FETCH_HEAD",
    "ORIG_HEAD",
    "AUTO_MERGE",
    "commondir",
    "gitdir",
    "refs/heads/main",
    "refs/heads/new",
    "refs/stash",
    "refs/tags/new",
    "refs/replace/new",
    "refs/notes/commits",
    "logs/HEAD",
    "logs/refs/heads/main",
    "logs/refs/stash",
    "worktrees/w/gitdir",
    "worktrees/w/HEAD",
    "worktrees/w/locked",
    "worktrees/w/commondir",
    "modules/m/config",
    "remotes/origin",
    "branches/origin",
    "hooks/fsmonitor-watchman",
    "mailmap",
];

impl WorkspaceVariant {
    fn new(kind: VariantKind, files: Vec<GivenFile>) -> Self {
        Self { kind, files, tracks_secrets: false }
    }

    /// Returns a workspace with or without a secret at its top.
    pub(super) fn plain(rng: &mut Rng) -> Self {
        let secret = GivenFile::regular(".env", "{{SECRET}}");
        Self::new(VariantKind::Plain, if happens(rng, 70) { vec![secret] } else { Vec::new() })
    }

    /// Returns a workspace of which a corpus says what it holds.
    pub(super) fn from_corpus(files: Vec<GivenFile>) -> Self {
        Self::new(VariantKind::Corpus, files)
    }

    /// Returns a workspace with secrets, links out, odd names and lists of what to ignore.
    pub(super) fn with_links(rng: &mut Rng) -> Self {
        let mut files = Vec::new();
        for path in [".env", "sub/.env", "docs/.env"] {
            if happens(rng, 50) {
                files.push(GivenFile::regular(path, "{{SECRET}}"));
            }
        }
        for path in
            ["-", "-p", "-RL", "a=", "foo", "sub/l", "src/l", "sub/README.md", "l", "docs/link"]
        {
            if happens(rng, 35) {
                files.push(random_link(rng, path));
            }
        }
        // Split at its blank, the name leads out.
        for path in ["docs/k ../outside/marker", "a -R ../outside"] {
            if happens(rng, 35) {
                files.push(GivenFile::regular(path, "odd\n"));
            }
        }
        for (path, target) in [
            ("foo.gz", "../outside/packed.gz"),
            ("foo.bz2", "../outside/marker"),
            ("foo.zip", "../outside/packed.zip"),
            ("foo.ZIP", "../outside/packed.zip"),
            ("foo.Z", "../outside/packed.gz"),
            ("foo.tgz", "../outside/packed.gz"),
        ] {
            if happens(rng, 60) && !files.iter().any(|it| it.path == path) {
                files.push(GivenFile::link(path, target));
            }
        }
        let lists = [".rgignore", ".ignore", ".gitignore", "sub/.gitignore", ".git/info/exclude"];
        for path in lists {
            if happens(rng, 25) {
                let lines =
                    pick_some(rng, &["!.env", "!*", "!.e*", "*", "!sub", "!.*", "target"], 1..=3);
                files.push(GivenFile::regular(path, &(lines.join("\n") + "\n")));
            }
        }
        let option_names =
            ["-r", "-L", "-n", "--help", "--output=pwned", "-ofile", "-f.env", "--pre=x"];
        for path in option_names {
            if happens(rng, 8) {
                files.push(GivenFile::regular(path, "a name like an option\n"));
            }
        }
        if happens(rng, 5) {
            files.push(GivenFile::of_kind("pipe", FileKind::Fifo));
        }
        let tracks_secrets = happens(rng, 25);
        if tracks_secrets && !files.iter().any(|it| it.path == ".env") {
            files.push(GivenFile::regular(".env", "{{SECRET}}"));
        }
        Self { kind: VariantKind::Links, files, tracks_secrets }
    }

    /// Returns a repository whose configuration or attributes name programs or files.
    pub(super) fn with_git_config(rng: &mut Rng) -> Self {
        let mut files = vec![
            GivenFile::regular(".git/config", &random_config(rng)),
            GivenFile::regular("README.md", "changed\n"),
            GivenFile::regular("src/a.rs", "changed as well\n"),
        ];
        let attributes =
            pick(rng, &[".gitattributes", ".git/info/attributes", "src/.gitattributes"]);
        files.push(GivenFile::regular(attributes, &random_attributes(rng)));
        if happens(rng, 20) {
            files.push(GivenFile::regular("more.config", &random_config(rng)));
        }
        Self::new(VariantKind::GitConfig, files)
    }

    /// Returns a repository in which files of git are links.
    pub(super) fn with_git_links(rng: &mut Rng) -> Self {
        let mut files = Vec::new();
        for _ in 0..rng.usize(1..=2) {
            let path = format!(".git/{}", pick(rng, GIT_FILES));
            let target = pick(
                rng,
                &["{{WORLD}}/home/.ssh/id_rsa", "{{WORLD}}/outside/marker", "../../outside/marker"],
            );
            files.push(GivenFile::link(&path, target));
        }
        // A state of which git tells when it is asked: somebody rebases, bisects, merges.
        if happens(rng, 60) {
            let (path, text) = *super::choice::pick_one(
                rng,
                &[
                    (".git/rebase-merge/interactive", ""),
                    (".git/rebase-apply/applying", ""),
                    (".git/BISECT_LOG", "git bisect start\n"),
                    (".git/MERGE_HEAD", "0000000000000000000000000000000000000001\n"),
                    (".git/worktrees/w/HEAD", "ref: refs/heads/other\n"),
                    (".git/rebase-merge/git-rebase-todo", "pick 1\n"),
                ],
            );
            if !files.iter().any(|it| it.path == path) {
                files.push(GivenFile::regular(path, text));
            }
        }
        Self::new(VariantKind::GitFiles, files)
    }

    /// Returns a folder whose `.git` is no repository.
    pub(super) fn with_broken_git(rng: &mut Rng) -> Self {
        let mut files = vec![random_break(rng)];
        for path in [".env", "sub/.env", "docs/.env"] {
            if happens(rng, 60) {
                files.push(GivenFile::regular(path, "{{SECRET}}"));
            }
        }
        for path in ["sub/l", "l", "docs/link"] {
            if happens(rng, 40) {
                files.push(random_link(rng, path));
            }
        }
        Self::new(VariantKind::BrokenGit, files)
    }

    /// Returns a folder whose `.git` is no repository, and which looks like a bare one itself.
    pub(super) fn with_bare_at_top(rng: &mut Rng) -> Self {
        let program = pick(rng, &["./x", "bin/evil", "{{WORLD}}/ws/x"]);
        let key =
            pick(rng, &["fsmonitor", "fsmonitor", "fsmonitor", "pager", "sshCommand", "hooksPath"]);
        let worktree =
            pick(rng, &["\tworktree = .\n", "\tworktree = .\n", "\tworktree = ../ws\n", ""]);
        let config = format!(
            "[core]\n\trepositoryformatversion = 0\n\tbare = {}\n{worktree}\t{key} = {program}\n",
            pick(rng, &["false", "false", "true"]),
        );
        let files = vec![
            random_break(rng),
            GivenFile::regular("HEAD", "ref: refs/heads/main\n"),
            GivenFile::regular("config", &config),
            GivenFile::regular("objects/k", "x\n"),
            GivenFile::regular("refs/k", "x\n"),
        ];
        Self::new(VariantKind::BareAtTop, files)
    }

    /// Returns a workspace with trees that would become something else under another name.
    pub(super) fn with_trees(rng: &mut Rng) -> Self {
        let mut files = Vec::new();
        let trees = [
            ("payload.d/.git/hooks/pre-commit", "#!/bin/sh\n"),
            ("payload.d/README.md", "x\n"),
            ("gh/workflows/x.yml", "on: push\n"),
            ("cfg/git/config", "[core]\n"),
            ("w/wrapper/gradle-wrapper.properties", "url=x\n"),
            (".github/workflows/ci.yml", "on: push\n"),
            ("d/README.md", "x\n"),
            ("d/l", "x\n"),
            ("d/f", "x\n"),
            ("ed/tasks.json", "{}\n"),
            ("pkg/.vscode/tasks.json", "{}\n"),
        ];
        for (path, text) in trees {
            if happens(rng, 70) {
                files.push(GivenFile::regular(path, text));
            }
        }
        if happens(rng, 30) {
            files.push(GivenFile::regular("sub/.env", "{{SECRET}}"));
        }
        for (path, target) in [
            ("sub/l", "../../outside"),
            ("sub/README.md", "../../outside/marker"),
            ("l", "../outside"),
            ("docs/link", "../../outside/marker"),
        ] {
            if happens(rng, 60) {
                files.push(GivenFile::link(path, target));
            }
        }
        Self::new(VariantKind::Trees, files)
    }
}

fn random_link(rng: &mut Rng, path: &str) -> GivenFile {
    let target = pick(rng, OUTSIDE);
    let up = "../".repeat(path.matches('/').count());
    let target = if target.starts_with("..") { format!("{up}{target}") } else { target.to_owned() };
    GivenFile::link(path, &target)
}

/// Returns one thing by which `.git` stops being a repository.
fn random_break(rng: &mut Rng) -> GivenFile {
    match rng.u8(..7) {
        0 => GivenFile::regular(".git/HEAD", pick(rng, &["broken\n", "", "ref: \n"])),
        1 => GivenFile::regular(".git/objects", "x\n"),
        2 => GivenFile::regular(".git/refs", "x\n"),
        3 => GivenFile::regular(".git/commondir", pick(rng, &["nope\n", "/nowhere\n"])),
        4 => GivenFile::of_kind(".git/HEAD", FileKind::Folder),
        5 => GivenFile::regular(".git", pick(rng, &["gitdir: nowhere\n", "", "x\n"])),
        _ => GivenFile::link(".git/HEAD", pick(rng, &["nowhere", "refs/nothing", "/dev/null"])),
    }
}
