//! Where a call belongs: its workspace, its conversation and who asked, as people call them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a call belongs.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CallContext {
    pub workspace: WorkspaceView,
    pub conversation: ConversationView,
    /// What a person would call the asker: `Countersign agent`, `Claude Code`, or the name of the
    /// token that another program has.
    pub agent_name: String,
}

/// The workspace that a call belongs to.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WorkspaceView {
    pub project_id: String,
    pub name: String,
    /// The folder, on the server's machine.
    pub root: String,
}

/// The conversation that a call belongs to.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ConversationView {
    pub session_id: String,
    /// The beginning of its first prompt; null where the server has none.
    #[schema(required)]
    pub title: Option<String>,
}
