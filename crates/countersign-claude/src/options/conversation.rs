//! Options on the conversation: which one goes on, what is kept of it and what is shown.

use std::sync::Arc;

use super::Options;
use crate::mirror::TranscriptStore;

impl Options {
    /// Goes on with the last conversation of the folder.
    pub fn continue_last(mut self) -> Self {
        self.continue_last = true;
        self
    }

    /// Goes on with a conversation by its session id.
    pub fn resume(mut self, session: impl Into<String>) -> Self {
        self.resume = Some(session.into());
        self
    }

    /// Gives the new session its id, a UUID. With [`resume`](Self::resume) only when forking.
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Lets the resumed conversation go on under a new id and leaves the old one as it is.
    pub fn fork_session(mut self) -> Self {
        self.fork_session = true;
        self
    }

    /// Resumes only up to this message.
    pub fn resume_session_at(mut self, message: impl Into<String>) -> Self {
        self.resume_at = Some(message.into());
        self
    }

    /// Guards a shortened resume: it fails unless exactly this turn is dropped. May be empty.
    pub fn resume_drops_turn(mut self, message: impl Into<String>) -> Self {
        self.resume_drops_turn = Some(message.into());
        self
    }

    /// Keeps nothing of the session on disk.
    pub fn no_session_persistence(mut self) -> Self {
        self.no_persistence = true;
        self
    }

    /// Gives the session a title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Copies the transcript to a store of your own as it grows. Each batch is stored before the
    /// result it leads to is delivered.
    pub fn transcript_store(mut self, store: impl TranscriptStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Keeps copies of files before they change, for [`rewind_files`](crate::SessionControls::rewind_files).
    pub fn file_checkpointing(mut self) -> Self {
        self.file_checkpointing = true;
        self
    }

    /// Delivers answers in pieces while they are made, as stream events.
    pub fn include_partial_messages(mut self) -> Self {
        self.partial_messages = true;
        self
    }

    /// Delivers a message for each hook that starts and ends.
    pub fn include_hook_events(mut self) -> Self {
        self.hook_events = true;
        self
    }

    /// Delivers what subagents say, not only what they do.
    pub fn forward_subagent_text(mut self) -> Self {
        self.forward_subagent_text = true;
        self
    }

    /// Takes prompts word for word: no slash command, no mention in them is expanded.
    pub fn verbatim_prompts(mut self) -> Self {
        self.verbatim_prompts = true;
        self
    }

    /// Delivers a guess at the next prompt after each result.
    pub fn prompt_suggestions(mut self) -> Self {
        self.prompt_suggestions = true;
        self
    }

    /// Delivers summaries of what subagents are at.
    pub fn agent_progress_summaries(mut self) -> Self {
        self.agent_progress_summaries = true;
        self
    }

    /// Says that this program lets people stop single tasks.
    pub fn per_task_stop(mut self) -> Self {
        self.per_task_stop = true;
        self
    }
}
