//! Tools of Claude Code that are not ours: what it keeps for itself, and what it adds to tools we know.
//!
//! Most of them touch nothing but its own conversation, so they are planned as what they at most are: a
//! look at the folder the agent works in. The names are those of version 2.1; one that is missing here
//! is a tool nobody knows, which asks.

use countersign_core::{CallPlan, Effect, InvalidCall, Planner, Preview, ToolCall};
use serde_json::Value;

use crate::builtin::Bash;
use crate::files::workspace::Workspace;
use crate::tool::input;

/// What a tool of Claude Code does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClaudeCodeBehavior {
    /// Nothing outside its own conversation.
    Nothing(&'static str),
    /// Asks the person itself, in its own words.
    Asks(&'static str),
    /// Has something run later on.
    Later(&'static str),
}

/// Every one of them, by name.
const TOOLS: &[(&str, ClaudeCodeBehavior)] = &[
    ("AskUserQuestion", ClaudeCodeBehavior::Asks("Ask the person a question")),
    ("EnterPlanMode", ClaudeCodeBehavior::Asks("Plan first")),
    ("ExitPlanMode", ClaudeCodeBehavior::Asks("Carry out the plan")),
    ("Skill", ClaudeCodeBehavior::Asks("Follow a skill's instructions")),
    ("AgentOutputTool", ClaudeCodeBehavior::Nothing("Read what an agent of its own said")),
    ("BashOutput", ClaudeCodeBehavior::Nothing("Read what a command of its own printed")),
    ("TaskOutput", ClaudeCodeBehavior::Nothing("Read what a task of its own printed")),
    ("KillBash", ClaudeCodeBehavior::Nothing("End a command of its own")),
    ("KillShell", ClaudeCodeBehavior::Nothing("End a command of its own")),
    ("TaskStop", ClaudeCodeBehavior::Nothing("End a task of its own")),
    ("TaskCreate", ClaudeCodeBehavior::Nothing("Note a task")),
    ("TaskGet", ClaudeCodeBehavior::Nothing("Read a noted task")),
    ("TaskList", ClaudeCodeBehavior::Nothing("Read the noted tasks")),
    ("TaskUpdate", ClaudeCodeBehavior::Nothing("Change a noted task")),
    ("CronList", ClaudeCodeBehavior::Nothing("List what it has planned for later")),
    ("CronDelete", ClaudeCodeBehavior::Nothing("Take back what it has planned for later")),
    ("ListAgents", ClaudeCodeBehavior::Nothing("List its agents")),
    ("ListMcpResourcesTool", ClaudeCodeBehavior::Nothing("List what MCP servers offer")),
    ("ReportFindings", ClaudeCodeBehavior::Nothing("Report what it found")),
    ("StructuredOutput", ClaudeCodeBehavior::Nothing("Give its answer")),
    ("ToolSearch", ClaudeCodeBehavior::Nothing("Look for tools")),
    ("WaitForMcpServers", ClaudeCodeBehavior::Nothing("Wait for MCP servers")),
    ("CronCreate", ClaudeCodeBehavior::Later("a prompt at a set time")),
    ("ScheduleWakeup", ClaudeCodeBehavior::Later("a prompt after a while")),
];

/// Returns whether a tool asks the person itself: a gate before it would ask twice.
pub fn asks_by_itself(tool: &str) -> bool {
    matches!(find_tool(tool), Some((_, ClaudeCodeBehavior::Asks(_))))
}

fn find_tool(tool: &str) -> Option<&'static (&'static str, ClaudeCodeBehavior)> {
    TOOLS.iter().find(|(name, _)| *name == tool)
}

/// A tool that Claude Code keeps for itself.
#[derive(Clone, Debug)]
pub(crate) struct ClaudeCodeTool {
    workspace: Workspace,
    does: ClaudeCodeBehavior,
}

impl ClaudeCodeTool {
    /// Returns the tool of a name, if it is one of them.
    pub(crate) fn from_name(name: &str, workspace: &Workspace) -> Option<Self> {
        find_tool(name).map(|(_, does)| Self { workspace: workspace.clone(), does: *does })
    }
}

impl Planner for ClaudeCodeTool {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        input::fields(call)?;
        let (effect, summary) = match self.does {
            ClaudeCodeBehavior::Nothing(what) => {
                (Effect::Read(self.workspace.resolve(&call.cwd, ".")?), what.to_owned())
            }
            ClaudeCodeBehavior::Asks(what) => {
                let why = "what follows from it is the person's to say".to_owned();
                (Effect::Opaque { why }, what.to_owned())
            }
            ClaudeCodeBehavior::Later(what) => {
                (Effect::RunsLater { what: what.to_owned() }, format!("Plan {what}"))
            }
        };
        Ok(CallPlan::new(vec![effect], summary))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        input::fields(call)?;
        Ok(input::as_preview(call))
    }
}

/// `Monitor`: a command whose lines come in while the conversation goes on.
#[derive(Clone, Debug)]
pub(crate) struct MonitorTool(pub(crate) Bash);

impl MonitorTool {
    /// Returns the command alone, as Bash would be asked to run it.
    fn command(call: &ToolCall) -> Result<ToolCall, InvalidCall> {
        let command = input::fields(call)?.get("command").cloned();
        let command = command.filter(Value::is_string);
        let command =
            command.ok_or_else(|| InvalidCall("`command`: expected a text".to_owned()))?;
        Ok(ToolCall { input: serde_json::json!({ "command": command }), ..call.clone() })
    }
}

impl Planner for MonitorTool {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let mut plan = self.0.plan(&Self::command(call)?)?;
        plan.effects.push(Effect::RunsLater { what: "a command that is watched".to_owned() });
        Ok(plan)
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        self.0.preview(&Self::command(call)?)
    }
}

/// A field that Claude Code adds to a tool of ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClaudeCodeField {
    name: &'static str,
    is_flag: bool,
}

/// Those of `Bash`.
pub(crate) const OF_BASH: &[ClaudeCodeField] =
    &[ClaudeCodeField { name: "run_in_background", is_flag: true }];

/// Those of `Read`.
pub(crate) const OF_READ: &[ClaudeCodeField] = &[
    ClaudeCodeField { name: "allow_large", is_flag: true },
    ClaudeCodeField { name: "pages", is_flag: false },
];

/// A tool of ours, as Claude Code calls it.
#[derive(Clone, Debug)]
pub(crate) struct ClaudeCodeAdapter<P> {
    tool: P,
    added: &'static [ClaudeCodeField],
}

impl<P> ClaudeCodeAdapter<P> {
    pub(crate) fn new(tool: P, added: &'static [ClaudeCodeField]) -> Self {
        Self { tool, added }
    }

    /// Returns the call without what was added.
    fn strip_added_fields(&self, call: &ToolCall) -> Result<ToolCall, InvalidCall> {
        let mut call = call.clone();
        let Value::Object(fields) = &mut call.input else { return Ok(call) };
        for ClaudeCodeField { name, is_flag } in self.added {
            match fields.shift_remove(*name) {
                None | Some(Value::Null | Value::Bool(false)) => {}
                Some(Value::Bool(true)) if *is_flag => {}
                Some(Value::String(_)) if !is_flag => {}
                Some(_) => {
                    let kind = if *is_flag { "a boolean" } else { "a text" };
                    return Err(InvalidCall(format!("`{name}`: expected {kind}")));
                }
            }
        }
        Ok(call)
    }
}

impl<P: Planner> Planner for ClaudeCodeAdapter<P> {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        self.tool.plan(&self.strip_added_fields(call)?)
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        self.tool.preview(&self.strip_added_fields(call)?)
    }
}
