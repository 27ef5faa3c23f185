//! Changes to several files that are made together or not at all.
//!
//! Each file by itself is replaced whole. When one of them cannot be, those before it are put back; only
//! a process that dies in between leaves a part behind.

use std::path::PathBuf;

use crate::files::disk::{self, DiskError, FileSnapshot, LoadedFile};
use crate::tool_error::ToolError;

/// What is to be done to one file or folder. Paths are as the call gives them.
pub(crate) enum FileStep {
    Write {
        path: String,
        standing: FileSnapshot,
        bytes: Vec<u8>,
        executable: Option<bool>,
    },
    Link {
        path: String,
        standing: FileSnapshot,
        to: String,
    },
    Move {
        path: String,
        from: Box<FileSnapshot>,
        to_path: String,
        to: Box<FileSnapshot>,
        bytes: Vec<u8>,
        executable: Option<bool>,
    },
    Delete {
        path: String,
        standing: FileSnapshot,
    },
    /// Sets the permission bits of a file, after all else that is done to it.
    Mode {
        path: String,
        at: PathBuf,
        was: u32,
        mode: u32,
    },
    /// Makes a folder, whose parent is there.
    MakeFolder {
        path: String,
        at: PathBuf,
        mode: u32,
    },
    /// Removes a folder that is empty by then.
    RemoveFolder {
        path: String,
        at: PathBuf,
        mode: u32,
    },
}

/// Does all of it, or nothing.
pub(crate) fn carry_out(steps: Vec<FileStep>) -> Result<(), ToolError> {
    let mut done: Vec<FileStep> = Vec::with_capacity(steps.len());
    for step in steps {
        if let Err(error) = step.run() {
            let undone = done.iter().rev().filter(|step| step.undo().is_err());
            let left: Vec<String> = undone.map(|step| format!("`{}`", step.path())).collect();
            if left.is_empty() {
                return Err(error);
            }
            return Err(ToolError::HalfDone { why: error.to_string(), left });
        }
        done.push(step);
    }
    Ok(())
}

impl FileStep {
    fn path(&self) -> &str {
        match self {
            Self::Write { path, .. }
            | Self::Link { path, .. }
            | Self::Move { path, .. }
            | Self::Delete { path, .. }
            | Self::Mode { path, .. }
            | Self::MakeFolder { path, .. }
            | Self::RemoveFolder { path, .. } => path,
        }
    }

    fn run(&self) -> Result<(), ToolError> {
        let at = |path: &str| {
            let path = path.to_owned();
            move |error: DiskError| error.into_tool_error(&path)
        };
        match self {
            Self::Write { path, standing, bytes, executable } => standing
                .replace_like(bytes, standing.snapshot.as_ref(), *executable)
                .map_err(at(path)),
            Self::Link { path, standing, to } => standing.link_to(to).map_err(at(path)),
            Self::Move { path, from, to_path, to, bytes, executable } => {
                to.replace_like(bytes, from.snapshot.as_ref(), *executable).map_err(at(to_path))?;
                from.remove().map_err(|error| {
                    // Half of a step is no step.
                    if put_back(to, Some(bytes)).is_err() {
                        let why = at(path)(error).to_string();
                        return ToolError::HalfDone { why, left: vec![format!("`{to_path}`")] };
                    }
                    at(path)(error)
                })
            }
            Self::Delete { path, standing } => standing.remove().map_err(at(path)),
            Self::Mode { path, at: file, mode, .. } => {
                disk::set_mode(file, *mode).map_err(at(path))
            }
            Self::MakeFolder { path, at: folder, mode } => {
                disk::make_folder(folder, *mode).map_err(at(path))
            }
            Self::RemoveFolder { path, at: folder, .. } => {
                disk::remove_folder(folder).map_err(at(path))
            }
        }
    }

    /// Takes back what was done, unless somebody has changed the file since.
    fn undo(&self) -> Result<(), DiskError> {
        match self {
            Self::Write { standing, bytes, .. } => put_back(standing, Some(bytes)),
            Self::Link { standing, .. } => standing.unlink(),
            Self::Move { from, to, bytes, .. } => {
                put_back(from, None)?;
                put_back(to, Some(bytes))
            }
            Self::Delete { standing, .. } => put_back(standing, None),
            Self::Mode { at, was, .. } => disk::set_mode(at, *was),
            Self::MakeFolder { at, .. } => disk::remove_folder(at),
            Self::RemoveFolder { at, mode, .. } => disk::make_folder(at, *mode),
        }
    }
}

/// Makes a place what it was, where it still holds what was put there.
fn put_back(before: &FileSnapshot, put: Option<&[u8]>) -> Result<(), DiskError> {
    let now = before.reread()?;
    if now.snapshot.as_ref().map(|now| now.bytes.as_slice()) != put {
        return Err(DiskError::Changed);
    }
    match &before.snapshot {
        Some(LoadedFile { bytes, .. }) => now.replace_like(bytes, before.snapshot.as_ref(), None),
        None => now.remove(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;

    #[test]
    fn what_was_done_before_a_failure_is_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let file = |name: &str| root.join(name);
        for name in ["changed", "deleted", "moved", "late"] {
            fs::write(file(name), name).unwrap();
        }
        fs::set_permissions(file("deleted"), fs::Permissions::from_mode(0o600)).unwrap();
        let standing = |name: &str| FileSnapshot::read(&file(name)).unwrap();
        let write = |name: &str| FileStep::Write {
            path: name.to_owned(),
            standing: standing(name),
            bytes: b"new".to_vec(),
            executable: Some(true),
        };
        let steps = vec![
            write("changed"),
            write("made"),
            FileStep::Link { path: "link".into(), standing: standing("link"), to: "made".into() },
            FileStep::Delete { path: "deleted".into(), standing: standing("deleted") },
            FileStep::Move {
                path: "moved".into(),
                from: standing("moved").into(),
                to_path: "there".into(),
                to: standing("there").into(),
                bytes: b"new".to_vec(),
                executable: None,
            },
            write("late"),
        ];
        fs::write(file("late"), "changed by somebody else").unwrap();
        let failed = carry_out(steps).unwrap_err();
        assert!(matches!(failed, ToolError::Drift { .. }), "{failed}");
        let left: Vec<_> = names(&root);
        assert_eq!(left, ["changed", "deleted", "late", "moved"]);
        for name in ["changed", "deleted", "moved"] {
            assert_eq!(fs::read_to_string(file(name)).unwrap(), name);
        }
        let mode = |name: &str| fs::metadata(file(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("deleted"), 0o600);
        assert_eq!(mode("changed") & 0o111, 0);
    }

    #[test]
    fn what_cannot_be_put_back_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join("a"), "old").unwrap();
        let standing = FileSnapshot::read(&root.join("a")).unwrap();
        let step = FileStep::Write {
            path: "a".into(),
            standing,
            bytes: b"new".to_vec(),
            executable: None,
        };
        step.run().unwrap();
        fs::write(root.join("a"), "newer, by somebody else").unwrap();
        assert!(matches!(step.undo(), Err(DiskError::Changed)));
        assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "newer, by somebody else");
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
