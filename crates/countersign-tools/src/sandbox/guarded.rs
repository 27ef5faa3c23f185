//! What is guarded: where keys lie, and what steers what runs later, found by its name.

use std::path::{Path, PathBuf};

use countersign_core::{Place, Special};
use ignore::WalkBuilder;

/// How many entries of a workspace are looked at; what lies beyond is not guarded.
const MOST: usize = 50_000;
/// How deep.
const DEEPEST: usize = 8;

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
pub(super) struct Guarded {
    pub(super) path: PathBuf,
    pub(super) special: Special,
}

/// Returns what is guarded below a root: the outermost of it, and keys wherever they lie.
pub(super) fn within(root: &Path) -> Vec<Guarded> {
    let top = root.to_owned();
    let walk = WalkBuilder::new(root)
        .standard_filters(false)
        .max_depth(Some(DEEPEST))
        .filter_entry(move |entry| {
            let parent = entry.path().parent();
            let is_skipped = |name: &str| parent.is_some_and(|it| it.ends_with(name));
            entry.path() == top || !SKIPPED.iter().any(|name| is_skipped(name))
        })
        .build();
    let mut found: Vec<Guarded> = Vec::new();
    for entry in walk.take(MOST).filter_map(Result::ok) {
        let path = entry.into_path();
        let place = Place::of(&path, std::slice::from_ref(&root.to_owned()));
        let Some(special @ (Special::Secret | Special::Protected)) = place.special else {
            continue;
        };
        let known = |it: &Guarded| path.starts_with(&it.path);
        let covered = found.iter().any(|it| {
            known(it) && (it.special == Special::Secret || special == Special::Protected)
        });
        // A link cannot be mounted over; what it leads to is guarded where it lies.
        if path != root && !covered && !path.is_symlink() {
            found.push(Guarded { path, special });
        }
    }
    found
}

/// Returns where keys lie outside of any workspace, as far as they are there.
pub(super) fn keys(home: Option<&Path>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    for folder in home.iter().flat_map(|home| HOME.iter().map(|below| home.join(below))) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let paths = entries.map(|entry| entry.path());
        let is_secret = |path: &PathBuf| Place::of(path, &[]).special == Some(Special::Secret);
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
            "src/main.rs",
            "package.json",
        ] {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", root.join("b.pem")).unwrap();
        let mut found: Vec<_> = within(&root)
            .into_iter()
            .map(|it| (it.path.strip_prefix(&root).unwrap().display().to_string(), it.special))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let expected = [
            (".env", Special::Secret),
            (".git", Special::Protected),
            (".vscode", Special::Protected),
            (".vscode/deploy.key", Special::Secret),
            ("a/.mcp.json", Special::Protected),
            ("a/b/id_rsa", Special::Secret),
        ];
        assert_eq!(found, expected.map(|(path, special)| (path.to_owned(), special)));
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
