//! Settings: what another driver needs to know to go on with a run, as it is kept beside it.

use std::path::PathBuf;

use countersign_core::{Executor, PermissionMode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::consent::ConsentSource;
use crate::runner_config::RunnerConfig;

/// What a run was begun with.
///
/// Kept as JSON for later versions too: a field they do not know is passed over, one that is not
/// there has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSettings {
    /// The working directory; whoever goes on with the run chooses it if none is there.
    pub cwd: Option<PathBuf>,
    /// The model.
    pub model: Option<String>,
    /// How long one answer may be.
    pub max_tokens: Option<u32>,
    /// Added to the built-in system prompt.
    pub system_prompt: Option<String>,
    /// How many answers the prompt may take.
    pub max_turns: Option<u32>,
    /// Whether LOW calls run without asking. Not unless it says so.
    pub auto_approve_read: bool,
    /// What becomes of calls that would ask.
    pub mode: Option<PermissionMode>,
    /// Who runs the calls.
    pub executor: Executor,
    /// Whether the mode is what the project's settings said, not what the run was asked for with.
    pub mode_by_settings: bool,
}

impl RunSettings {
    /// Reads the settings that were kept with a run.
    pub fn from_json(kept: &Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(kept)
    }

    pub(crate) fn from_config(config: &RunnerConfig, consent: &ConsentSource) -> Self {
        let (auto_approve_read, mode) = match consent {
            ConsentSource::People { auto_approve_read, mode } => (*auto_approve_read, *mode),
            ConsentSource::Nobody | ConsentSource::Program(_) => (false, None),
        };
        Self {
            // A path that is not UTF-8 cannot be kept, and neither can a call in it.
            cwd: config.cwd.to_str().map(PathBuf::from),
            model: Some(config.model.clone()),
            max_tokens: Some(config.max_tokens),
            system_prompt: config.system_prompt.clone(),
            max_turns: Some(config.max_turns),
            auto_approve_read,
            mode,
            executor: config.executor,
            mode_by_settings: config.mode_by_settings,
        }
    }

    /// Returns how the run goes on, where a runner like this one drives it.
    pub(crate) fn apply_to(self, config: &RunnerConfig) -> RunnerConfig {
        RunnerConfig {
            cwd: self.cwd.unwrap_or_else(|| config.cwd.clone()),
            model: self.model.unwrap_or_else(|| config.model.clone()),
            max_tokens: self.max_tokens.unwrap_or(config.max_tokens),
            system_prompt: self.system_prompt,
            retries: config.retries,
            max_turns: self.max_turns.unwrap_or(config.max_turns),
            executor: self.executor,
            mode_by_settings: self.mode_by_settings,
            keep: config.keep.clone(),
        }
    }

    /// Returns who is asked: people as the run was begun with. Who does not ask people decides as
    /// ever.
    pub(crate) fn restore_consent(&self, consent: &ConsentSource) -> ConsentSource {
        match consent {
            ConsentSource::People { .. } => {
                ConsentSource::People { auto_approve_read: self.auto_approve_read, mode: self.mode }
            }
            ConsentSource::Nobody | ConsentSource::Program(_) => consent.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_kept_is_what_the_run_goes_on_with() {
        let config = RunnerConfig {
            model: "m".into(),
            max_tokens: 7,
            system_prompt: Some("be kind".into()),
            max_turns: 3,
            executor: Executor::Client,
            ..RunnerConfig::new("/ws/sub")
        };
        let consent =
            ConsentSource::People { auto_approve_read: true, mode: Some(PermissionMode::Plan) };
        let kept = serde_json::to_value(RunSettings::from_config(&config, &consent)).unwrap();
        let read = RunSettings::from_json(&kept).unwrap();
        let other = ConsentSource::People { auto_approve_read: false, mode: None };
        assert_eq!(format!("{:?}", read.restore_consent(&other)), format!("{consent:?}"));
        let goes_on = read.apply_to(&RunnerConfig::new("/elsewhere"));
        assert_eq!(format!("{goes_on:?}"), format!("{config:?}"));
    }

    #[test]
    fn settings_of_other_versions_are_read_and_nonsense_is_not() {
        let newer = json!({"cwd": "/ws", "auto_approve_read": true, "colour": "blue"});
        assert_eq!(RunSettings::from_json(&newer).unwrap().cwd, Some("/ws".into()));
        assert_eq!(RunSettings::from_json(&json!({})).unwrap(), RunSettings::default());
        for nonsense in [json!(null), json!("x"), json!({"mode": "yolo"}), json!({"cwd": 7})] {
            assert!(RunSettings::from_json(&nonsense).is_err(), "{nonsense}");
        }
    }
}
