//! Tools nobody here knows: what they would do is not known either.

use countersign_core::{Effect, Invalid, Plan, Planner, Preview, ToolCall};

use crate::input;
use crate::shown::shown;

/// Says of every call that it may do anything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnknownTool;

impl Planner for UnknownTool {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        input::fields(call)?;
        let tool = shown(&call.tool_name);
        let why = format!("what the tool `{tool}` does is not known");
        Ok(Plan::new(vec![Effect::Opaque { why }], format!("Use `{tool}`")))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        input::fields(call)?;
        Ok(input::as_preview(call))
    }
}
