//! Reads one layer of a stage: what each entry means beside what lies below it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use countersign_core::{DiffPreview, FileState, PathClass, SensitiveKind};

use super::differences::{DifferenceKind, WorkspaceDiff, WorkspaceDifference};
use super::layer::{self, LayerEntry, LayerEntryKind};
use super::overlay_folders::RehearsalOverlay;
use crate::files::disk::{DiskError, FileSnapshot};
use crate::files::file_diff;

/// A layer and what it lies over.
pub(super) struct LayerReader<'a> {
    pub(super) stage: &'a RehearsalOverlay,
    pub(super) root: &'a Path,
    pub(super) upper: &'a Path,
    pub(super) base: &'a Path,
    pub(super) entries: &'a [LayerEntry],
}

impl LayerReader<'_> {
    /// Adds what it holds to what was found.
    pub(super) fn read(&self, found: &mut WorkspaceDiff) -> io::Result<()> {
        self.entries.iter().try_for_each(|entry| self.take(entry, found))
    }

    fn take(&self, entry: &LayerEntry, found: &mut WorkspaceDiff) -> io::Result<()> {
        let (path, from) = (self.root.join(&entry.path), self.upper.join(&entry.path));
        if let Some(guarded) = self.new_guarded(&path) {
            found.hinder(format!(
                "it makes `{}`, which steers what runs later or holds keys: only a command that names \
                 it may",
                self.name(&guarded)
            ));
        }
        match entry.kind {
            LayerEntryKind::File => self.file(&path, from, found),
            LayerEntryKind::Link => self.link(&path, &from, found)?,
            LayerEntryKind::Folder { mode, alone } => self.folder(&path, mode, alone, found)?,
            LayerEntryKind::Gone => self.gone(&path, found)?,
            LayerEntryKind::Odd => self.odd(&path, "it makes a device, a FIFO or a socket", found),
        }
        Ok(())
    }

    fn file(&self, path: &Path, from: PathBuf, found: &mut WorkspaceDiff) {
        let name = self.name(path);
        let (old, new) = match (FileSnapshot::read(path), FileSnapshot::read(&from)) {
            (Ok(old), Ok(new)) => (old, new),
            (Err(DiskError::Folder), _) => {
                return self.odd(path, "it puts a file in the place of a folder", found);
            }
            _ => return self.odd(path, "it changes a file that cannot be shown", found),
        };
        let (was, is) = (old.state(), new.state());
        if was == is {
            // Touched, or written as it was.
            return;
        }
        let mut shown = diff(&name, &old, Some(&new));
        if let (FileState::File { mode: was, .. }, FileState::File { mode, .. }) = (&was, &is)
            && was != mode
        {
            shown.old_mode = Some(format!("100{was:03o}"));
            shown.new_mode = Some(format!("100{mode:03o}"));
        }
        found.show(path, length(&old) + length(&new), shown);
        let path = path.to_owned();
        found.add(WorkspaceDifference { name, path, what: DifferenceKind::File { from, was, is } });
    }

    fn link(&self, path: &Path, from: &Path, found: &mut WorkspaceDiff) -> io::Result<()> {
        let to = fs::read_link(from)?;
        if fs::read_link(path).is_ok_and(|old| old == to) {
            return Ok(());
        }
        let (Ok(standing @ FileSnapshot { snapshot: None, .. }), Some(to)) =
            (FileSnapshot::read(path), to.to_str())
        else {
            self.odd(path, "it changes where a link leads", found);
            return Ok(());
        };
        let name = self.name(path);
        let shown = DiffPreview::new(name.clone(), None, to, standing.preimage());
        let shown = DiffPreview { link_target: Some(to.to_owned()), ..shown };
        found.show(path, 0, shown);
        let (path, what) = (path.to_owned(), DifferenceKind::Link { to: to.to_owned() });
        found.add(WorkspaceDifference { name, path, what });
        Ok(())
    }

    fn folder(
        &self,
        path: &Path,
        mode: u32,
        alone: bool,
        found: &mut WorkspaceDiff,
    ) -> io::Result<()> {
        match path.symlink_metadata() {
            Ok(old) if old.is_dir() => {
                if layer::mode(&old) != mode {
                    self.odd(path, "it changes who may use a folder", found);
                }
                if alone { self.emptied(path, found) } else { Ok(()) }
            }
            Ok(_) => {
                self.odd(path, "it puts a folder in the place of a file", found);
                Ok(())
            }
            Err(_) => {
                let (name, path) = (self.name(path), path.to_owned());
                found.add(WorkspaceDifference {
                    name,
                    path,
                    what: DifferenceKind::Folder { mode },
                });
                Ok(())
            }
        }
    }

    /// What lay in a folder that was made anew is gone, as far as it is not there again.
    fn emptied(&self, path: &Path, found: &mut WorkspaceDiff) -> io::Result<()> {
        for child in children(path)? {
            let below = child.strip_prefix(self.root).unwrap_or(&child);
            if !self.entries.iter().any(|entry| entry.path == below) {
                self.gone(&child, found)?;
            }
        }
        Ok(())
    }

    fn gone(&self, path: &Path, found: &mut WorkspaceDiff) -> io::Result<()> {
        let Ok(old) = path.symlink_metadata() else { return Ok(()) };
        let name = self.name(path);
        if old.is_dir() {
            let mode = layer::mode(&old);
            let whole = path.to_owned();
            found.add(WorkspaceDifference {
                name,
                path: whole,
                what: DifferenceKind::NoFolder { mode },
            });
            for child in children(path)? {
                self.gone(&child, found)?;
            }
            return Ok(());
        }
        let Ok(standing @ FileSnapshot { snapshot: Some(_), .. }) = FileSnapshot::read(path) else {
            self.odd(path, "it removes what is no file", found);
            return Ok(());
        };
        found.show(path, length(&standing), diff(&name, &standing, None));
        let (path, what) = (path.to_owned(), DifferenceKind::Gone { was: standing.state() });
        found.add(WorkspaceDifference { name, path, what });
        Ok(())
    }

    fn odd(&self, path: &Path, what: &str, found: &mut WorkspaceDiff) {
        found.hinder(format!("{what}: `{}`", self.name(path)));
    }

    /// Returns what is guarded by its name, is new, and was not named by the command. What is there
    /// already is guarded by the view.
    fn new_guarded(&self, path: &Path) -> Option<PathBuf> {
        let root = [self.root.to_owned()];
        let within = path.ancestors().take_while(|it| *it != self.root);
        let guarded = within.filter(|it| {
            matches!(
                PathClass::from_path(it, &root).special,
                Some(SensitiveKind::Protected | SensitiveKind::Secret)
            )
        });
        let outermost = guarded.last()?;
        let is_new = outermost.symlink_metadata().is_err();
        (is_new && !self.stage.names(path)).then(|| outermost.to_owned())
    }

    fn name(&self, path: &Path) -> String {
        path.strip_prefix(self.base).map_or(path, |below| below).display().to_string()
    }
}

fn children(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found: Vec<_> =
        fs::read_dir(folder)?.map(|entry| entry.map(|it| it.path())).collect::<io::Result<_>>()?;
    found.sort();
    Ok(found)
}

/// Shows how one file becomes another, or nothing.
fn diff(name: &str, old: &FileSnapshot, new: Option<&FileSnapshot>) -> DiffPreview {
    let new = new.and_then(|new| new.snapshot.as_ref());
    let old_bytes = old.snapshot.as_ref().map(|it| it.bytes.as_slice());
    file_diff::between(
        name.to_owned(),
        old_bytes,
        new.map(|it| it.bytes.as_slice()),
        old.preimage(),
    )
}

fn length(standing: &FileSnapshot) -> u64 {
    standing.snapshot.as_ref().map_or(0, |it| it.bytes.len() as u64)
}
