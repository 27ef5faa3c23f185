//! Tools nobody here knows: what they would do is not known either.

use countersign_core::{CallPlan, Effect, InvalidCall, Planner, Preview, ToolCall};

use crate::files::escape::escape_to_line;
use crate::tool::input;

/// Says of every call that it may do anything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnknownTool;

impl Planner for UnknownTool {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        input::fields(call)?;
        let tool = escape_to_line(&call.tool_name);
        let why = format!("what the tool `{tool}` does is not known");
        Ok(CallPlan::new(vec![Effect::Opaque { why }], format!("Use `{tool}`")))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        input::fields(call)?;
        Ok(input::as_preview(call))
    }
}
