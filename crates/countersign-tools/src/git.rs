//! The audit of a repository: whether git's reading commands run anything but git in it.
//!
//! A repository's own config can name programs that `git status` or `git diff` start. So the config is
//! held against a list of keys that are known to name none; whatever is not on it, or cannot be read,
//! is a hazard. The user's own config outside the repository is theirs, and not audited.

use std::path::{Path, PathBuf};

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
        ],
    ),
    ("remote", &["url", "fetch", "pushurl", "push", "mirror", "prune", "tagopt", "gh-resolved"]),
    ("branch", &["remote", "merge", "rebase", "pushremote", "description", "vscode-merge-base"]),
    ("user", &["name", "email"]),
    ("submodule", &["url", "active", "branch"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote", "followtags"]),
    ("fetch", &["prune", "prunetags"]),
    ("init", &["defaultbranch"]),
    ("merge", &["conflictstyle", "ff"]),
    ("rebase", &["autostash", "autosquash"]),
    ("rerere", &["enabled", "autoupdate"]),
    ("color", &["ui"]),
    ("extensions", &["objectformat", "worktreeconfig", "refstorage", "partialclone"]),
    ("gc", &["auto"]),
    ("lfs", &["repositoryformatversion"]),
];

/// Returns why git's reading commands are not harmless in a folder; none if it cannot be told.
///
/// A folder outside every repository has no hazards: git says so and ends.
pub(crate) fn hazards(cwd: &Path) -> Option<Vec<String>> {
    let git = match git_folder(cwd) {
        Found::At(git) => git,
        Found::Nowhere => return Some(Vec::new()),
        Found::Unclear => return None,
    };
    let common = common_folder(&git)?;
    let mut found = Vec::new();
    for file in [common.join("config"), git.join("config.worktree")] {
        match std::fs::read(&file) {
            Ok(bytes) => found.extend(of_config(&String::from_utf8(bytes).ok()?)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(_) => return None,
        }
    }
    Some(found)
}

/// Where the repository of a folder is.
enum Found {
    At(PathBuf),
    Nowhere,
    Unclear,
}

/// Returns the `.git` of the repository a folder is in, if it is in one.
fn git_folder(cwd: &Path) -> Found {
    for folder in cwd.ancestors() {
        let git = folder.join(".git");
        match git.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => return Found::At(git),
            // A worktree or submodule: the file says where the real folder is.
            Ok(metadata) if metadata.is_file() => {
                let text = std::fs::read_to_string(&git).unwrap_or_default();
                let to = text.strip_prefix("gitdir:").map(str::trim);
                return to.map_or(Found::Unclear, |to| Found::At(folder.join(to)));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Ok(_) | Err(_) => return Found::Unclear,
        }
        // A bare repository needs no `.git`: git would take this folder for one.
        if folder.join("HEAD").exists() && folder.join("objects").exists() {
            return Found::At(folder.to_owned());
        }
    }
    Found::Nowhere
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
        assert_eq!(hazards(&below), Some(vec![]));
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        std::fs::write(folder.path().join(".git/config"), "[core]\n\tfsmonitor = ./x\n").unwrap();
        assert_eq!(hazards(&below).map(|found| found.len()), Some(1));
    }
}
