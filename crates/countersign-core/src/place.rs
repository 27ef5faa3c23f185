//! Places: what a path means, by its components alone.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// On which side of the workspace's border a path lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Below a workspace root.
    Inside,
    /// Outside every workspace root.
    Outside,
}

/// What makes a path special, on whichever side it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Special {
    /// It decides what runs later: git's internals, editors' and agents' settings, start-up files.
    Protected,
    /// It holds keys or passwords.
    Secret,
}

/// Where a path lies, as far as consent is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Inside or outside.
    pub side: Side,
    /// Special or not.
    pub special: Option<Special>,
}

/// Folders whose content runs or steers what runs.
const PROTECTED_FOLDERS: &[&str] =
    &[".git", ".claude", ".countersign", ".cursor", ".vscode", ".idea", ".husky", ".devcontainer"];

/// Files that run by themselves or change the rules.
const PROTECTED_FILES: &[&str] = &[
    "countersign.toml",
    ".mcp.json",
    ".gitconfig",
    ".gitmodules",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".envrc",
    ".npmrc",
    ".ripgreprc",
];

/// Folders that hold keys.
const SECRET_FOLDERS: &[&str] = &[".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker"];

/// Files that hold keys or passwords.
const SECRET_FILES: &[&str] = &[
    ".env",
    ".netrc",
    ".pgpass",
    ".git-credentials",
    ".pypirc",
    "credentials.json",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
];

/// Endings of key files.
const SECRET_ENDINGS: &[&str] = &["pem", "key", "p12", "pfx", "keystore", "jks"];

impl Place {
    /// Returns the place of a resolved path, given the workspace roots (resolved too).
    ///
    /// Names are compared without case: on some file systems `.GIT` is `.git`.
    pub fn of(path: &Path, roots: &[PathBuf]) -> Self {
        let inside = roots.iter().find_map(|root| path.strip_prefix(root).ok());
        let judged = inside.unwrap_or(path);
        let special = if holds_secrets(judged) {
            Some(Special::Secret)
        } else if is_protected(judged) {
            Some(Special::Protected)
        } else {
            None
        };
        Self { side: if inside.is_some() { Side::Inside } else { Side::Outside }, special }
    }
}

fn holds_secrets(path: &Path) -> bool {
    let name = folded(path.file_name());
    let ending = folded(path.extension());
    has_folder(path, SECRET_FOLDERS)
        || SECRET_FILES.contains(&name.as_str())
        || SECRET_ENDINGS.contains(&ending.as_str())
        // `.env.local` and its like hold secrets, `.env.example` by convention does not.
        || (name.starts_with(".env.") && !matches!(ending.as_str(), "example" | "sample" | "template"))
}

fn is_protected(path: &Path) -> bool {
    has_folder(path, PROTECTED_FOLDERS)
        || PROTECTED_FILES.contains(&folded(path.file_name()).as_str())
}

fn has_folder(path: &Path, folders: &[&str]) -> bool {
    path.components().any(|component| match component {
        Component::Normal(name) => folders.contains(&folded(Some(name)).as_str()),
        _ => false,
    })
}

fn folded(name: Option<&OsStr>) -> String {
    name.map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_is_by_component_not_by_prefix() {
        check("/ws/src/main.rs", Side::Inside, None);
        check("/ws", Side::Inside, None);
        check("/ws-evil/main.rs", Side::Outside, None);
        check("/etc/hostname", Side::Outside, None);
    }

    #[test]
    fn special_names_are_special_wherever_and_however_they_are_written() {
        check("/ws/.git/hooks/pre-commit", Side::Inside, Some(Special::Protected));
        check("/ws/.GIT/config", Side::Inside, Some(Special::Protected));
        check("/ws/countersign.toml", Side::Inside, Some(Special::Protected));
        check("/home/me/.bashrc", Side::Outside, Some(Special::Protected));
        check("/ws/.env", Side::Inside, Some(Special::Secret));
        check("/ws/.env.local", Side::Inside, Some(Special::Secret));
        check("/ws/.env.example", Side::Inside, None);
        check("/home/me/.ssh/config", Side::Outside, Some(Special::Secret));
        check("/ws/server.PEM", Side::Inside, Some(Special::Secret));
        check("/ws/monkey.rs", Side::Inside, None);
    }

    #[test]
    fn a_root_below_a_special_folder_is_not_special_itself() {
        let roots = [PathBuf::from("/home/me/.vscode/ws")];
        let place = Place::of(Path::new("/home/me/.vscode/ws/a.rs"), &roots);
        assert_eq!(place, Place { side: Side::Inside, special: None });
    }

    #[track_caller]
    fn check(path: &str, side: Side, special: Option<Special>) {
        let place = Place::of(Path::new(path), &[PathBuf::from("/ws")]);
        assert_eq!(place, Place { side, special }, "{path}");
    }
}
