//! Examples of values, made from their schemas.

use serde_json::{Map, Value, json};

use super::schema::resolve_ref;

/// How deep examples go: what is below is left out.
const DEEPEST: usize = 6;

/// Returns an example of a value; a brief one has only what has to be there.
pub(super) fn example(schema: &Value, document: &Value, brief: bool) -> Value {
    ExampleBuilder { document, brief }.example_for(schema, "", 0)
}

struct ExampleBuilder<'a> {
    document: &'a Value,
    brief: bool,
}

impl ExampleBuilder<'_> {
    fn example_for(&self, schema: &Value, name: &str, depth: usize) -> Value {
        let schema = resolve_ref(schema, self.document);
        if let Some(given) = schema.get("example") {
            return given.clone();
        }
        if depth > DEEPEST {
            return Value::Null;
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.joined(parts, depth);
        }
        for choice in ["oneOf", "anyOf"] {
            let parts = schema.get(choice).and_then(Value::as_array);
            let parts = parts.into_iter().flatten();
            let mut real = parts.filter(|it| it.get("type") != Some(&json!("null")));
            if let Some(first) = real.next() {
                return self.example_for(first, name, depth + 1);
            }
        }
        if let Some(first) = schema.pointer("/enum/0") {
            return first.clone();
        }
        self.example_for_type(schema, name, depth)
    }

    fn example_for_type(&self, schema: &Value, name: &str, depth: usize) -> Value {
        let kinds = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(kind)) => vec![kind.as_str()],
            _ => vec![],
        };
        match kinds.first().copied().unwrap_or("object") {
            "string" => text(schema, name),
            "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
            "boolean" => json!(name == "success"),
            "array" => {
                let items = schema.get("items").unwrap_or(&Value::Null);
                json!([self.example_for(items, name, depth + 1)])
            }
            "null" => Value::Null,
            _ => self.object(schema, depth),
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|it| it.iter().any(|it| it == name));
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut object = Map::new();
        for (name, field) in properties.into_iter().flatten() {
            if !self.brief || is_required(name) {
                object.insert(name.clone(), self.example_for(field, name, depth + 1));
            }
        }
        Value::Object(object)
    }

    fn joined(&self, parts: &[Value], depth: usize) -> Value {
        let mut object = Map::new();
        for part in parts {
            if let Value::Object(fields) = self.example_for(part, "", depth + 1) {
                object.extend(fields);
            }
        }
        Value::Object(object)
    }
}

fn text(schema: &Value, name: &str) -> Value {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    match (format, name) {
        ("date-time", _) => json!("2026-02-21T06:19:00Z"),
        (_, "project_id") => json!("3f2a9c0d1e5b7a64"),
        (_, "token") => json!("0195281f-7c1e-7d2b-9a3f-2f6d3c1b5a40"),
        (_, "tool_name") => json!("execute_command"),
        (_, "message_id") => json!("0195281f-6f00-7d2b-9a3f-2f6d3c1b5a40.1"),
        (_, "tool_use_id") => json!("toolu_01ABC123"),
        (_, name) if name.ends_with("_id") => json!("0195281f-6f00-7d2b-9a3f-2f6d3c1b5a40"),
        (_, "root") => json!("/home/ana/shop"),
        (_, "decided_by") => json!("ana"),
        (_, "digest") => json!("9f86d081884c7d65…"),
        (_, "next_cursor" | "feedback" | "hint" | "asked_again") => Value::Null,
        _ => json!("…"),
    }
}
