//! `Task`: hands work to another agent, which has the leave of this one and no more.
//!
//! What a call asks for is read here. Who runs a conversation puts the running half in the place of
//! [`Task`], by its name: an agent is not something a tool can make.

use async_trait::async_trait;
use countersign_core::{CallPlan, Effect, InvalidCall, Planner, Preview, ToolCall, ToolOutput};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::files::escape::escape_to_line;
use crate::tool::input;
use crate::tool::{AsyncTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

const DESCRIPTION: &str = "\
Hands a piece of work to another agent and returns what it reports when it is done.

- `prompt` is all the agent knows of your conversation: say what you want to know or to have done, where, \
and what its report should hold. Nobody can ask you back.
- `subagent_type`: `explore` only reads (files, folders, the web) and is right for finding out how something \
works; `general-purpose` has the tools that you have.
- It asks the same person for the same things as you do, and has no leave that you do not have.
- Start several in one answer to have them work side by side, on things that do not touch the same files.
- Use it for what takes many steps and whose details you do not need. For one search, use Grep or Glob.";

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
const NO_MORE: &[&str] = &["default", "dontAsk", "plan"];

/// What a child agent is for, and so which of its parent's tools it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentKind {
    /// Has all tools of its parent.
    #[default]
    GeneralPurpose,
    /// Has those that only look.
    Explore,
}

impl AgentKind {
    /// Returns how calls name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::GeneralPurpose => "general-purpose",
            Self::Explore => "explore",
        }
    }

    /// Returns whether it has a tool of its parent's.
    pub fn has(self, tool: &str) -> bool {
        const LOOKING: &[&str] = &["Read", "Glob", "Grep", "ListDir", "WebFetch", "WebSearch"];
        match self {
            Self::GeneralPurpose => true,
            Self::Explore => LOOKING.contains(&tool),
        }
    }
}

/// The tool that starts another agent.
pub type Task = ToolAdapter<TaskTool>;

/// How [`Task`] plans and previews a call.
#[derive(Clone, Copy, Debug)]
pub struct TaskTool;

/// A piece of work to be handed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelegatedTask {
    /// What it is, in a few words.
    pub description: String,
    /// What the agent is told.
    pub prompt: String,
    /// Which agent.
    pub kind: AgentKind,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskInput {
    /// What the work is, in three to five words; the user sees it.
    description: String,
    /// The work: everything the agent has to know.
    prompt: String,
    /// Which agent: `explore` to find something out, `general-purpose` (the default) for all else.
    #[serde(default)]
    #[schemars(schema_with = "kinds")]
    subagent_type: AgentKind,
}

/// The names alone: what each means is in the description.
fn kinds(_: &mut SchemaGenerator) -> Schema {
    let names = [AgentKind::GeneralPurpose, AgentKind::Explore].map(AgentKind::name);
    json_schema!({ "type": "string", "enum": names })
}

impl Default for Task {
    fn default() -> Self {
        Self::for_tool(TaskTool, false)
    }
}

impl Task {
    /// Reads the work that a call hands on.
    pub fn work(call: &ToolCall) -> Result<DelegatedTask, InvalidCall> {
        TaskTool.read(call)
    }
}

impl TypedTool for TaskTool {
    const NAME: &'static str = "Task";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = TaskInput;
    type CheckedInput = DelegatedTask;

    fn parse(call: &ToolCall) -> Result<TaskInput, InvalidCall> {
        input::parse(&split_authority(call).0)
    }

    fn check(&self, input: TaskInput, _: &ToolCall) -> Result<DelegatedTask, InvalidCall> {
        let TaskInput { description, prompt, subagent_type: kind } = input;
        if prompt.trim().is_empty() {
            return Err(InvalidCall("`prompt` is empty: say what the agent is to do".to_owned()));
        }
        Ok(DelegatedTask { description, prompt, kind })
    }

    fn plan(&self, work: DelegatedTask, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        Ok(plan_agent(work.kind.name(), &work.description, split_authority(call).1))
    }
}

#[async_trait]
impl AsyncTool for TaskTool {
    async fn run(&self, _: VerifiedPermit, _: CancellationToken) -> Result<ToolOutput, ToolError> {
        Err(ToolError::invalid("there is no agent here that work could be handed to"))
    }
}

/// The same tool of an agent that is not ours: it has agents and options of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForeignTask;

/// What counts of its input; it may have more fields.
#[derive(Deserialize)]
struct ForeignTaskInput {
    #[serde(default)]
    description: String,
    #[serde(rename = "prompt")]
    _prompt: String,
    #[serde(default)]
    subagent_type: Option<String>,
    #[serde(default)]
    isolation: Option<Value>,
}

impl ForeignTaskInput {
    /// Returns that the agent may run where nobody sees its calls, unless it is sure to run here.
    fn elsewhere(&self) -> Option<Effect> {
        let isolation = self.isolation.as_ref().filter(|it| !it.is_null())?;
        let here = ["none", "worktree"].iter().any(|name| isolation.as_str() == Some(name));
        let why = "where the agent runs, and who sees its calls, is not known (`isolation`)";
        (!here).then(|| Effect::Opaque { why: why.to_owned() })
    }
}

impl Planner for ForeignTask {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let (call, asked) = split_authority(call);
        let input: ForeignTaskInput = input::parse(&call)?;
        let agent = input.subagent_type.as_deref().unwrap_or("general-purpose");
        let mut plan = plan_agent(agent, &input.description, asked);
        plan.effects.extend(input.elsewhere());
        Ok(plan)
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        input::parse::<ForeignTaskInput>(&split_authority(call).0)?;
        Ok(input::as_preview(call))
    }
}

fn plan_agent(agent: &str, description: &str, asked: Option<String>) -> CallPlan {
    let summary =
        format!("Start the agent `{}`: {}", escape_to_line(agent), escape_to_line(description));
    let mut effects = vec![Effect::SpawnAgent { agent: agent.to_owned() }];
    effects.extend(asked.map(|field| Effect::Forbidden {
        why: format!("a child agent never has more authority than its parent (`{field}`)"),
    }));
    CallPlan::new(effects, summary)
}

/// Returns a call without the fields that ask for leave, and the first of them that asks for more.
fn split_authority(call: &ToolCall) -> (ToolCall, Option<String>) {
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
    (call, asked)
}
