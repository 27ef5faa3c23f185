//! git's own folder: whether anything in it leads elsewhere.
//!
//! git shows what its files hold, in lists and in errors: `shallow`, `packed-refs`, `BISECT_START`,
//! `rebase-merge/done`, `worktrees/*/gitdir`. As links these would be files of somewhere else.

use std::ffi::OsStr;
use std::fs::FileType;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Folders of tools and of repositories of their own: git's reading commands do not look into them.
/// Hooks often are links; the one that reading runs is looked for by its name.
const LEFT_OUT: &[&str] = &["hooks", "modules", "lfs", "annex"];

/// Returns why the contents of git's own folder are not just git's; none if there are more entries
/// than `left`, or they cannot be listed.
pub(super) fn find_links(git: &Path, left: &mut usize) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut ahead = vec![PathBuf::new()];
    while let Some(folder) = ahead.pop() {
        for entry in git.join(&folder).read_dir().ok()? {
            *left = left.checked_sub(1)?;
            let entry = entry.ok()?;
            let kind = entry.file_type().ok()?;
            if !kind.is_dir() && !leads_elsewhere(kind) {
                continue;
            }
            let name = entry.file_name();
            if kind.is_dir() {
                if !is_left_out(&folder, &name) {
                    ahead.push(folder.join(name));
                }
            } else if !(folder.as_os_str().is_empty() && name == "hooks") {
                let name = folder.join(name);
                found.push(format!("`{}` in git's own folder is not a plain file", name.display()));
            }
        }
    }
    if git.join("objects/info/alternates").symlink_metadata().is_ok() {
        found.push("the repository takes objects from another one".to_owned());
    }
    Some(found)
}

/// Whether a folder is one that git's reading commands do not look into, or holds nothing but objects.
fn is_left_out(above: &Path, name: &OsStr) -> bool {
    match above.as_os_str().as_encoded_bytes() {
        b"" => LEFT_OUT.iter().any(|it| name == *it),
        b"objects" => name != "info" && name != "pack",
        _ => false,
    }
}

fn leads_elsewhere(kind: FileType) -> bool {
    kind.is_symlink() || kind.is_fifo() || kind.is_char_device() || kind.is_block_device()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{make_repository, write};
    use super::*;

    #[test]
    fn a_link_anywhere_in_it_is_told() {
        for name in [
            "shallow",
            "info/grafts",
            "packed-refs",
            "BISECT_START",
            "rebase-merge/done",
            "worktrees/x/gitdir",
            "logs/refs/heads/main",
            "refs/heads/evil",
            "objects/info/commit-graph",
            "objects/pack/pack-x.idx",
            "objects/ab",
        ] {
            let folder = tempfile::tempdir().unwrap();
            make_repository(folder.path());
            let link = folder.path().join(".git").join(name);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink("/etc/passwd", link).unwrap();
            assert_eq!(links(folder.path(), 1_000).map(|found| found.len()), Some(1), "{name}");
        }
    }

    #[test]
    fn hooks_may_be_links_and_other_objects_are_told() {
        let folder = tempfile::tempdir().unwrap();
        make_repository(folder.path());
        write(folder.path(), ".git/modules/sub/HEAD", "");
        std::fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
        let hook = folder.path().join(".git/hooks/pre-commit");
        std::os::unix::fs::symlink("../../pre-commit", hook).unwrap();
        assert_eq!(links(folder.path(), 1_000), Some(vec![]));
        write(folder.path(), ".git/objects/info/alternates", "/elsewhere\n");
        assert_eq!(links(folder.path(), 1_000).map(|found| found.len()), Some(1));
        assert_eq!(links(folder.path(), 3), None, "more entries than the bound");
    }

    fn links(tree: &Path, mut left: usize) -> Option<Vec<String>> {
        find_links(&tree.join(".git"), &mut left)
    }
}
