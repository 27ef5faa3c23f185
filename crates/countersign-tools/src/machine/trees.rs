//! Walks through folders, within one budget for a whole judgement, each folder once.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use countersign_core::shell::{Search, Tree, TreeEntry, TreeKind};
use countersign_core::{Special, Target};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;

use crate::workspace::Workspace;

/// How many entries of folders are looked at for one judgement, and for how long; beyond that there
/// is no answer.
const MOST_ENTRIES: usize = 10_000;
const MOST_TIME: Duration = Duration::from_millis(50);

/// After so many entries the clock is looked at.
const CLOCK_EVERY: usize = 128;

/// What was looked at for one judgement.
#[derive(Default)]
pub(super) struct Trees {
    budget: Mutex<Budget>,
    known: Mutex<HashMap<PathBuf, Option<Arc<Tree>>>>,
    searched: Mutex<Vec<Searched>>,
}

/// A search and the secrets it opens.
struct Searched {
    cwd: PathBuf,
    folder: PathBuf,
    search: Search,
    found: Option<Vec<Target>>,
}

/// What is left of a judgement's looks at the disk.
struct Budget {
    entries: usize,
    time: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self { entries: MOST_ENTRIES, time: MOST_TIME }
    }
}

/// One walk, which takes from the budget as it goes.
pub(super) struct Walk<'a> {
    trees: &'a Trees,
    began: Instant,
    taken: usize,
}

impl Walk<'_> {
    /// Takes one entry; none when the budget is used up.
    pub(super) fn take(&mut self) -> Option<()> {
        let mut budget = self.trees.budget.lock().unwrap_or_else(PoisonError::into_inner);
        budget.entries = budget.entries.checked_sub(1)?;
        self.taken += 1;
        if self.taken.is_multiple_of(CLOCK_EVERY) {
            let now = Instant::now();
            let left = budget.time.saturating_sub(now.duration_since(self.began));
            self.began = now;
            budget.time = left;
        }
        (!budget.time.is_zero()).then_some(())
    }
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        let mut budget = self.trees.budget.lock().unwrap_or_else(PoisonError::into_inner);
        budget.time = budget.time.saturating_sub(self.began.elapsed());
    }
}

impl Trees {
    /// Begins a walk.
    pub(super) fn walk(&self) -> Walk<'_> {
        Walk { trees: self, began: Instant::now(), taken: 0 }
    }

    /// Returns what lies at a path and below it.
    pub(super) fn below(&self, path: &Path, workspace: &Workspace) -> Option<Arc<Tree>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        if let Some(known) = known {
            return known;
        }
        let found = self.look_below(path, workspace).map(Arc::new);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(path.to_owned(), found.clone());
        found
    }

    fn look_below(&self, path: &Path, workspace: &Workspace) -> Option<Tree> {
        let kind = kind_at(path)?;
        let mut entries = Vec::new();
        let mut folders = if kind == TreeKind::Folder { vec![path.to_owned()] } else { Vec::new() };
        let mut walk = self.walk();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).ok()? {
                walk.take()?;
                let entry = entry.ok()?;
                let path = entry.path();
                // A name that is not text can still be a secret's: no answer.
                path.to_str()?;
                let kind = kind_of(entry.file_type().ok()?);
                if kind == TreeKind::Folder {
                    folders.push(path.clone());
                }
                let place = workspace.place(&path);
                entries.push(TreeEntry { path, place, kind });
            }
        }
        Some(Tree { kind, entries })
    }

    /// Returns the secrets that `rg` opens below a folder. What decides is the very code it uses.
    pub(super) fn searched(
        &self,
        cwd: &Path,
        folder: &Path,
        search: &Search,
        workspace: &Workspace,
    ) -> Option<Vec<Target>> {
        let mut searched = self.searched.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |it: &&Searched| it.cwd == cwd && it.folder == folder && it.search == *search;
        if let Some(known) = searched.iter().find(same) {
            return known.found.clone();
        }
        let found = self.search(cwd, folder, search, workspace);
        searched.push(Searched {
            cwd: cwd.to_owned(),
            folder: folder.to_owned(),
            search: search.clone(),
            found: found.clone(),
        });
        found
    }

    fn search(
        &self,
        cwd: &Path,
        folder: &Path,
        search: &Search,
        workspace: &Workspace,
    ) -> Option<Vec<Target>> {
        if kind_at(folder)? == TreeKind::Missing {
            return Some(Vec::new());
        }
        let mut globs = OverrideBuilder::new(cwd);
        for (glob, folds) in &search.globs {
            globs.case_insensitive(*folds).ok()?.add(glob).ok()?;
        }
        let heeds = !search.ignored;
        let mut walk = WalkBuilder::new(folder);
        walk.hidden(!search.hidden)
            .parents(heeds)
            .ignore(heeds)
            .git_ignore(heeds)
            .git_exclude(heeds)
            // A list that is not the project's may be another one for the command.
            .git_global(false)
            .overrides(globs.build().ok()?);
        if heeds {
            walk.add_custom_ignore_filename(".rgignore");
        }
        let mut found = Vec::new();
        let mut taken = self.walk();
        for entry in walk.build() {
            taken.take()?;
            let path = entry.ok()?.into_path();
            path.to_str()?;
            let place = workspace.place(&path);
            if place.special == Some(Special::Secret) {
                found.push(Target::new(path, place));
            }
        }
        Some(found)
    }
}

/// Returns what lies at a path, through no link; none if that cannot be told.
pub(super) fn kind_at(path: &Path) -> Option<TreeKind> {
    match path.symlink_metadata() {
        Ok(metadata) => Some(kind_of(metadata.file_type())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Some(TreeKind::Missing)
        }
        Err(_) => None,
    }
}

fn kind_of(kind: std::fs::FileType) -> TreeKind {
    let odd = kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device();
    match kind {
        _ if odd => TreeKind::Other,
        kind if kind.is_symlink() => TreeKind::Link,
        kind if kind.is_dir() => TreeKind::Folder,
        _ => TreeKind::File,
    }
}
