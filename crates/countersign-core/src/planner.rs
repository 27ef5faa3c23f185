//! What the gate asks of a tool before it decides.

use std::sync::Arc;

use crate::shell::{CanonicalCommandLine, CommandPart};
use crate::{Attachment, ClientLook, Effect, Preview, ToolCall};

/// What a call would do, in the tool's own reading of its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPlan {
    /// Everything the call would do; a tool that cannot tell lists [`Effect::Opaque`].
    pub effects: Vec<Effect>,
    /// One plain sentence of effect for the person who decides ("Create `src/a.rs` (12 lines)").
    pub summary: String,
    /// The commands it would run, one by one, where it runs any: rules speak of each alone.
    pub commands: Vec<CommandPart>,
    /// Whether it runs in a sandbox that was tried and held, and does not leave it.
    pub sandboxed: bool,
    /// What is executed in the place of its text when nobody is asked, where it is a command.
    pub canonical: Option<CanonicalCommandLine>,
}

impl CallPlan {
    /// Returns the plan of a call that runs no commands.
    pub fn new(effects: Vec<Effect>, summary: impl Into<String>) -> Self {
        let (summary, commands) = (summary.into(), Vec::new());
        Self { effects, summary, commands, sandboxed: false, canonical: None }
    }
}

/// Why a call cannot run as it was made: for the model, so that it can mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidCall(pub String);

/// The side of a tool that the gate sees. Running is not part of it.
///
/// Implementations may read files (the gate calls them off the runtime), never write.
pub trait Planner: Send + Sync + 'static {
    /// Reads the call's input strictly and lists what it would do.
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall>;

    /// Shows what the call would do, bound to the files as they are now.
    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall>;

    /// Returns the same planner with what the client says that would run the call; none where that
    /// makes no difference.
    fn with_client_look(&self, look: &ClientLook) -> Option<Arc<dyn Planner>> {
        let _ = look;
        None
    }
}

/// What a tool gives back to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// The text.
    pub content: String,
    /// Whether it tells of a failure.
    pub is_error: bool,
    /// What it is shown beside the text, in order.
    pub attachments: Vec<Attachment>,
}

impl ToolOutput {
    /// Returns an output that tells of success.
    pub fn ok(content: impl Into<String>) -> Self {
        Self { content: content.into(), is_error: false, attachments: Vec::new() }
    }

    /// Returns an output that tells of a failure.
    pub fn error(content: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::ok(content) }
    }

    /// Returns the output with something beside its text.
    #[must_use]
    pub fn with_attachment(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }
}
