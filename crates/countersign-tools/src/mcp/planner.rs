//! Tools of MCP servers: their names are known, what they do is not.

use countersign_core::{CallPlan, Effect, InvalidCall, Planner, Preview, ToolCall};
use serde_json::Value;

use crate::tool::input;

/// Above this many characters a name is refused.
const NAME_LIMIT: usize = 128;

/// A tool of an MCP server, as agents name it: `mcp__<server>__<tool>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpTool {
    server: String,
    tool: String,
}

impl McpTool {
    /// Returns the tool of a name, if the name is well formed.
    ///
    /// The server's name ends at the first `__`, as in the agents that make these names.
    pub fn named(name: &str) -> Option<Self> {
        let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
        let fits = |name: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            name.chars().all(plain) && name.chars().any(|c| c.is_ascii_alphanumeric())
        };
        // `mcp__a___b`: whose underscore the third one is cannot be told.
        let clear = !server.starts_with('_') && !server.ends_with('_') && !tool.starts_with('_');
        (fits(server) && fits(tool) && clear && name.len() <= NAME_LIMIT)
            .then(|| Self { server: server.to_owned(), tool: tool.to_owned() })
    }

    fn check(call: &ToolCall) -> Result<(), InvalidCall> {
        match &call.input {
            Value::Object(_) => Ok(()),
            _ => Err(InvalidCall("the input is not an object: send the tool's fields".to_owned())),
        }
    }
}

impl Planner for McpTool {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        Self::check(call)?;
        let Self { server, tool } = self;
        let why = format!("what the MCP tool `{tool}` of the server `{server}` does is not known");
        let summary = format!("Call `{tool}` of the MCP server `{server}`");
        Ok(CallPlan::new(vec![Effect::Opaque { why }], summary))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        Self::check(call)?;
        Ok(input::as_preview(call))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_server_and_tool_or_nothing() {
        let parts = |name: &str| McpTool::named(name).map(|it| (it.server, it.tool));
        let are = |server: &str, tool: &str| Some((server.to_owned(), tool.to_owned()));
        assert_eq!(parts("mcp__files__read"), are("files", "read"));
        assert_eq!(parts("mcp__my_files-2__read.all"), are("my_files-2", "read.all"));
        assert_eq!(parts("mcp__a__b__c"), are("a", "b__c"));
        for name in
            ["mcp__", "mcp__a", "mcp__a__", "mcp____b", "mcp__a___b", "mcp__a b__c", "mcp__*__x"]
        {
            assert_eq!(parts(name), None, "{name}");
        }
        assert_eq!(parts(&format!("mcp__a__{}", "b".repeat(200))), None);
        assert_eq!(parts("mcp__a\u{430}__b"), None, "letters that only look alike");
    }
}
