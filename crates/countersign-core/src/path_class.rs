//! Places: what a path means, by its components alone.

mod public_files;
mod secret_names;
mod sensitive_names;

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use public_files::is_public;
pub use secret_names::SecretNames;
use secret_names::hold_secrets;
use sensitive_names::{PROTECTED, RUNS_LATER, SensitiveNameSet};

/// On which side of the workspace's border a path lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceSide {
    /// Below a workspace root.
    Inside,
    /// Outside every workspace root.
    Outside,
}

/// What makes a path special, on whichever side it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SensitiveKind {
    /// It decides what runs later: git's internals, editors' and agents' settings, start-up files.
    Protected,
    /// It holds keys or passwords.
    Secret,
    /// It is code like any other, and runs by itself at the next build, test or install.
    RunsLater,
}

/// Where a path lies, as far as consent is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PathClass {
    /// Inside or outside.
    pub side: WorkspaceSide,
    /// Special or not.
    pub special: Option<SensitiveKind>,
}

/// Returns a path without `.` and `..`, by its components alone: links are not looked at.
pub fn normalize_lexically(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut normal, component| {
        match component {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
        normal
    })
}

impl PathClass {
    /// Returns the place of a resolved path, given the workspace roots (resolved too).
    ///
    /// Names are compared without case: on some file systems `.GIT` is `.git`.
    pub fn from_path(path: &Path, roots: &[PathBuf]) -> Self {
        let inside = roots.iter().find_map(|root| path.strip_prefix(root).ok());
        let judged: Vec<_> = inside.unwrap_or(path).components().filter_map(folded).collect();
        let special = if hold_secrets(&judged, inside.is_some()) {
            Some(SensitiveKind::Secret)
        } else if PROTECTED.hold(&judged) {
            Some(SensitiveKind::Protected)
        } else {
            RUNS_LATER.hold(&judged).then_some(SensitiveKind::RunsLater)
        };
        Self {
            side: if inside.is_some() { WorkspaceSide::Inside } else { WorkspaceSide::Outside },
            special,
        }
    }
}

