//! What is guarded: where keys lie, and what steers what runs later, found by its name.

use std::collections::VecDeque;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use countersign_core::{PathClass, SensitiveKind};

/// How many entries of a workspace are looked at before a command; what lies beyond is not guarded.
const MOST: usize = 100_000;
/// And after it: more, so that a command cannot bury what it made under what else it made.
const MOST_AFTER: usize = 1_000_000;

/// Folders full of what others made: nobody keeps keys there, and to look would take long.
const SKIPPED: &[&str] = &[".git", "node_modules", "target", ".venv", "venv", "__pycache__"];

/// Keys of the system. Its owner, were it root, could read them.
const SYSTEM: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/var/lib/private",
    "/var/spool/cron",
    "/boot",
];

/// Folders of a home in which there may be keys beside other things.
const HOME: &[&str] = &[
    "",
    ".cargo",
    ".claude",
    ".codex",
    ".config",
    ".config/containers",
    ".docker",
    ".gem",
    ".gemini",
    ".local/share",
    ".m2",
    ".gradle",
    "snap",
];

/// What of a home tools keep keys in, without saying so in the name.
const HOME_KEYS: &[&str] = &[
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".config/containers/auth.json",
    ".gemini/oauth_creds.json",
    ".gradle/gradle.properties",
    ".local/share/countersign",
    ".config/countersign",
];

/// Something in a workspace that a child does not get as it gets the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GuardedPath {
    pub(super) path: PathBuf,
    pub(super) special: SensitiveKind,
    /// Whether it is a link. Nothing can be mounted over it; what it leads to is guarded where it lies.
    pub(super) is_link: bool,
}

impl GuardedPath {
    /// Returns something that is no link and steers what runs later.
    pub(super) fn protected(path: PathBuf) -> Self {
        Self { path, special: SensitiveKind::Protected, is_link: false }
    }
}

/// What is guarded in a workspace.
#[derive(Debug, Default)]
pub(super) struct GuardedTree {
    /// The outermost of it, and keys wherever they lie.
    pub(super) found: Vec<GuardedPath>,
    /// Whether everything was looked at.
    pub(super) is_whole: bool,
}

impl GuardedTree {
    /// Looks for what is guarded below a root, before a command.
    pub(super) fn find(root: &Path) -> Self {
        Self::find_among(root, MOST)
    }

    /// The same after a command.
    pub(super) fn find_after(root: &Path) -> Self {
        Self::find_among(root, MOST_AFTER)
    }

    /// Looks at so many entries, those near the top first.
    fn find_among(root: &Path, most: usize) -> Self {
        let mut tree = Self { found: Vec::new(), is_whole: true };
        let mut folders = VecDeque::from([(root.to_owned(), false)]);
        let mut left = most;
        while let Some((folder, is_protected)) = folders.pop_front() {
            for entry in fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
                if left == 0 {
                    return Self { is_whole: false, ..tree };
                }
                left -= 1;
                folders.extend(tree.look_at(&entry, root, is_protected));
            }
        }
        tree
    }

    /// Notes an entry if it is guarded. Returns it if it is a folder to be looked into, and whether
    /// what lies in that is protected with it.
    fn look_at(
        &mut self,
        entry: &DirEntry,
        root: &Path,
        is_protected: bool,
    ) -> Option<(PathBuf, bool)> {
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        let special = PathClass::from_path(&path, std::slice::from_ref(&root.to_owned())).special;
        let is_new = match special {
            Some(SensitiveKind::Secret) => true,
            Some(SensitiveKind::Protected) => !is_protected,
            Some(SensitiveKind::RunsLater) | None => false,
        };
        if let (true, Some(special)) = (is_new, special) {
            let is_link = kind.is_symlink();
            self.found.push(GuardedPath { path: path.clone(), special, is_link });
        }
        // What is hidden is so with all that is in it.
        let is_open = kind.is_dir() && special != Some(SensitiveKind::Secret);
        let is_skipped = SKIPPED.iter().any(|name| entry.file_name() == *name);
        let is_protected = is_protected || special == Some(SensitiveKind::Protected);
        (is_open && !is_skipped).then_some((path, is_protected))
    }
}

/// Returns where keys lie outside of any workspace, as far as they are there.
pub(super) fn keys(home: Option<&Path>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    for folder in home.iter().flat_map(|home| HOME.iter().map(|below| home.join(below))) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let paths = entries.map(|entry| entry.path());
        let is_secret =
            |path: &PathBuf| PathClass::from_path(path, &[]).special == Some(SensitiveKind::Secret);
        found.extend(paths.filter(is_secret));
    }
    found.extend(home.iter().flat_map(|home| HOME_KEYS.iter().map(|below| home.join(below))));
    // A link may lead to a key that lies elsewhere.
    let mut real: Vec<_> = found.iter().filter_map(|path| path.canonicalize().ok()).collect();
    real.sort();
    real.dedup();
    real
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_what_runs_later_are_found_once_and_a_name_alone_is_enough() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in [
            ".env",
            ".git/hooks/pre-commit",
            ".git/x.pem",
            ".vscode/tasks.json",
            ".vscode/deploy.key",
            "a/b/id_rsa",
            "a/.mcp.json",
            "node_modules/p/.env",
            "1/2/3/4/5/6/7/8/9/10/.env",
            "src/main.rs",
            "package.json",
        ] {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", root.join("b.pem")).unwrap();
        let tree = GuardedTree::find(&root);
        assert!(tree.is_whole);
        let mut found: Vec<_> = tree
            .found
            .into_iter()
            .filter(|it| !it.is_link)
            .map(|it| (it.path.strip_prefix(&root).unwrap().display().to_string(), it.special))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let expected = [
            (".env", SensitiveKind::Secret),
            (".git", SensitiveKind::Protected),
            (".vscode", SensitiveKind::Protected),
            (".vscode/deploy.key", SensitiveKind::Secret),
            ("1/2/3/4/5/6/7/8/9/10/.env", SensitiveKind::Secret),
            ("a/.mcp.json", SensitiveKind::Protected),
            ("a/b/id_rsa", SensitiveKind::Secret),
        ];
        assert_eq!(found, expected.map(|(path, special)| (path.to_owned(), special)));
    }

    #[test]
    fn what_lies_near_the_top_is_found_first_and_an_end_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        for file in ["a/b/.env", "a/.env", "x"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        let tree = GuardedTree::find_among(root, 4);
        let found: Vec<_> = tree.found.into_iter().map(|it| it.path).collect();
        assert_eq!((found, tree.is_whole), (vec![root.join("a/.env")], false));
    }

    #[test]
    fn keys_of_a_home_are_found_where_tools_keep_them() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for file in [".ssh/id_rsa", ".netrc", ".claude.json", ".cargo/credentials.toml", "notes"] {
            std::fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
            std::fs::write(home.join(file), "").unwrap();
        }
        let found = keys(Some(&home));
        for key in [".ssh", ".netrc", ".claude.json", ".cargo/credentials.toml"] {
            assert!(found.contains(&home.join(key)), "{key}");
        }
        assert!(!found.contains(&home.join("notes")));
    }
}
