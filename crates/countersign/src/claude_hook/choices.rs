//! What a person has chosen for the hook, in the data folder: not in settings that a repository brings.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::data_paths;

const NAME: &str = "hook.json";

/// The choices; what cannot be read is as if nobody had chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct HookChoices {
    /// Whether what would ask passes while Claude Code bypasses its permissions.
    pub(crate) follow_bypass: bool,
}

impl HookChoices {
    pub(crate) fn read(data: Option<&Path>) -> Self {
        let file = data_paths::data_path(data).map(|folder| folder.join(NAME));
        let text = file.and_then(|file| fs::read(file).ok()).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    pub(crate) fn write(self, data: Option<&Path>) -> anyhow::Result<()> {
        let file = data_paths::data_folder(data)?.join(NAME);
        if self == Self::default() && !file.exists() {
            return Ok(());
        }
        let text = serde_json::to_vec(&self)?;
        fs::write(&file, text).with_context(|| format!("could not write `{}`", file.display()))
    }
}
