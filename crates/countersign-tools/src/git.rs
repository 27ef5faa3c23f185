//! The audit of a repository: whether git's reading commands run anything but git in it.
//!
//! A repository's own config can name programs that `git status` or `git diff` start. So the config is
//! held against a list of keys that are known to name none; whatever is not on it, or cannot be read,
//! is a hazard. The user's own config outside the repository is theirs, and not audited.

mod index;

use std::path::{Path, PathBuf};

/// Submodules in submodules, and all of them together.
const MAX_DEPTH: usize = 4;
const MAX_REPOSITORIES: usize = 100;

/// Keys that are plain data, by section; `*` stands for any key of the section.
const HARMLESS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
            "quotepath",
            "untrackedcache",
            "longpaths",
            "abbrev",
            "bigfilethreshold",
            "checkstat",
            "commentchar",
            "compression",
            "fscache",
            "hidedotfiles",
            "preloadindex",
            "protecthfs",
            "protectntfs",
            "sharedrepository",
            "trustctime",
            "whitespace",
        ],
    ),
    ("remote", &["url", "fetch", "pushurl", "push", "mirror", "prune", "tagopt", "gh-resolved"]),
    (
        "branch",
        &[
            "remote",
            "merge",
            "rebase",
            "pushremote",
            "description",
            "vscode-merge-base",
            "gh-merge-base",
            "github-pr-owner-number",
            "autosetupmerge",
            "sort",
        ],
    ),
    ("user", &["name", "email", "signingkey"]),
    ("commit", &["gpgsign", "verbose"]),
    // The drivers of a kind of file have keys of their own, and none of them is here.
    ("diff", &["algorithm", "renames", "colormoved", "context", "mnemonicprefix"]),
    ("status", &["showuntrackedfiles", "short", "branch"]),
    ("log", &["date", "decorate"]),
    ("tag", &["sort", "gpgsign"]),
    ("maintenance", &["auto", "strategy"]),
    ("submodule", &["url", "active", "branch"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote", "followtags"]),
    ("fetch", &["prune", "prunetags"]),
    ("init", &["defaultbranch"]),
    ("merge", &["conflictstyle", "ff"]),
    ("rebase", &["autostash", "autosquash"]),
    ("rerere", &["enabled", "autoupdate"]),
    ("color", &["ui"]),
    ("extensions", &["objectformat", "worktreeconfig", "refstorage"]),
    ("gc", &["auto"]),
    ("lfs", &["repositoryformatversion"]),
];

/// Returns whether a variable makes git start a program, or read settings from elsewhere.
pub(crate) fn is_hazard(name: &str, value: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == ' ' || c == '-';
    match name {
        "PAGER" | "GIT_PAGER" | "LESS" => !value.chars().all(plain),
        "GIT_OPTIONAL_LOCKS" | "GIT_TERMINAL_PROMPT" | "GIT_EDITOR" => false,
        _ => {
            name.starts_with("GIT_")
                && !name.starts_with("GIT_AUTHOR_")
                && !name.starts_with("GIT_COMMITTER_")
        }
    }
}

/// Returns why git's reading commands are not harmless in a folder; none if it cannot be told.
///
/// A folder outside every repository has no hazards: git says so and ends.
pub(crate) fn hazards(cwd: &Path, roots: &[PathBuf]) -> Option<Vec<String>> {
    let mut audit = Audit { roots, found: Vec::new(), left: MAX_REPOSITORIES };
    match git_folder(cwd) {
        Found::At { git, tree } => audit.repository(&git, &tree, 0)?,
        Found::Nowhere => {}
        Found::Unclear => return None,
    }
    Some(audit.found)
}

struct Audit<'a> {
    roots: &'a [PathBuf],
    found: Vec<String>,
    left: usize,
}

