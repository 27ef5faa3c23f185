//! A tool of ours, as another agent calls it.
//!
//! Another agent's tool may have fields that ours lacks, and accept values that ours refuses. None of that
//! is a reason to refuse the call: it is judged by the fields that carry effects, and what is not known
//! here is shown to the person.

use std::sync::Arc;

use countersign_core::{CallPlan, InvalidCall, Planner, Preview, ToolCall};
use serde_json::{Map, Value};

use crate::files::escape::escape_to_line;
use crate::tool::{Tool, input};

/// Fields that say only how much is shown or how long it may take, whatever the tool.
const WITHOUT_EFFECT: &[&str] = &[
    "-A",
    "-B",
    "-C",
    "-i",
    "-n",
    "-o",
    "allow_large",
    "context",
    "head_limit",
    "limit",
    "multiline",
    "offset",
    "output_mode",
    "pages",
    "run_in_background",
    "timeout",
];

/// More names of unknown fields than this are not listed.
const NAMED_FIELDS: usize = 5;

/// A tool of ours that judges the calls of another agent.
pub(crate) struct ForeignCallPlanner {
    tool: Arc<dyn Tool>,
    /// The fields that our tool has.
    fields: Vec<String>,
}

impl ForeignCallPlanner {
    /// Returns the planner of another agent's calls of a tool.
    pub(crate) fn new(tool: Arc<dyn Tool>) -> Self {
        let schema = tool.input_schema();
        let known = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let fields = known.map(|(name, _)| name.clone()).collect();
        Self { tool, fields }
    }

    /// Returns the call with the fields that our tool has, and the names of those nobody knows.
    fn without_unknown_fields(
        &self,
        call: &ToolCall,
    ) -> Result<(ToolCall, Vec<String>), InvalidCall> {
        let mut kept = Map::new();
        let mut unknown = Vec::new();
        for (name, value) in input::fields(call)? {
            if self.fields.contains(name) {
                kept.insert(name.clone(), value.clone());
            } else if !WITHOUT_EFFECT.contains(&name.as_str()) && !value.is_null() {
                unknown.push(escape_to_line(name));
            }
        }
        Ok((ToolCall { input: Value::Object(kept), ..call.clone() }, unknown))
    }

    /// Judges a call as it is or, where our tool refuses that, by the fields that carry effects alone.
    fn judge<T>(
        &self,
        call: &ToolCall,
        judge: impl Fn(&ToolCall) -> Result<T, InvalidCall>,
    ) -> Result<T, InvalidCall> {
        judge(call).or_else(|_| judge(&self.with_effects_alone(call)))
    }

    fn with_effects_alone(&self, call: &ToolCall) -> ToolCall {
        let mut call = call.clone();
        let Value::Object(fields) = &mut call.input else { return call };
        fields.retain(|name, _| !WITHOUT_EFFECT.contains(&name.as_str()));
        // What is searched for makes no difference to what is opened.
        if self.tool.name() == "Grep"
            && let Some(Value::String(pattern)) = fields.get_mut("pattern")
            && !pattern.is_empty()
        {
            *pattern = escape_pattern(pattern);
        }
        call
    }
}

impl Planner for ForeignCallPlanner {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let (reduced, unknown) = self.without_unknown_fields(call)?;
        let mut plan = self.judge(&reduced, |call| self.tool.plan(call))?;
        if let Some(note) = describe(&unknown) {
            plan.summary = format!("{} ({note})", plan.summary);
        }
        Ok(plan)
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        let (reduced, unknown) = self.without_unknown_fields(call)?;
        Ok(match self.judge(&reduced, |call| self.tool.preview(call))? {
            Preview::Command(mut preview) => {
                preview.warnings.extend(describe(&unknown));
                Preview::Command(preview)
            }
            // What is shown by its input is shown with all of it.
            Preview::Generic { preimages, .. } => {
                Preview::Generic { input: call.input.clone(), preimages }
            }
            shown => shown,
        })
    }
}

fn describe(unknown: &[String]) -> Option<String> {
    let named: Vec<_> = unknown.iter().take(NAMED_FIELDS).map(|name| format!("`{name}`")).collect();
    let (first, verb) = match unknown.len() {
        0 => return None,
        1 => ("the field", "is"),
        _ => ("the fields", "are"),
    };
    let more = unknown.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{first} {}{more} {verb} not known here", named.join(", ")))
}

/// Writes a text so that a regular expression means exactly it.
fn escape_pattern(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() && !matches!(c, '<' | '>') {
            escaped.push('\\');
        }
        // A line break in a pattern is refused.
        escaped.push(if c == '\n' { ' ' } else { c });
    }
    escaped
}
