//! The audit of a project: what was decided, by whom, on what they saw, and what ran.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::call_status::CallStatus;
use crate::risk_level::RiskLevel;

/// A page of the audit, the oldest first: what is appended later does not move what was read.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditList {
    pub success: bool,
    pub entries: Vec<AuditEntry>,
    /// Where the next page begins; none after the last.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// One row of the audit: what was done, and its place in the chain.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    /// Its number in the project's chain, from 1.
    pub seq: u64,
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The seal, over this row as it is kept and the seal before it. `countersign audit export` has
    /// what was sealed to the letter.
    pub hash: String,
    #[serde(flatten)]
    pub act: ActView,
}

/// What was done.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum ActView {
    /// A call came into a state.
    Call(Box<CallActView>),
    /// The rules of the project, or of one of its conversations, were changed.
    Rules(RulesActView),
    /// What the project has settled for itself was changed.
    Settings(SettingsActView),
    /// What somebody said came of a call that ran elsewhere was not taken.
    ResultRefused(RefusalActView),
    /// What calls had done to files was undone.
    Undone(UndoneActView),
    /// Secrets were masked in calls that were settled before that was done at once.
    Masked(MaskedActView),
}

/// Calls whose secrets were masked.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct MaskedActView {
    pub calls: Vec<MaskedCallView>,
}

/// A call whose secrets were masked, with the digest of what is left of it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct MaskedCallView {
    pub approval_id: String,
    pub kept: String,
}

/// Files that were put back to what they were before some calls.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct UndoneActView {
    pub who: String,
    pub tool_ids: Vec<String>,
    pub files: u64,
}

/// A project whose name or settings were changed; what is null is as the server has it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SettingsActView {
    pub who: String,
    pub name: String,
    #[schema(required)]
    pub medium_seconds: Option<u64>,
    #[schema(required)]
    pub high_seconds: Option<u64>,
    #[schema(required)]
    pub tool_approval_enabled: Option<bool>,
}

/// A result that was not taken: it was late, or not theirs to say.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RefusalActView {
    pub approval_id: String,
    pub tool_id: String,
    pub reason: String,
    /// The digest of what they said.
    pub result: String,
}

/// A call that came into a state.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CallActView {
    pub status: CallStatus,
    /// Who brought it there, where somebody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub who: Option<String>,
    /// How: `person`, `program`, `policy`, `deadline` or `interruption`.
    pub how: String,
    pub approval_id: String,
    pub tool_id: String,
    pub tool_use_id: String,
    pub session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub run_id: Option<String>,
    pub tool_name: String,
    pub risk_level: RiskLevel,
    /// What it would do, in one sentence.
    pub summary: String,
    /// The digest of what was shown, and of all a decision is bound to.
    pub saw: String,
    /// The digest of the input as it stands: what runs, if it runs.
    pub input: String,
    /// Whether a person had changed the input.
    pub edited: bool,
    /// The digest of what it gave back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub result: Option<String>,
    /// What went wrong, or what the person said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub message: Option<String>,
    /// The kind of failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub error_type: Option<String>,
}

/// A change of rules.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RulesActView {
    pub who: String,
    /// The conversation they hold in; left out where they hold in all of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub session_id: Option<String>,
    /// The rules that came or were changed, as they now read.
    pub kept: Vec<String>,
    /// The ids of those that were revoked.
    pub revoked: Vec<String>,
}