impl Audit<'_> {
    /// Looks at a repository and at those inside it, which git asks for their state too.
    fn repository(&mut self, git: &Path, tree: &Path, depth: usize) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        if git == tree {
            self.found.push("the folder itself looks like a bare repository".to_owned());
        }
        let common = common_folder(git)?;
        let file = tree.join(".git");
        let points_back = points_back(git, &file);
        if file.is_file() && !points_back && !self.is_inside(git) {
            self.found.push("`.git` points to a repository that does not point back".to_owned());
        }
        let mut wide = false;
        for config in [common.join("config"), git.join("config.worktree")] {
            let Some(text) = text_of(&config)? else { continue };
            wide |= text.to_lowercase().contains("sha256");
            // A submodule's folder says where its files are; they are here.
            let at_home = |hazard: &String| !(depth > 0 && hazard.ends_with("`core.worktree`"));
            self.found.extend(of_config(&text).into_iter().filter(at_home));
        }
        // The one hook that reading commands run, when they bring the index up to date.
        if common.join("hooks/post-index-change").symlink_metadata().is_ok() {
            self.found.push("a hook runs when the index changes".to_owned());
        }
        for folder in index::repositories(&git.join("index"), wide)? {
            let tree = tree.join(folder);
            if depth >= MAX_DEPTH {
                return None;
            }
            match here(&tree) {
                Found::At { git, tree } => self.repository(&git, &tree, depth + 1)?,
                Found::Nowhere => {}
                Found::Unclear => return None,
            }
        }
        Some(())
    }

    fn is_inside(&self, git: &Path) -> bool {
        git.canonicalize().is_ok_and(|git| self.roots.iter().any(|root| git.starts_with(root)))
    }
}

/// Whether a worktree's folder in its repository names the `.git` file that names it.
fn points_back(git: &Path, file: &Path) -> bool {
    let back = std::fs::read_to_string(git.join("gitdir")).ok();
    let back = back.and_then(|back| git.join(back.trim()).canonicalize().ok());
    back.is_some() && back == file.canonicalize().ok()
}

/// Returns what a file holds: `Some(None)` if there is none, `None` if it cannot be read.
#[expect(clippy::option_option, reason = "no file and no answer are two things here")]
fn text_of(file: &Path) -> Option<Option<String>> {
    match std::fs::read(file) {
        Ok(bytes) => String::from_utf8(bytes).ok().map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(None),
        Err(_) => None,
    }
}

/// Where the repository of a folder is.
enum Found {
    /// Its `.git`, or what that leads to, and the folder with its files.
    At {
        git: PathBuf,
        tree: PathBuf,
    },
    Nowhere,
    Unclear,
}

/// Returns the repository a folder is in, if it is in one.
fn git_folder(cwd: &Path) -> Found {
    let found = cwd.ancestors().map(here);
    found.into_iter().find(|found| !matches!(found, Found::Nowhere)).unwrap_or(Found::Nowhere)
}

/// Returns the repository of which this is the topmost folder.
fn here(folder: &Path) -> Found {
    let git = folder.join(".git");
    let tree = folder.to_owned();
    match git.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => return Found::At { git, tree },
        // A worktree or submodule: the file says where the real folder is.
        Ok(metadata) if metadata.is_file() => {
            let text = std::fs::read_to_string(&git).unwrap_or_default();
            let to = text.strip_prefix("gitdir:").map(str::trim);
            return to.map_or(Found::Unclear, |to| Found::At { git: folder.join(to), tree });
        }
        Err(error) if is_absent(&error) => {}
        Ok(_) | Err(_) => return Found::Unclear,
    }
    // A bare repository needs no `.git`: git would take this folder for one.
    if folder.join("HEAD").exists() && folder.join("objects").exists() {
        return Found::At { git: tree.clone(), tree };
    }
    Found::Nowhere
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Returns where the config is: for a worktree that is the main repository.
fn common_folder(git: &Path) -> Option<PathBuf> {
    match std::fs::read_to_string(git.join("commondir")) {
        Ok(text) => Some(git.join(text.trim())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(git.to_owned()),
        Err(_) => None,
    }
}

fn of_config(text: &str) -> Vec<String> {
    let mut section: Option<&[&str]> = None;
    let mut name = String::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with('[') {
            name = section_name(line);
            section = HARMLESS.iter().find(|(known, _)| *known == name).map(|(_, keys)| *keys);
            if section.is_none() {
                found.push(format!("the repository's config has a section `{name}`"));
            }
            continue;
        }
        let key = line.split(['=', ' ', '\t']).next().unwrap_or_default().to_lowercase();
        // A value that goes on in the next line could hide a key there from us, or from git.
        if line.ends_with('\\') || section.is_some_and(|keys| !keys.contains(&key.as_str())) {
            found.push(format!("the repository's config sets `{name}.{key}`"));
        }
    }
    found
}

