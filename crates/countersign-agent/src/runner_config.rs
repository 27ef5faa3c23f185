//! How a conversation is run.

use std::path::PathBuf;

use countersign_core::Executor;
use countersign_tools::BackupStore;

use crate::ask_model::RetrySettings;

/// How a conversation is run (S1.1).
#[derive(Clone, Debug)]
pub struct RunnerConfig {
    /// The working directory: where relative paths start and commands run.
    pub cwd: PathBuf,
    /// The model, by the API's name for it.
    pub model: String,
    /// How long one answer may be.
    pub max_tokens: u32,
    /// Added to the built-in system prompt.
    pub system_prompt: Option<String>,
    /// How often and how fast to ask the model again after a failure.
    pub retries: RetrySettings,
    /// How many answers one prompt may take: a loop that does not end is stopped.
    pub max_turns: u32,
    /// Who runs the calls.
    pub executor: Executor,
    /// Whether the mode of its calls is what the project's settings said; noted beside the run.
    pub mode_by_settings: bool,
    /// Where the contents of files are kept before a call changes them, so that it can be undone.
    pub keep: Option<BackupStore>,
}

impl RunnerConfig {
    /// The model that is asked unless another one is named.
    pub const DEFAULT_MODEL: &str = "claude-sonnet-4-20250514";

    /// Returns the defaults for a working directory.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            model: Self::DEFAULT_MODEL.to_owned(),
            max_tokens: 8192,
            system_prompt: None,
            retries: RetrySettings::default(),
            max_turns: 200,
            executor: Executor::Local,
            mode_by_settings: false,
            keep: None,
        }
    }

    pub(crate) fn system(&self) -> String {
        let cwd = self.cwd.display();
        let built_in = match self.executor {
            Executor::Local => format!("{BUILT_IN_PROMPT}\nWorking directory: {cwd}\n"),
            Executor::Client | Executor::Caller | Executor::ClaudeCli => {
                format!("{BUILT_IN_PROMPT}\n{ELSEWHERE}\n")
            }
        };
        match &self.system_prompt {
            Some(added) => format!("{built_in}\n{added}"),
            None => built_in,
        }
    }
}

const BUILT_IN_PROMPT: &str = "\
You are a coding agent working on a person's machine through tools. Use the tools to do what is asked \
instead of describing what you would do. A person may review a call before it runs: if it is \
rejected with feedback, take the feedback as their instruction and go on from there; never try to \
reach the same effect by another way. Read a file before you change it, keep changes small, and say \
briefly what you did.";

const ELSEWHERE: &str = "\
The tools run on the person's own machine, in the folder of the project: give paths relative to it.";
