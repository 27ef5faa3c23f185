//! What is told about a tool to whoever chooses among them: S2's `tools/available`.

use countersign_core::Risk;
use serde_json::Value;

use super::Tool;

/// How long a person has for a call of medium risk, in seconds, unless the project says otherwise.
const ASKING: u64 = 300;

/// A tool in the words of S2.8.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolInfo {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its fields, by name, each with its schema.
    pub parameters: Value,
    /// Whether a plain call of it asks.
    pub requires_approval: bool,
    /// How risky a plain call of it is; one that reaches further is rated higher.
    pub risk_level: Risk,
    /// How long a person has to decide; 0 where nobody is asked.
    pub timeout_seconds: u64,
}

impl ToolInfo {
    /// Returns what is told about a tool.
    pub async fn for_tool(tool: &dyn Tool) -> Self {
        let mut schema = tool.input_schema();
        let parameters = schema.get_mut("properties").map(Value::take);
        let requires_approval = tool.needs_approval(&Value::Object(serde_json::Map::new())).await;
        Self {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            parameters: parameters.unwrap_or_else(|| Value::Object(serde_json::Map::new())),
            requires_approval,
            risk_level: if requires_approval { Risk::Medium } else { Risk::Low },
            timeout_seconds: if requires_approval { ASKING } else { 0 },
        }
    }
}
