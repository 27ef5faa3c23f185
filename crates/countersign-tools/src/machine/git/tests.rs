//! The audit as a whole, on repositories made by hand.

use super::*;

#[test]
fn an_ordinary_repository_has_no_hazards_nor_has_none_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    assert_eq!(count(&root.join("a/b"), &root), Some(0));
    make_repository(&root);
    assert_eq!(count(&root.join("a/b"), &root), Some(0));
    write(&root, ".git/config", "[core]\n\tfsmonitor = ./x\n");
    assert_eq!(count(&root.join("a/b"), &root), Some(1));
    write(&root, ".git/config", "");
    write(&root, ".git/config.worktree", "[core]\n\tfsmonitor = ./x\n");
    assert_eq!(count(&root, &root), Some(1));
}

#[test]
fn a_config_that_is_no_plain_file_has_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    make_repository(&root);
    let config = root.join(".git/config");
    std::fs::remove_file(&config).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &config, 0o600.into()).unwrap();
    assert_eq!(count(&root, &root), None);
    std::fs::remove_file(&config).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &config).unwrap();
    assert_eq!(count(&root, &root), None);
    std::fs::remove_file(&config).unwrap();
    std::fs::write(&config, vec![b'\n'; 1024 * 1024 + 1]).unwrap();
    assert_eq!(count(&root, &root), None);
}

#[test]
fn a_hook_that_reading_runs_is_a_hazard() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    make_repository(&root);
    write(&root, ".git/hooks/pre-commit", "");
    assert_eq!(count(&root, &root), Some(0));
    write(&root, ".git/hooks/post-index-change", "");
    assert_eq!(count(&root, &root), Some(1));
}

#[test]
fn a_bare_repository_behind_a_broken_one_is_a_hazard() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    make_repository(&root);
    for name in ["HEAD", "config"] {
        std::fs::copy(root.join(".git").join(name), root.join(name)).unwrap();
    }
    write(&root, "objects/k", "");
    write(&root, "refs/k", "");
    assert_eq!(count(&root, &root), Some(0), "git takes the valid one");
    write(&root, ".git/HEAD", "broken\n");
    assert_eq!(count(&root, &root), Some(1));
}

#[test]
fn a_repository_elsewhere_has_to_point_back() {
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    make_repository(elsewhere.path());
    let git = elsewhere.path().join(".git/worktrees/x");
    write(&git, "commondir", "../..\n");
    write(&git, "HEAD", "ref: refs/heads/x\n");
    write(&root, ".git", &format!("gitdir: {}\n", git.display()));
    assert_eq!(count(&root, &root), Some(1));
    write(&git, "gitdir", &format!("{}\n", root.join(".git").display()));
    assert_eq!(count(&root, &root), Some(0));
    write(elsewhere.path(), ".git/config", "[core]\n\tpager = ./x\n");
    assert_eq!(count(&root, &root), Some(1));
}

#[test]
fn a_repository_of_the_workspace_may_not_share_one_outside() {
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    make_repository(elsewhere.path());
    make_repository(&root);
    let other = elsewhere.path().join(".git");
    write(&root, ".git/commondir", &format!("{}\n", other.display()));
    assert_eq!(count(&root, &root), Some(1));
}

#[test]
fn the_repositories_inside_one_are_looked_at_too() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    make_repository(&root);
    let index = index::tests::with_entries(&[("sub", 0o160_000)]);
    std::fs::write(root.join(".git/index"), index).unwrap();
    write(&root, "sub/.git", "gitdir: ../.git/modules/sub\n");
    assert_eq!(count(&root, &root), Some(1), "there is no such repository");
    make_repository_at(&root.join(".git/modules/sub"));
    write(&root, ".git/modules/sub/config", "[core]\n\tworktree = ../../../sub\n");
    assert_eq!(count(&root, &root), Some(0));
    assert_eq!(count(&root.join("sub"), &root.join("sub")), Some(0), "it points back");
    write(&root, ".git/modules/sub/config", "[core]\n\tworktree = ../../../..\n");
    assert_eq!(count(&root, &root), Some(1));
    write(&root, ".git/modules/sub/config", "[core]\n\tfsmonitor = ./x\n");
    assert_eq!(count(&root, &root), Some(1));
    std::fs::write(root.join(".git/index"), "DIRC????").unwrap();
    assert_eq!(count(&root, &root), None);
}

#[test]
fn tracked_secrets_and_tracked_folders_that_are_links_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("ws");
    make_repository(&root);
    write(&root, "sub/a.rs", "");
    let file = 0o100_644;
    let entries = [(".env", file), (".env.example", file), ("l/x", file), ("sub/key.pem", file)];
    let index = index::tests::with_entries(&entries);
    std::fs::write(root.join(".git/index"), index).unwrap();
    std::os::unix::fs::symlink("..", root.join("l")).unwrap();
    let workspace = Workspace::new([root.clone()]).unwrap();
    let audit = audit_repository(&root.join("sub"), workspace.roots()).unwrap();
    assert_eq!((audit.hazards.len(), &audit.tree), (0, &root));
    let paths = |found: Vec<EffectTarget>| found.into_iter().map(|it| it.path).collect::<Vec<_>>();
    let secrets = paths(audit.tracked_secrets(&workspace));
    assert_eq!(secrets, [root.join(".env"), root.join("sub/key.pem")]);
    let links = paths(audit.tracked_links(&workspace).unwrap());
    assert_eq!(links, [root.parent().unwrap()]);
}

#[test]
fn the_environment_may_not_name_programs() {
    assert!(is_hazard("PAGER", "./x") && is_hazard("GIT_EXTERNAL_DIFF", "x"));
    assert!(is_hazard("GIT_CONFIG_COUNT", "1") && is_hazard("GIT_DIR", "x"));
    assert!(!is_hazard("PAGER", "less -R") && !is_hazard("LANG", "C"));
    assert!(!is_hazard("GIT_OPTIONAL_LOCKS", "0"));
}

fn count(cwd: &Path, root: &Path) -> Option<usize> {
    audit_repository(cwd, &[root.to_owned()]).map(|audit| audit.hazards.len())
}

/// Makes a valid repository without a commit.
pub(super) fn make_repository(tree: &Path) {
    make_repository_at(&tree.join(".git"));
}

pub(super) fn make_repository_at(git: &Path) {
    write(git, "HEAD", "ref: refs/heads/main\n");
    write(git, "config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
    for name in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
        std::fs::create_dir_all(git.join(name)).unwrap();
    }
}

pub(super) fn write(folder: &Path, name: &str, text: &str) {
    let file = folder.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}
