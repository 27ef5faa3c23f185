//! Walks through folders, within one budget for a whole judgement, each folder once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use countersign_core::shell::{FileTree, SearchScope, TreeEntry, TreeKind};
use countersign_core::{EffectTarget, SensitiveKind};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use rustix::time::{ClockId, clock_gettime};

use super::tree_kind::{kind_at, kind_of};
use crate::files::workspace::Workspace;

/// How many entries of folders are looked at for one judgement; beyond that there is no answer.
const MOST_ENTRIES: usize = 10_000;

/// How much of a processor the looks may take. Time of the processor, not of the clock: a busy machine
/// must not make a command ask that is silent on an idle one.
const MOST_PROCESSOR_TIME: Duration = Duration::from_millis(50);

/// How long the looks may take by the clock, for disks that make everybody wait.
const MOST_TIME: Duration = Duration::from_secs(2);

/// After so many entries the clock is looked at.
const CLOCK_EVERY: usize = 128;

/// What was looked at for one judgement.
#[derive(Default)]
pub(super) struct TreeCache {
    budget: Mutex<WalkBudget>,
    known: Mutex<HashMap<PathBuf, Option<Arc<FileTree>>>>,
    searched: Mutex<Vec<SearchedSecrets>>,
}

/// A search and the secrets it opens.
struct SearchedSecrets {
    cwd: PathBuf,
    folder: PathBuf,
    search: SearchScope,
    found: Option<Vec<EffectTarget>>,
}

/// What is left of a judgement's looks at the disk.
struct WalkBudget {
    entries: usize,
    processor_time: Duration,
    time: Duration,
}

impl Default for WalkBudget {
    fn default() -> Self {
        Self { entries: MOST_ENTRIES, processor_time: MOST_PROCESSOR_TIME, time: MOST_TIME }
    }
}

impl WalkBudget {
    /// Takes what has passed since a moment.
    fn take_time_since(&mut self, began: ClockSample) {
        let now = ClockSample::now();
        let worked = now.processor_time.saturating_sub(began.processor_time);
        self.processor_time = self.processor_time.saturating_sub(worked);
        self.time = self.time.saturating_sub(now.time.duration_since(began.time));
    }

    fn has_time(&self) -> bool {
        !self.processor_time.is_zero() && !self.time.is_zero()
    }
}

/// A moment on both clocks: the wall's, and that of the thread's own work.
#[derive(Clone, Copy)]
struct ClockSample {
    time: Instant,
    processor_time: Duration,
}

impl ClockSample {
    fn now() -> Self {
        let spent = clock_gettime(ClockId::ThreadCPUTime);
        // The clock of a thread starts at zero and never goes back.
        let processor_time = Duration::try_from(spent).unwrap_or_default();
        Self { time: Instant::now(), processor_time }
    }
}

/// One walk, which takes from the budget as it goes.
pub(super) struct BudgetedWalk<'a> {
    trees: &'a TreeCache,
    began: ClockSample,
    taken: usize,
}

impl BudgetedWalk<'_> {
    /// Takes one entry; none when the budget is used up.
    pub(super) fn take(&mut self) -> Option<()> {
        let mut budget = self.trees.budget.lock().unwrap_or_else(PoisonError::into_inner);
        budget.entries = budget.entries.checked_sub(1)?;
        self.taken += 1;
        if self.taken.is_multiple_of(CLOCK_EVERY) {
            budget.take_time_since(self.began);
            self.began = ClockSample::now();
        }
        budget.has_time().then_some(())
    }
}

impl Drop for BudgetedWalk<'_> {
    fn drop(&mut self) {
        let mut budget = self.trees.budget.lock().unwrap_or_else(PoisonError::into_inner);
        budget.take_time_since(self.began);
    }
}

impl TreeCache {
    /// Takes one entry for a single look, which needs no clock; none when the budget is used up.
    pub(super) fn take_one(&self) -> Option<()> {
        let mut budget = self.budget.lock().unwrap_or_else(PoisonError::into_inner);
        budget.entries = budget.entries.checked_sub(1)?;
        budget.has_time().then_some(())
    }

    /// Begins a walk.
    pub(super) fn walk(&self) -> BudgetedWalk<'_> {
        BudgetedWalk { trees: self, began: ClockSample::now(), taken: 0 }
    }

    /// Returns what lies at a path and below it.
    pub(super) fn below(&self, path: &Path, workspace: &Workspace) -> Option<Arc<FileTree>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        if let Some(known) = known {
            return known;
        }
        let found = self.look_below(path, workspace).map(Arc::new);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(path.to_owned(), found.clone());
        found
    }

    fn look_below(&self, path: &Path, workspace: &Workspace) -> Option<FileTree> {
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
        Some(FileTree { kind, entries })
    }

    /// Returns the secrets that `rg` opens below a folder. What decides is the very code it uses.
    pub(super) fn searched(
        &self,
        cwd: &Path,
        folder: &Path,
        search: &SearchScope,
        workspace: &Workspace,
    ) -> Option<Vec<EffectTarget>> {
        let mut searched = self.searched.lock().unwrap_or_else(PoisonError::into_inner);
        let same =
            |it: &&SearchedSecrets| it.cwd == cwd && it.folder == folder && it.search == *search;
        if let Some(known) = searched.iter().find(same) {
            return known.found.clone();
        }
        let found = self.search(cwd, folder, search, workspace);
        searched.push(SearchedSecrets {
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
        search: &SearchScope,
        workspace: &Workspace,
    ) -> Option<Vec<EffectTarget>> {
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
            if place.special == Some(SensitiveKind::Secret) {
                found.push(EffectTarget::new(path, place));
            }
        }
        Some(found)
    }
}
