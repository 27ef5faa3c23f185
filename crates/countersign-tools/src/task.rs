//! Task: hands work to another agent, which has the leave of this one and no more.

use countersign_core::{Effect, Invalid, Plan, Planner, Preview, ToolCall};
use serde::Deserialize;
use serde_json::Value;

use crate::input;
use crate::shown::shown;

/// The tool that starts another agent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Task;

/// Fields by which a child would get leave of its own, in the spellings that are around.
const AUTHORITY: &[&str] = &[
    "addDirs",
    "add_dirs",
    "additionalDirectories",
    "allowedTools",
    "allowed_tools",
    "bypassPermissions",
    "dangerouslyDisableSandbox",
    "dangerouslySkipPermissions",
    "dangerously_skip_permissions",
    "env",
    "hooks",
    "mcpServers",
    "mcp_servers",
    "permissions",
    "sandbox",
    "settings",
    "tools",
];

/// Fields that say how a child asks.
const MODE: &[&str] = &["mode", "permissionMode", "permission_mode"];

/// Modes in which a child asks as it would anyway, or does less.
const NO_MORE: &[&str] = &["default", "plan"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    description: String,
    #[serde(rename = "prompt")]
    _prompt: String,
    #[serde(default)]
    subagent_type: Option<String>,
    #[serde(default, rename = "name")]
    _name: Option<String>,
    #[serde(default, rename = "model")]
    _model: Option<String>,
    #[serde(default, rename = "effort")]
    _effort: Option<String>,
    #[serde(default, rename = "resume")]
    _resume: Option<String>,
    #[serde(default, rename = "run_in_background")]
    _run_in_background: Option<bool>,
    #[serde(default, rename = "max_turns")]
    _max_turns: Option<u64>,
    #[serde(default, rename = "isolation")]
    _isolation: Option<String>,
}

/// Reads the work that is handed on, and what leave is asked for with it.
fn read(call: &ToolCall) -> Result<(Input, Option<String>), Invalid> {
    let mut call = call.clone();
    let mut asked = None;
    if let Value::Object(fields) = &mut call.input {
        let is_authority =
            |name: &String| AUTHORITY.contains(&name.as_str()) || MODE.contains(&name.as_str());
        let found: Vec<String> = fields.keys().filter(|name| is_authority(name)).cloned().collect();
        for name in found {
            let value = fields.shift_remove(&name).unwrap_or_default();
            let harmless = value.is_null()
                || (MODE.contains(&name.as_str())
                    && value.as_str().is_some_and(|mode| NO_MORE.contains(&mode)));
            if !harmless {
                asked.get_or_insert(name);
            }
        }
    }
    Ok((input::parse(&call)?, asked))
}

impl Planner for Task {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        let (input, asked) = read(call)?;
        let agent = input.subagent_type.unwrap_or_else(|| "general-purpose".to_owned());
        let summary = format!("Start the agent `{}`: {}", shown(&agent), shown(&input.description));
        let mut effects = vec![Effect::SpawnAgent { agent }];
        effects.extend(asked.map(|field| Effect::Forbidden {
            why: format!("a child agent never has more authority than its parent (`{field}`)"),
        }));
        Ok(Plan::new(effects, summary))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        read(call)?;
        Ok(input::as_preview(call))
    }
}
