//! The tools that a run can use, as S2 describes them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::risk_level::RiskLevel;

/// Who runs tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolRunner {
    /// The client: `read_file`, `write_file`, `list_directory`, `execute_command`.
    #[default]
    Client,
    /// The server.
    Local,
}

/// The tools of an executor.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolList {
    pub success: bool,
    pub tools: Vec<ToolView>,
    pub total_count: usize,
}

/// One tool.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolView {
    pub name: String,
    pub description: String,
    /// The fields of its input, each with its JSON schema.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// The fields that have to be there.
    pub required: Vec<String>,
    /// Whether a call asks unless a rule says otherwise.
    pub requires_approval: bool,
    /// The usual risk; each call is rated by what it would do.
    pub risk_level: RiskLevel,
    /// How long people have to decide, in seconds; 0 where nobody is asked.
    pub timeout_seconds: u64,
}
