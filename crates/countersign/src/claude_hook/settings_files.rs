//! The files of settings that Claude Code reads, and whether they let it call hooks at all.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::environment;

/// Where an administrator's settings are.
const MANAGED: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode"
} else {
    "/etc/claude-code"
};

/// Whose settings a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingsScope {
    Managed,
    User,
    Project,
    Local,
}

impl fmt::Display for SettingsScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        })
    }
}

/// One file of settings, as far as it can be read.
#[derive(Clone, Debug)]
pub(crate) struct SettingsFile {
    pub(crate) scope: SettingsScope,
    pub(crate) path: PathBuf,
    pub(crate) settings: Value,
}

/// Why Claude Code calls no hook of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HooksDisabledReason {
    pub(crate) scope: SettingsScope,
    pub(crate) path: PathBuf,
    pub(crate) setting: &'static str,
}

impl fmt::Display for HooksDisabledReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, setting, .. } = self;
        write!(f, "`{setting}` is on in `{}`, so Claude Code calls no hook", path.display())
    }
}

/// Returns where the settings of a scope are that we may write.
pub(crate) fn settings_path(scope: SettingsScope, project: &Path) -> Option<PathBuf> {
    match scope {
        SettingsScope::Managed => None,
        SettingsScope::User => Some(environment::claude_config()?.join("settings.json")),
        SettingsScope::Project => Some(project.join(".claude/settings.json")),
        SettingsScope::Local => Some(project.join(".claude/settings.local.json")),
    }
}

/// Returns the settings that hold in a folder, those that are there.
pub(crate) fn read_settings_files(project: &Path) -> Vec<SettingsFile> {
    with_managed(project, Path::new(MANAGED))
}

fn with_managed(project: &Path, managed: &Path) -> Vec<SettingsFile> {
    let mut paths = vec![(SettingsScope::Managed, managed.join("managed-settings.json"))];
    let more = fs::read_dir(managed.join("managed-settings.d")).into_iter().flatten().flatten();
    let mut more: Vec<_> = more.map(|entry| entry.path()).collect();
    more.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    more.sort();
    paths.extend(more.into_iter().map(|path| (SettingsScope::Managed, path)));
    for scope in [SettingsScope::User, SettingsScope::Project, SettingsScope::Local] {
        paths.extend(settings_path(scope, project).map(|path| (scope, path)));
    }
    let read = |(scope, path): (SettingsScope, PathBuf)| {
        let settings = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        Some(SettingsFile { scope, path, settings })
    };
    paths.into_iter().filter_map(read).collect()
}

/// Returns why no hook of ours is called, if so.
pub(crate) fn find_disabled(files: &[SettingsFile]) -> Option<HooksDisabledReason> {
    let is_on = |file: &SettingsFile, name: &str| file.settings.get(name) == Some(&true.into());
    files.iter().find_map(|file| {
        let setting = if is_on(file, "disableAllHooks") {
            "disableAllHooks"
        } else if file.scope == SettingsScope::Managed && is_on(file, "allowManagedHooksOnly") {
            "allowManagedHooksOnly"
        } else {
            return None;
        };
        Some(HooksDisabledReason { scope: file.scope, path: file.path.clone(), setting })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_disables_hooks_is_found_wherever_it_stands() {
        let check = |file: &str, text: &str, found: Option<&str>| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let files = with_managed(folder.path(), &folder.path().join("managed"));
            let ours: Vec<_> =
                files.into_iter().filter(|it| it.scope != SettingsScope::User).collect();
            assert_eq!(find_disabled(&ours).map(|it| it.setting), found, "{file} {text}");
        };
        let all = "{\"disableAllHooks\": true}";
        for file in [
            ".claude/settings.json",
            ".claude/settings.local.json",
            "managed/managed-settings.json",
            "managed/managed-settings.d/10-hooks.json",
        ] {
            check(file, all, Some("disableAllHooks"));
            check(file, "{\"disableAllHooks\": false}", None);
        }
        let managed = "{\"allowManagedHooksOnly\": true}";
        check("managed/managed-settings.json", managed, Some("allowManagedHooksOnly"));
        check(".claude/settings.json", managed, None);
        check("managed/managed-settings.d/notes.txt", all, None);
    }
}
