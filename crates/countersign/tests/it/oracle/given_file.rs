//! A file that a workspace brings along: hostile or not, written the way the red team's rows write it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode};
use serde_json::{Value, json};

/// What kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Regular,
    Executable,
    Link,
    Folder,
    Fifo,
}

/// A file of the workspace, by its path below the workspace's root.
///
/// The text may hold `{{WORLD}}` (the folder above the workspace) and `{{SECRET}}`, `{{OUTSIDE}}`
/// (a line that differs between the two sides of a world).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GivenFile {
    pub(super) path: String,
    pub(super) kind: FileKind,
    pub(super) text: String,
}

impl GivenFile {
    pub(super) fn regular(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), kind: FileKind::Regular, text: text.to_owned() }
    }

    pub(super) fn link(path: &str, target: &str) -> Self {
        Self { path: path.to_owned(), kind: FileKind::Link, text: target.to_owned() }
    }

    pub(super) fn of_kind(path: &str, kind: FileKind) -> Self {
        Self { path: path.to_owned(), kind, text: String::new() }
    }

    /// Returns the file of a row of a red-team corpus; none where it cannot be made here.
    pub(super) fn from_row(file: &Value) -> Option<Self> {
        let path = file["path"].as_str()?;
        let target = file["target"].as_str().unwrap_or_default();
        if path.starts_with('/') || path.starts_with('~') || path.split('/').any(|it| it == "..") {
            return None;
        }
        let target = target.replace("{{WS}}", "{{WORLD}}/ws");
        match file["kind"].as_str()? {
            "file" if target.starts_with("#!") => {
                Some(Self { path: path.to_owned(), kind: FileKind::Executable, text: target })
            }
            "file" => Some(Self::regular(path, &target)),
            "symlink" => match target.strip_prefix("~/") {
                Some(rest) => Some(Self::link(path, &format!("{{{{WORLD}}}}/home/{rest}"))),
                None => Some(Self::link(path, &target)),
            },
            "fifo" => Some(Self::of_kind(path, FileKind::Fifo)),
            _ => None,
        }
    }

    /// Makes the file; whatever lay there is replaced.
    pub(super) fn create_below(&self, root: &Path, fill: impl Fn(&str) -> String) {
        let path = root.join(&self.path);
        make_folders(root, path.parent().unwrap());
        remove_any(&path);
        match self.kind {
            FileKind::Regular => fs::write(&path, fill(&self.text)).unwrap(),
            FileKind::Executable => {
                fs::write(&path, fill(&self.text)).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
            FileKind::Link => symlink(fill(&self.text), &path).unwrap(),
            FileKind::Folder => fs::create_dir_all(&path).unwrap(),
            FileKind::Fifo => {
                let mode = Mode::RUSR | Mode::WUSR;
                rustix::fs::mknodat(CWD, &path, FileType::Fifo, mode, 0).unwrap();
            }
        }
    }

    /// Returns the file as a row of a red-team corpus would give it.
    pub(super) fn to_row(&self) -> Value {
        let kind = match self.kind {
            FileKind::Regular | FileKind::Executable => "file",
            FileKind::Link => "symlink",
            FileKind::Folder => "folder",
            FileKind::Fifo => "fifo",
        };
        json!({ "path": self.path, "kind": kind, "target": self.text })
    }
}

/// Makes folders one by one; a file that is in the way goes.
fn make_folders(root: &Path, folder: &Path) {
    let below = folder.strip_prefix(root).unwrap();
    let mut path = root.to_owned();
    for name in below.components() {
        path.push(name);
        if !path.symlink_metadata().is_ok_and(|it| it.is_dir()) {
            remove_any(&path);
            fs::create_dir(&path).unwrap();
        }
    }
}

/// Removes a file, a link or a folder with all that is in it.
pub(super) fn remove_any(path: &Path) {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}
