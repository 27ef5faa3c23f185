//! Which repository git would use in a folder, found the way git finds it.
//!
//! git passes over a `.git` that is no valid repository and then takes the folder itself, or one above,
//! for a bare one. So only what is plainly valid, or plainly not there, has an answer.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::plain_file::{is_absent, read_plain_text};

/// `HEAD`, `.git` as a file, `commondir`, `gitdir`: a line each.
const MOST_BYTES: u64 = 4 * 1024;

/// The repository of a folder.
pub(super) enum RepositoryDiscovery {
    /// There is one, and git takes it.
    Repository(RepositoryPaths),
    /// There is none.
    Nowhere,
    /// Which one git takes cannot be told, and why.
    Unclear(&'static str),
}

/// Where the parts of a repository are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RepositoryPaths {
    /// Its `.git`, or where that leads.
    pub(super) git: PathBuf,
    /// What it shares with its other worktrees: config, objects, refs. Often the same folder.
    pub(super) common: PathBuf,
    /// The topmost folder of its files.
    pub(super) tree: PathBuf,
}

/// Returns the repository that git uses in a folder.
pub(super) fn discover(cwd: &Path) -> RepositoryDiscovery {
    let device = |folder: &Path| {
        folder.metadata().ok().filter(std::fs::Metadata::is_dir).map(|metadata| metadata.dev())
    };
    let Some(start) = device(cwd) else {
        return RepositoryDiscovery::Unclear("the folder is not there");
    };
    for folder in cwd.ancestors() {
        // git does not look beyond the file system it starts on.
        if folder != cwd && device(folder) != Some(start) {
            return RepositoryDiscovery::Unclear("the folder is a file system of its own");
        }
        match discover_at(folder) {
            RepositoryDiscovery::Nowhere => {}
            found => return found,
        }
    }
    RepositoryDiscovery::Nowhere
}

/// Returns the repository of which a folder is the topmost one.
pub(super) fn discover_at(folder: &Path) -> RepositoryDiscovery {
    let git = folder.join(".git");
    let git = match git.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => Some(git),
        // A worktree or submodule: the file says where the real folder is.
        Ok(metadata) if metadata.is_file() => match named_in(&git) {
            Some(named) => Some(folder.join(named)),
            None => return RepositoryDiscovery::Unclear("`.git` names no repository"),
        },
        Err(error) if is_absent(&error) => None,
        Ok(_) | Err(_) => {
            return RepositoryDiscovery::Unclear("`.git` is neither a folder nor a file");
        }
    };
    let Some(git) = git else {
        let bare = RepositoryDiscovery::Unclear("a folder here looks like a bare repository");
        return if looks_bare(folder) { bare } else { RepositoryDiscovery::Nowhere };
    };
    match valid_common_folder(&git) {
        Some(common) => RepositoryDiscovery::Repository(RepositoryPaths {
            git,
            common,
            tree: folder.to_owned(),
        }),
        None => RepositoryDiscovery::Unclear("`.git` is not a valid repository"),
    }
}

/// Returns the line of a file that names another, as git reads it.
pub(super) fn line_of(file: &Path) -> Option<String> {
    let text = read_plain_text(file, MOST_BYTES)??;
    let line = text.trim_end_matches(['\n', '\r']);
    (!line.is_empty() && !line.chars().any(char::is_control)).then(|| line.to_owned())
}

fn named_in(file: &Path) -> Option<String> {
    line_of(file)?.strip_prefix("gitdir: ").map(str::to_owned)
}

/// Whether git might take a folder without a `.git` for a repository: it needs even more than this.
fn looks_bare(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("objects") || has("commondir"))
}

/// Returns the folder that a valid repository shares with its worktrees; none if it is not valid.
fn valid_common_folder(git: &Path) -> Option<PathBuf> {
    let is_head = line_of(&git.join("HEAD")).is_some_and(|line| is_head(&line));
    let common = match git.join("commondir").symlink_metadata() {
        Ok(_) => git.join(line_of(&git.join("commondir"))?),
        Err(error) if is_absent(&error) => git.to_owned(),
        Err(_) => return None,
    };
    let has = |name: &str| {
        let folder = common.join(name);
        let is_folder = folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        is_folder && access(&folder, Access::EXEC_OK).is_ok()
    };
    (is_head && has("objects") && has("refs")).then_some(common)
}

fn is_head(line: &str) -> bool {
    let is_object = matches!(line.len(), 40 | 64) && line.bytes().all(|b| b.is_ascii_hexdigit());
    is_object || line.strip_prefix("ref: refs/").is_some_and(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{make_repository, write};
    use super::*;

    #[test]
    fn a_repository_is_found_from_below() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        make_repository(folder.path());
        let git = folder.path().join(".git");
        let expected = RepositoryPaths { common: git.clone(), git, tree: folder.path().to_owned() };
        let RepositoryDiscovery::Repository(found) = discover(&below) else {
            panic!("none was found")
        };
        assert_eq!(found, expected);
        assert!(matches!(discover(&below.join("none")), RepositoryDiscovery::Unclear(_)));
    }

    #[test]
    fn what_git_would_pass_over_is_unclear() {
        let broken: &[fn(&Path)] = &[
            |git| std::fs::write(git.join("HEAD"), "broken\n").unwrap(),
            |git| std::fs::write(git.join("HEAD"), "ref: x\n").unwrap(),
            |git| std::fs::remove_file(git.join("HEAD")).unwrap(),
            |git| std::fs::remove_dir_all(git.join("objects")).unwrap(),
            |git| std::fs::remove_dir_all(git.join("refs")).unwrap(),
            |git| {
                std::fs::remove_dir_all(git.join("objects")).unwrap();
                std::fs::write(git.join("objects"), "x").unwrap();
            },
            |git| std::fs::write(git.join("commondir"), "nope\n").unwrap(),
            |git| {
                std::fs::remove_file(git.join("HEAD")).unwrap();
                std::os::unix::fs::symlink("refs/heads/main", git.join("HEAD")).unwrap();
            },
            |git| {
                std::fs::rename(git, git.with_file_name("real")).unwrap();
                std::os::unix::fs::symlink("real", git).unwrap();
            },
            |git| {
                std::fs::remove_dir_all(git).unwrap();
                std::fs::write(git, "gitdir: nowhere\n").unwrap();
            },
            |git| {
                std::fs::remove_dir_all(git).unwrap();
                std::fs::write(git, "x\n").unwrap();
            },
        ];
        for (number, spoil) in broken.iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            make_repository(folder.path());
            spoil(&folder.path().join(".git"));
            assert!(matches!(discover(folder.path()), RepositoryDiscovery::Unclear(_)), "{number}");
        }
    }

    #[test]
    fn a_folder_that_looks_like_a_repository_is_unclear() {
        let folder = tempfile::tempdir().unwrap();
        make_repository(folder.path());
        write(folder.path(), "bare/HEAD", "ref: refs/heads/main\n");
        let bare = folder.path().join("bare");
        assert!(matches!(discover(&bare), RepositoryDiscovery::Repository(_)));
        write(folder.path(), "bare/objects/x", "");
        assert!(matches!(discover(&bare), RepositoryDiscovery::Unclear(_)));
    }
}