/// Returns the section of a header that stands alone on its line, else the line itself: no section.
fn section_name(line: &str) -> String {
    let inner = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    let Some(inner) = inner else { return line.to_owned() };
    let name = inner.split_once(' ').map_or(inner, |(name, _)| name);
    name.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_config_has_no_hazards() {
        let config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n# a note\n\
                      [remote \"origin\"]\n\turl = git@example.org:a/b\n\tfetch = +refs/*:refs/*\n\
                      [branch \"main\"]\n\tremote = origin\n";
        assert_eq!(of_config(config), Vec::<String>::new());
    }

    #[test]
    fn whatever_could_start_a_program_is_a_hazard() {
        for config in [
            "[core]\n\tfsmonitor = ./x\n",
            "[CORE]\nFsMonitor=./x\n",
            "[core]\n\tpager = ./x\n",
            "[core] fsmonitor = ./x\n",
            "[diff \"evil\"]\n\ttextconv = ./x\n",
            "[filter \"x\"]\n\tclean = ./x\n",
            "[include]\n\tpath = ../evil\n",
            "[alias]\n\tstatus = !./x\n",
            "[core]\n\tquotepath = a\\\n\tfsmonitor = ./x\n",
            "[remote \"x\"]\n\tuploadpack = ./x\n",
        ] {
            assert!(!of_config(config).is_empty(), "{config}");
        }
    }

    #[test]
    fn a_repository_is_found_from_below_and_none_is_no_hazard() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        assert_eq!(hazards(&below, &[]), Some(vec![]));
        write(folder.path(), ".git/config", "[core]\n\tfsmonitor = ./x\n");
        assert_eq!(hazards(&below, &[]).map(|found| found.len()), Some(1));
    }

    #[test]
    fn a_hook_that_reading_runs_is_a_hazard() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), ".git/hooks/pre-commit", "");
        assert_eq!(hazards(folder.path(), &[]), Some(vec![]));
        write(folder.path(), ".git/hooks/post-index-change", "");
        assert_eq!(hazards(folder.path(), &[]).map(|found| found.len()), Some(1));
    }

    #[test]
    fn a_folder_that_looks_like_a_repository_is_a_hazard() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "bare/HEAD", "ref: refs/heads/main\n");
        write(folder.path(), "bare/objects/x", "");
        assert_eq!(hazards(&folder.path().join("bare"), &[]).map(|found| found.len()), Some(1));
    }

    #[test]
    fn a_repository_elsewhere_has_to_point_back() {
        let elsewhere = tempfile::tempdir().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let git = elsewhere.path().join(".git/worktrees/x");
        write(&git, "commondir", "../..\n");
        write(&root, ".git", &format!("gitdir: {}\n", git.display()));
        let roots = [root.clone()];
        assert_eq!(hazards(&root, &roots).map(|found| found.len()), Some(1));
        write(&git, "gitdir", &format!("{}\n", root.join(".git").display()));
        assert_eq!(hazards(&root, &roots), Some(vec![]));
        write(elsewhere.path(), ".git/config", "[core]\n\tpager = ./x\n");
        assert_eq!(hazards(&root, &roots).map(|found| found.len()), Some(1));
    }

    #[test]
    fn the_repositories_inside_one_are_looked_at_too() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        write(&root, ".git/config", "");
        std::fs::write(root.join(".git/index"), index::tests::with_entry("sub", 0o160_000))
            .unwrap();
        write(&root, "sub/.git", "gitdir: ../.git/modules/sub\n");
        write(&root, ".git/modules/sub/config", "[core]\n\tworktree = ../../../sub\n");
        assert_eq!(hazards(&root, std::slice::from_ref(&root)), Some(vec![]));
        write(&root, ".git/modules/sub/config", "[core]\n\tfsmonitor = ./x\n");
        assert_eq!(hazards(&root, std::slice::from_ref(&root)).map(|found| found.len()), Some(1));
        std::fs::write(root.join(".git/index"), "DIRC????").unwrap();
        assert_eq!(hazards(&root, std::slice::from_ref(&root)), None);
    }

    #[test]
    fn the_environment_may_not_name_programs() {
        assert!(is_hazard("PAGER", "./x") && is_hazard("GIT_EXTERNAL_DIFF", "x"));
        assert!(is_hazard("GIT_CONFIG_COUNT", "1") && is_hazard("GIT_DIR", "x"));
        assert!(!is_hazard("PAGER", "less -R") && !is_hazard("LANG", "C"));
        assert!(!is_hazard("GIT_OPTIONAL_LOCKS", "0"));
    }

    fn write(folder: &Path, name: &str, text: &str) {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
}
