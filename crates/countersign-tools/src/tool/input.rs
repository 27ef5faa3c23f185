//! What a model sent, read strictly; and the schema it was told to follow.

use countersign_core::{InvalidCall, Preview, ToolCall};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::files::escape::escape_to_line;
use crate::files::truncate::cap;

/// Above this many characters the description of a fault is cut.
const FAULT_LIMIT: usize = 600;

/// Reads the input of a call, or says which field is wrong and what belongs there.
pub(crate) fn parse<T: DeserializeOwned>(call: &ToolCall) -> Result<T, InvalidCall> {
    // A list would be taken for the fields in their order.
    if !call.input.is_object() {
        let tool = &call.tool_name;
        return Err(InvalidCall(format!(
            "expected an object with the fields of {tool}; call it again so"
        )));
    }
    serde_path_to_error::deserialize(&call.input).map_err(|error| {
        let field = error.path().to_string();
        // What was found is quoted in it, and may be as long as the model likes.
        let fault = plain(&cap(&error.inner().to_string(), FAULT_LIMIT));
        let place = if field == "." { String::new() } else { format!("`{field}`: ") };
        InvalidCall(format!(
            "{place}{fault}; mend the input of {} and call it again",
            call.tool_name
        ))
    })
}

/// Returns the fields of a call whose meaning is not ours to know.
pub(crate) fn fields(call: &ToolCall) -> Result<&Map<String, Value>, InvalidCall> {
    let fields = call.input.as_object();
    fields.ok_or_else(|| {
        let tool = escape_to_line(&call.tool_name);
        InvalidCall(format!("expected an object with the fields of {tool}; call it again so"))
    })
}

/// Shows a call by its input: for what changes no file.
pub(crate) fn as_preview(call: &ToolCall) -> Preview {
    Preview::Generic { input: call.input.clone(), preimages: Vec::new() }
}

/// Says in plain words what serde says in those of Rust.
fn plain(fault: &str) -> String {
    let fault = fault
        .replace("a nonzero u64", "a positive integer")
        .replace("a nonzero usize", "a positive integer")
        .replace("usize", "a whole number")
        .replace("u64", "a whole number");
    let fault = hide_type_name(&fault);
    match fault.split_once(", expected ") {
        Some((found, expected)) if !found.starts_with("unknown") => {
            format!("expected {expected}, found {}", found.rsplit(": ").next().unwrap_or(found))
        }
        _ => fault,
    }
}

/// A model knows no Rust types: `struct BashInput` is an object to it.
fn hide_type_name(fault: &str) -> String {
    let Some((before, after)) = fault.split_once("struct ") else { return fault.to_owned() };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    format!("{before}an object{rest}")
}

/// Returns the schema of an input without what says nothing to a model.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::default().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(root) = &mut schema {
        root.remove("title");
        root.remove("description");
        if let Some(Value::Object(fields)) = root.get_mut("properties") {
            fields.values_mut().filter_map(Value::as_object_mut).for_each(tidy);
        }
    }
    schema
}

/// Drops Rust's number formats, and `null`: a field that is not given is left out.
fn tidy(field: &mut Map<String, Value>) {
    field.remove("format");
    if field.get("default").is_some_and(Value::is_null) {
        field.remove("default");
    }
    if let Some(Value::Array(types)) = field.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            field.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = field.remove("anyOf") {
        let mut real =
            choices.into_iter().filter(|choice| choice.get("type") != Some(&"null".into()));
        if let Some(Value::Object(only)) = real.next() {
            for (key, value) in only {
                field.entry(key).or_insert(value);
            }
        }
    }
}
