//! One call of a file of calls.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use countersign_core::{InvalidCall, parse_input};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::row_overrides::RowOverrides;
use super::{CallEvaluation, PolicyEvaluator};

/// What stands for the workspace's folder.
const WORKSPACE: &str = "{{WS}}";

/// A call with what it is given along.
pub struct CallRow {
    /// The row's own name.
    pub id: Value,
    tool: String,
    /// As it was written: it is read as strictly as an agent's.
    input: Result<String, InvalidCall>,
    given: Value,
}

/// A row as it is written. What is not ours is left alone.
#[derive(Deserialize)]
struct RawCallRow {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    tool: Value,
    #[serde(default)]
    input: Option<Box<RawValue>>,
    #[serde(default)]
    given: Value,
}

impl CallRow {
    /// Returns the row of one call that was given by hand.
    pub fn for_call(tool: &str, input: &str) -> Self {
        let (id, given) = (Value::Null, Value::Null);
        Self { id, tool: tool.to_owned(), input: Ok(input.to_owned()), given }
    }

    /// Returns the same call made in a folder below the root.
    #[must_use]
    pub fn in_folder(self, cwd: Option<&Path>) -> Self {
        match cwd {
            Some(cwd) => Self { given: json!({ "cwd": cwd }), ..self },
            None => self,
        }
    }

    /// Reads a line. One that is no row is a call that cannot be read.
    pub fn read(line: &[u8]) -> Self {
        match serde_json::from_slice(line) {
            Ok(RawCallRow { id, tool, input, given }) => {
                let tool = tool.as_str().unwrap_or_default().to_owned();
                let input = input.map(|raw| raw.get().to_owned());
                let input = input.ok_or_else(|| InvalidCall("the row has no `input`".to_owned()));
                Self { id, tool, input, given }
            }
            Err(error) => {
                let why = InvalidCall(format!("the row is not a JSON object: {error}"));
                Self { input: Err(why), ..Self::for_call("", "") }
            }
        }
    }

    /// Returns the verdict on the row's call. A fault of ours denies it.
    pub fn evaluate(&self, judge: &PolicyEvaluator) -> CallEvaluation {
        let judging = catch_unwind(AssertUnwindSafe(|| self.judge(judge)));
        judging.unwrap_or_else(|_| {
            let why = "the call could not be judged: this is a fault of Countersign".to_owned();
            judge.judge(&self.tool, Err(InvalidCall(why)), judge.terms())
        })
    }

    fn judge(&self, judge: &PolicyEvaluator) -> CallEvaluation {
        let tool = self.tool.as_str();
        let refused = |why: InvalidCall| judge.judge(tool, Err(why), judge.terms());
        let given = match self.given(judge.root()) {
            Ok(given) => given,
            Err(why) => return refused(why),
        };
        let input = match self.input(judge.root()) {
            Ok(input) => input,
            Err(why) => return refused(why),
        };
        let terms = match given.terms(judge) {
            Ok(terms) => terms,
            Err(why) => return refused(why),
        };
        let judged = judge.judge(tool, Ok(input.clone()), &terms);
        match (&given.redirect_to, input) {
            // Where an address leads on to is asked for like the address itself.
            (Some(next), Value::Object(mut fields)) if fields.contains_key("url") => {
                fields.insert("url".to_owned(), next.as_str().into());
                judged.merge(judge.judge(tool, Ok(Value::Object(fields)), &terms))
            }
            _ => judged,
        }
    }

    fn given(&self, root: &Path) -> Result<RowOverrides, InvalidCall> {
        let mut given = self.given.clone();
        if given.is_null() {
            return Ok(RowOverrides::default());
        }
        place(&mut given, root)?;
        serde_json::from_value(given)
            .map_err(|error| InvalidCall(format!("what the row gives is not understood: {error}")))
    }

    fn input(&self, root: &Path) -> Result<Value, InvalidCall> {
        let mut input = parse_input(self.input.as_ref().map_err(Clone::clone)?)?;
        place(&mut input, root)?;
        match input.get("__raw_json") {
            Some(Value::String(raw)) => parse_input(raw),
            _ => Ok(input),
        }
    }
}

/// Puts the workspace's folder where a text asks for it.
fn place(value: &mut Value, root: &Path) -> Result<(), InvalidCall> {
    match value {
        Value::String(text) if text.contains(WORKSPACE) => {
            let root = root.to_str();
            let root =
                root.ok_or_else(|| InvalidCall("the root's path is not UTF-8".to_owned()))?;
            *text = text.replace(WORKSPACE, root);
        }
        Value::Array(items) => {
            for item in items {
                place(item, root)?;
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                place(field, root)?;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    Ok(())
}
