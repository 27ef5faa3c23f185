//! The moments at which a hook can run.

use std::fmt;

/// Declares the events once, with their words on the wire.
macro_rules! events {
    ($($name:ident: $doc:literal),* $(,)?) => {
        /// A moment at which a hook can run.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum HookEvent {
            $(#[doc = $doc] $name,)*
            /// A moment this crate has no name for.
            Other(String),
        }

        impl HookEvent {
            /// Every event this crate knows by name.
            pub const KNOWN: &[Self] = &[$(Self::$name),*];

            /// Returns the CLI's word for it.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => stringify!($name),)*
                    Self::Other(name) => name,
                }
            }
        }

        impl From<&str> for HookEvent {
            fn from(name: &str) -> Self {
                match name {
                    $(stringify!($name) => Self::$name,)*
                    other => Self::Other(other.to_owned()),
                }
            }
        }
    };
}

events! {
    PreToolUse: "A tool is about to run.",
    PostToolUse: "A tool has run.",
    PostToolUseFailure: "A tool has failed.",
    PostToolBatch: "All tools of one answer have run.",
    UserPromptSubmit: "A prompt was given.",
    UserPromptExpansion: "A slash command was expanded into a prompt.",
    SessionStart: "A session starts, or starts again. CLI 2.1.325 does not call an SDK's hooks for it.",
    SessionEnd: "A session ends.",
    Setup: "The CLI sets itself up. CLI 2.1.325 does not call an SDK's hooks for it.",
    Stop: "The model is done.",
    SubagentStop: "A subagent is done.",
    StopFailure: "A turn ended with an error of the API.",
    SubagentStart: "A subagent starts.",
    PreCompact: "The conversation is about to be compacted.",
    PostCompact: "The conversation was compacted.",
    PreModelSwitch: "The model is about to change.",
    PostModelSwitch: "The model has changed.",
    PermissionRequest: "A permission is about to be asked for.",
    PermissionDenied: "A permission was denied.",
    Notification: "The CLI has something to say to the user.",
    Elicitation: "An MCP server asks the user something.",
    ElicitationResult: "The user has answered an MCP server.",
    TaskCreated: "A task was made.",
    TaskCompleted: "A task is done.",
    TeammateIdle: "A teammate has nothing to do.",
    ConfigChange: "A settings file has changed.",
    InstructionsLoaded: "A file of instructions was read.",
    DirectoryAdded: "A folder was added to the session.",
    CwdChanged: "The working directory has changed.",
    FileChanged: "A watched file has changed.",
    WorktreeCreate: "A worktree is to be made.",
    WorktreeRemove: "A worktree is to be removed.",
    MessageDisplay: "A piece of an answer is about to be shown.",
}

impl fmt::Display for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
