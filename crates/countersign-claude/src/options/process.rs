//! Options on the process: where it runs, with which settings and environment.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Options;

/// Where settings come from.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsOverride {
    /// A file.
    File(PathBuf),
    /// The settings themselves.
    Json(Map<String, Value>),
}

/// A place the CLI reads settings, skills and instructions from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingSource {
    /// The user's.
    User,
    /// The project's, shared.
    Project,
    /// The project's, on this machine only.
    Local,
    /// A place this crate has no name for.
    Other(String),
}

impl SettingSource {
    /// Returns the CLI's word for it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Other(name) => name,
        }
    }
}

/// What is told each line the CLI writes to its error output.
#[derive(Clone)]
pub struct StderrCallback(pub(crate) Arc<dyn Fn(&str) + Send + Sync>);

impl fmt::Debug for StderrCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StderrLine")
    }
}

impl Options {
    /// Sets settings on top of those from [`setting_sources`](Self::setting_sources).
    pub fn settings(mut self, settings: SettingsOverride) -> Self {
        self.settings = Some(settings);
        self
    }

    /// Sets the sandbox, which is merged into the settings; not together with a settings file.
    ///
    /// An enabled sandbox that cannot work is an error and not a session without one, unless
    /// `failIfUnavailable` says so.
    pub fn sandbox(mut self, sandbox: Map<String, Value>) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Sets settings nobody can override.
    pub fn managed_settings(mut self, settings: Value) -> Self {
        self.managed_settings = Some(settings);
        self
    }

    /// Chooses where settings are read from; an empty list isolates the session from all of them.
    pub fn setting_sources(mut self, sources: impl IntoIterator<Item = SettingSource>) -> Self {
        self.setting_sources = Some(sources.into_iter().collect());
        self
    }

    /// Lets tools work in this folder too.
    pub fn add_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.add_dirs.push(path.into());
        self
    }

    /// Reads the project's settings from another folder than the working directory.
    pub fn project_config_root(mut self, path: impl Into<PathBuf>) -> Self {
        self.project_config_root = Some(path.into());
        self
    }

    /// Sets the working directory.
    pub fn cwd(mut self, path: impl Into<PathBuf>) -> Self {
        self.cwd = Some(path.into());
        self
    }

    /// Names the CLI's program instead of searching for it. A script ending in `.js`, `.mjs` or
    /// `.cjs` is run by `node`.
    pub fn cli_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.cli_path = Some(path.into());
        self
    }

    /// Sets a variable of the CLI's environment, on top of what it inherits.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Lets the CLI inherit nothing: it sees only what [`env`](Self::env) and this crate set.
    pub fn clean_env(mut self) -> Self {
        self.clean_env = true;
        self
    }

    /// Names the program in the User-Agent of requests.
    pub fn client_app(mut self, name: impl Into<String>) -> Self {
        self.client_app = Some(name.into());
        self
    }

    /// Sets the format in which options of a question are previewed (`markdown` or `html`).
    pub fn question_preview_format(mut self, format: impl Into<String>) -> Self {
        self.question_preview = Some(format.into());
        self
    }

    /// Runs the CLI as another user and group; this takes the right to.
    pub fn run_as(mut self, user: u32, group: u32) -> Self {
        self.run_as = Some((user, group));
        self
    }

    /// Passes a flag this crate does not know, without its dashes.
    pub fn extra_arg(mut self, flag: impl Into<String>, value: Option<&str>) -> Self {
        self.extra_args.insert(flag.into(), value.map(str::to_owned));
        self
    }

    /// Makes the CLI log what it does; an empty filter logs everything.
    pub fn debug(mut self, filter: impl Into<String>) -> Self {
        self.debug = Some(filter.into());
        self
    }

    /// Makes the CLI log to a file.
    pub fn debug_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.debug_file = Some(path.into());
        self
    }

    /// Is told each line of the CLI's error output. The last of it is in every error anyway.
    pub fn stderr(mut self, line: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.stderr = Some(StderrCallback(Arc::new(line)));
        self
    }
}