impl SensitiveNameSet {
    /// Returns whether a path, as its folded components, is among the names.
    fn hold(&self, path: &[Cow<'_, str>]) -> bool {
        let Some(name) = path.last() else { return false };
        let in_folder = path.iter().any(|it| self.folders.contains(&it.as_ref()));
        let has_run = |run: &str| {
            let length = run.split('/').count();
            path.windows(length).any(|window| window.iter().eq(run.split('/')))
        };
        in_folder
            || self.files.contains(&name.as_ref())
            || self.starts.iter().any(|start| name.starts_with(start))
            || ending(name).is_some_and(|ending| self.endings.contains(&ending))
            || self.paths.iter().copied().any(has_run)
    }
}

/// Returns the part of a name after its last dot, if something stands before that dot.
fn ending(name: &str) -> Option<&str> {
    name.rsplit_once('.').filter(|(before, _)| !before.is_empty()).map(|(_, ending)| ending)
}

/// Returns a name as the most forgiving file system would read it: without case, trailing dots
/// and blanks, invisible characters or a stream's name; the short alias of `.git` as `.git`.
fn folded(component: Component<'_>) -> Option<Cow<'_, str>> {
    let Component::Normal(name) = component else { return None };
    let name = name.to_string_lossy();
    // Almost every name: there is nothing to fold.
    let plain =
        |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.');
    if name.bytes().all(plain) && !name.ends_with('.') {
        return Some(name);
    }
    let name = name.to_lowercase();
    let seen = name.chars().filter(|c| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'));
    let seen: String = seen.collect();
    let name = match seen.split_once(':') {
        Some((name, _)) if name.starts_with('.') => name,
        _ => &seen,
    };
    let name = name.trim_end_matches(['.', ' ']);
    let short = name.strip_prefix("git~").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    Some(if short { ".git".into() } else { name.to_owned().into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_is_by_component_not_by_prefix() {
        check("/ws/src/main.rs", WorkspaceSide::Inside, None);
        check("/ws", WorkspaceSide::Inside, None);
        check("/ws-evil/main.rs", WorkspaceSide::Outside, None);
        check("/etc/hostname", WorkspaceSide::Outside, None);
    }

    #[test]
    fn special_names_are_special_wherever_and_however_they_are_written() {
        let inside =
            |name: &str, special| check(&format!("/ws/{name}"), WorkspaceSide::Inside, special);
        for name in [
            ".git",
            ".git/hooks/pre-commit",
            ".GIT/config",
            ".git./config",
            ".git /config",
            "GIT~1/config",
            ".git::$INDEX_ALLOCATION/config",
            ".g\u{200c}it/config",
            "sub/.git",
            ".cursor/MCP.json",
            ".vscode/settings.json",
            "a.code-workspace",
            ".cargo/config.toml",
            "rust-toolchain.toml",
            ".yarnrc.yml",
            ".pnp.cjs",
            "gradle/wrapper/gradle-wrapper.properties",
            ".bazelrc.user",
            ".github/workflows/ci.yml",
            ".github/copilot-instructions.md",
            "AGENTS.md",
            "docs/CLAUDE.md",
            "Jenkinsfile",
            "countersign.toml",
            ".config/fish/config.fish",
            ".mcp.json",
            ".aider.conf.yml",
            "lefthook.yml",
            ".gitattributes",
            "mise.toml",
            ".zshrc",
            ".clinerules",
        ] {
            inside(name, Some(SensitiveKind::Protected));
        }
        for name in [
            ".env",
            ".env.local",
            ".ENV",
            "prod.env",
            "server.PEM",
            "secrets.yml",
            ".npmrc",
            "config/credentials.json",
            "credentials",
            "my-service-account.json",
            "terraform.tfstate",
            "a.tfvars",
            "id_ed25519",
            ".docker/config.json",
            ".ssh/config",
            ".vault-token",
            "private-key.asc",
            ".bash_history",
        ] {
            inside(name, Some(SensitiveKind::Secret));
        }
        for name in
            ["package.json", "sub/Makefile", "rules.mk", "build.rs", "vite.config.ts", "Cargo.toml"]
        {
            inside(name, Some(SensitiveKind::RunsLater));
        }
        for name in [
            ".env.example",
            ".env.local.sample",
            "id_rsa.pub",
            "monkey.rs",
            "src/credentials.rs",
            "secrets.rs",
            ".github/ISSUE_TEMPLATE.md",
            "git~x",
            "docker/config.json",
            "key.rs",
            "src/environ/fd.c",
            "public.asc",
            ".gitignore",
        ] {
            inside(name, None);
        }
    }

    #[test]
    fn what_lies_outside_has_its_own_secrets() {
        let outside = |path: &str, special| check(path, WorkspaceSide::Outside, special);
        outside("/home/me/.bashrc", Some(SensitiveKind::Protected));
        outside("/home/me/.ssh/authorized_keys", Some(SensitiveKind::Secret));
        outside("/etc/cron.d/x", Some(SensitiveKind::Protected));
        outside("/home/me/.config/systemd/user/x.service", Some(SensitiveKind::Protected));
        outside("/home/me/Library/LaunchAgents/x.plist", Some(SensitiveKind::Protected));
        for path in [
            "/home/me/.config/gh/hosts.yml",
            "/etc/shadow",
            "/etc/sudoers.d/x",
            "/proc/self/environ",
            "/proc/1/root/etc/x",
            "/proc/kcore",
            "/home/me/.ssh/id_rsa",
        ] {
            outside(path, Some(SensitiveKind::Secret));
        }
        outside("/proc/cpuinfo", None);
        outside("/etc/hostname", None);
    }

    #[test]
    fn a_root_below_a_special_folder_is_not_special_itself() {
        let roots = [PathBuf::from("/home/me/.vscode/ws")];
        let place = PathClass::from_path(Path::new("/home/me/.vscode/ws/a.rs"), &roots);
        assert_eq!(place, PathClass { side: WorkspaceSide::Inside, special: None });
    }

    #[track_caller]
    fn check(path: &str, side: WorkspaceSide, special: Option<SensitiveKind>) {
        let place = PathClass::from_path(Path::new(path), &[PathBuf::from("/ws")]);
        assert_eq!(place, PathClass { side, special }, "{path}");
    }
}
