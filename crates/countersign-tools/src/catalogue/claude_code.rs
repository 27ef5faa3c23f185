//! Tools of Claude Code that are not ours: what it keeps for itself, and what it asks for itself.
//!
//! Most of them touch nothing but its own conversation, so they are planned as what they at most are: a
//! look at the folder the agent works in. The names are those of version 2.1; one that is missing here
//! is a tool nobody knows, which asks.

use countersign_core::{CallPlan, Effect, InvalidCall, Planner, Preview, ToolCall};
use serde_json::Value;

use crate::builtin::Bash;
use crate::files::escape::escape_to_line;
use crate::files::path_effects;
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
    /// Reads the file or folder that a field names.
    Reads {
        /// The field; the folder the agent works in where it is missing.
        field: &'static str,
        what: &'static str,
    },
    /// Does something that cannot be told from its input.
    Anything { what: &'static str, why: &'static str },
}

const POWERSHELL: &str = "PowerShell is not read here";
const WORKTREE: &str = "it creates or removes a worktree, where hooks of the repository run";
const RESOURCE: &str = "what an MCP server does for it is not known";
const REMOTE: &str = "it runs on another machine";

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
    ("SendMessage", ClaudeCodeBehavior::Nothing("Write to an agent of its own")),
    ("TeamCreate", ClaudeCodeBehavior::Nothing("Found a team of its agents")),
    ("TeamDelete", ClaudeCodeBehavior::Nothing("Dissolve a team of its agents")),
    ("LS", ClaudeCodeBehavior::Reads { field: "path", what: "List a folder" }),
    ("LSP", ClaudeCodeBehavior::Reads { field: "filePath", what: "Ask a language server" }),
    ("NotebookRead", ClaudeCodeBehavior::Reads { field: "notebook_path", what: "Read a notebook" }),
    (
        "PowerShell",
        ClaudeCodeBehavior::Anything { what: "Run a PowerShell command", why: POWERSHELL },
    ),
    ("EnterWorktree", ClaudeCodeBehavior::Anything { what: "Make a worktree", why: WORKTREE }),
    ("ExitWorktree", ClaudeCodeBehavior::Anything { what: "Leave a worktree", why: WORKTREE }),
    (
        "ReadMcpResourceTool",
        ClaudeCodeBehavior::Anything { what: "Read from an MCP server", why: RESOURCE },
    ),
    (
        "RemoteTrigger",
        ClaudeCodeBehavior::Anything { what: "Start an agent elsewhere", why: REMOTE },
    ),
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
        let fields = input::fields(call)?;
        let (effect, summary) = match self.does {
            ClaudeCodeBehavior::Nothing(what) => {
                (Effect::Read(self.workspace.resolve(&call.cwd, ".")?), what.to_owned())
            }
            ClaudeCodeBehavior::Asks(what) => {
                let why = "what follows from it is the person's to say".to_owned();
                (Effect::Opaque { why }, what.to_owned())
            }
            ClaudeCodeBehavior::Reads { field, what } => {
                let path = match fields.get(field) {
                    None | Some(Value::Null) => ".",
                    Some(Value::String(path)) => path,
                    Some(_) => return Err(InvalidCall(format!("`{field}`: expected a text"))),
                };
                let target = self.workspace.find(&call.cwd, path)?;
                let summary = format!("{what}: `{}`", escape_to_line(path));
                (path_effects::read_effect(path, target)?, summary)
            }
            ClaudeCodeBehavior::Anything { what, why } => {
                (Effect::Opaque { why: why.to_owned() }, what.to_owned())
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
