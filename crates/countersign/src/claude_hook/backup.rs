//! A settings file as it was before we changed it, so that it can be given back byte for byte.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use countersign_core::Digest;
use serde::{Deserialize, Serialize};

use crate::data_paths;

/// What is known of a file that we changed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct SettingsBackup {
    path: PathBuf,
    /// What was in it; none where it was not there.
    pub(crate) before: Option<String>,
    /// Whether its folder was made for it.
    pub(crate) made_folder: bool,
    /// The digest of what we wrote.
    after: Digest,
}

impl SettingsBackup {
    pub(crate) fn new(path: &Path, before: Option<String>, made_folder: bool, after: &str) -> Self {
        let after = Digest::for_bytes(after.as_bytes());
        Self { path: path.to_owned(), before, made_folder, after }
    }

    /// Returns what is kept of a file, if it still is as we wrote it.
    pub(crate) fn find(path: &Path, now: &str) -> Option<Self> {
        let kept: Self = serde_json::from_slice(&fs::read(place(path)?).ok()?).ok()?;
        (kept.path == path && kept.after == Digest::for_bytes(now.as_bytes())).then_some(kept)
    }

    /// Keeps it; returns where.
    pub(crate) fn keep(&self) -> anyhow::Result<PathBuf> {
        let place = place(&self.path).context("there is no folder to keep a backup in")?;
        let folder = place.parent().context("the backup has no folder")?;
        data_paths::data_folder(None)?;
        fs::create_dir_all(folder)?;
        fs::write(&place, serde_json::to_vec_pretty(self)?)
            .with_context(|| format!("could not write the backup `{}`", place.display()))?;
        Ok(place)
    }

    /// Forgets what was given back.
    pub(crate) fn forget(path: &Path) {
        if let Some(place) = place(path) {
            let _ = fs::remove_file(place);
        }
    }
}

/// Where the backup of a file is: always in the user's own data folder, so that it is found again.
fn place(path: &Path) -> Option<PathBuf> {
    let name = Digest::for_bytes(path.as_os_str().as_encoded_bytes());
    let name: String = name.as_str().chars().take(32).collect();
    Some(data_paths::data_path(None)?.join("hook-backups").join(format!("{name}.json")))
}
