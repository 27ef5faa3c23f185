//! Stored sessions: what the CLI keeps of conversations on disk, to list, read and change.
//!
//! The CLI appends every session to a file of its own, `projects/<key>/<id>.jsonl` in its
//! configuration folder. [`StoredSessions`] reads these files and changes them the way the CLI itself does,
//! by appending; a session that is renamed or forked here can be resumed by the CLI.
//!
//! Everything here blocks on the disk. In async code, call it in
//! [`spawn_blocking`](tokio::task::spawn_blocking).

mod conversation;
mod fork;
mod info;
mod line_file;
mod modify;
mod session_files;
mod transcript_entry;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use uuid::Uuid;

pub use fork::ForkSessionOptions;
pub use info::SessionInfo;

use crate::message::Message;

/// The sessions in one configuration folder of the CLI.
#[derive(Clone, Debug)]
pub struct StoredSessions {
    config: PathBuf,
}

/// Which sessions to list.
#[derive(Clone, Debug, Default)]
pub struct ListSessionsOptions {
    directory: Option<PathBuf>,
    offset: usize,
    limit: Option<usize>,
}

impl ListSessionsOptions {
    /// All there are, the newest first.
    pub fn all() -> Self {
        Self::default()
    }

    /// Only those that began in a folder.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Without the first few.
    #[must_use]
    pub fn offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }

    /// At most so many. Files beyond it are not opened.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }
}

impl StoredSessions {
    /// Takes the CLI's configuration folder: `~/.claude`, or what `CLAUDE_CONFIG_DIR` says.
    ///
    /// It need not exist: then there are no sessions.
    pub fn from_config_dir(config: impl Into<PathBuf>) -> Self {
        Self { config: config.into() }
    }

    /// Lists sessions, the newest first.
    ///
    /// What has no title and no prompt to make one of is left out, and so are files that cannot be
    /// read.
    pub fn list(&self, listed: &ListSessionsOptions) -> Result<Vec<SessionInfo>, SessionError> {
        let mut files = match &listed.directory {
            Some(directory) => session_files::find_by_directory(&self.config, directory)?,
            None => session_files::list_all(&self.config)?,
        };
        files.sort_by_key(|file| std::cmp::Reverse(file.modified));
        let known = files.iter().filter_map(|file| info::read_session_info(file).ok());
        let shown = known.filter(|info| !info.summary.is_empty() && !info.is_sidechain);
        Ok(shown.skip(listed.offset).take(listed.limit.unwrap_or(usize::MAX)).collect())
    }

    /// Tells about one session.
    pub fn info(&self, id: &str) -> Result<SessionInfo, SessionError> {
        let file = session_files::find_by_id(&self.config, id)?;
        info::read_session_info(&file).map_err(SessionError::disk_error(&file.path))
    }

    /// Reads the conversation: what the user and the model said, in order.
    ///
    /// It is the branch that a resumed session goes on with, since the last compaction. What the CLI
    /// says to the model on its own, and what subagents said, is left out.
    pub fn messages(&self, id: &str) -> Result<Vec<Message>, SessionError> {
        let file = session_files::find_by_id(&self.config, id)?;
        conversation::read_conversation(&file.path, false)
            .map_err(SessionError::disk_error(&file.path))
    }

    /// Names the subagents of a session whose conversations are kept.
    pub fn subagents(&self, id: &str) -> Result<Vec<String>, SessionError> {
        let file = session_files::find_by_id(&self.config, id)?;
        let agents = session_files::subagents(&file)?;
        Ok(agents.into_iter().map(|(agent, _)| agent).collect())
    }

    /// Reads the conversation of a subagent.
    pub fn subagent_messages(&self, id: &str, agent: &str) -> Result<Vec<Message>, SessionError> {
        let file = session_files::find_by_id(&self.config, id)?;
        let mut agents = session_files::subagents(&file)?.into_iter();
        let (_, path) = agents
            .find(|(name, _)| name == agent)
            .ok_or_else(|| SessionError::NoAgent { id: id.to_owned(), agent: agent.to_owned() })?;
        conversation::read_conversation(&path, true).map_err(SessionError::disk_error(&path))
    }

    /// Gives a session a title.
    pub fn rename(&self, id: &str, title: &str) -> Result<(), SessionError> {
        modify::rename(&session_files::find_by_id(&self.config, id)?, id, title)
    }

    /// Puts a tag on a session, or takes it off.
    pub fn tag(&self, id: &str, tag: Option<&str>) -> Result<(), SessionError> {
        modify::tag(&session_files::find_by_id(&self.config, id)?, id, tag)
    }

    /// Deletes a session and the conversations of its subagents, for good.
    pub fn delete(&self, id: &str) -> Result<(), SessionError> {
        modify::delete(&session_files::find_by_id(&self.config, id)?)
    }

    /// Copies a session under a new id and returns that: both go their own ways from there.
    ///
    /// The copy has the conversation, without the subagents' and without file checkpoints.
    pub fn fork(&self, id: &str, fork: &ForkSessionOptions) -> Result<Uuid, SessionError> {
        fork::fork_session(&session_files::find_by_id(&self.config, id)?, id, fork)
    }
}

/// Why something could not be done with stored sessions.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Ids are UUIDs; anything else could name another file.
    #[error("`{0}` is not a session id")]
    NotAnId(String),
    /// There is none.
    #[error("no session has the id `{0}`")]
    NotFound(String),
    /// There is no such subagent.
    #[error("the session `{id}` has no subagent `{agent}`")]
    NoAgent {
        /// The session.
        id: String,
        /// The subagent.
        agent: String,
    },
    /// There is no such message to fork at.
    #[error("the session `{id}` has no message `{message}`")]
    NoMessage {
        /// The session.
        id: String,
        /// The message.
        message: String,
    },
    /// There is nothing to copy.
    #[error("the session `{0}` has no messages")]
    Empty(String),
    /// A title must have something to read.
    #[error("a title must not be empty")]
    NoTitle,
    /// The disk refused.
    #[error("could not use `{}`", path.display())]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// What the disk said.
        source: std::io::Error,
    },
}

impl SessionError {
    fn disk_error(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Disk { path: path.to_owned(), source }
    }
}
