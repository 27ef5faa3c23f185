//! Schemas of the API in words: what a value is, which fields it has, and the events of the stream.

use std::fmt::Write as _;

use serde_json::Value;

use super::example::example;
use super::html::{HtmlPage, escape_html, render_inline, render_paragraphs};

/// Where a reference leads.
const SCHEMAS: &str = "#/components/schemas/";

/// Returns what a reference stands for, or the schema itself.
pub(super) fn resolve_ref<'a>(schema: &'a Value, document: &'a Value) -> &'a Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix(SCHEMAS));
    let found = name.and_then(|name| document.pointer("/components/schemas")?.get(name));
    found.unwrap_or(schema)
}

/// Returns what a value is, in a word or a link.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let name = escape_html(name.strip_prefix(SCHEMAS).unwrap_or(name));
        return format!("<a href=\"#schema-{name}\">{name}</a>");
    }
    for joined in ["oneOf", "anyOf", "allOf"] {
        if let Some(parts) = schema.get(joined).and_then(Value::as_array) {
            let kinds: Vec<_> = parts.iter().map(kind).collect();
            return kinds.join(if joined == "allOf" { " and " } else { " or " });
        }
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words =
            words.iter().map(|word| format!("<code>{}</code>", escape_html(&word.to_string())));
        return words.collect::<Vec<_>>().join(" or ");
    }
    let names = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(name)) => vec![name.as_str()],
        _ => vec!["any"],
    };
    let words = names.iter().map(|name| match *name {
        "array" => {
            let of = schema.get("items").map(kind).unwrap_or_default();
            format!("list of {of}")
        }
        name => name.to_owned(),
    });
    let mut text = words.collect::<Vec<_>>().join(" or ");
    if let Some(format) = schema.get("format").and_then(Value::as_str)
        && !format.starts_with("int")
    {
        let _ = write!(text, " ({})", escape_html(format));
    }
    text.push_str(&limits(schema));
    text
}

fn limits(schema: &Value) -> String {
    let limit = |key: &str, sign: &str| {
        schema.get(key).filter(|it| it.is_number()).map(|number| format!("{sign} {number}"))
    };
    let limits = [
        limit("minimum", "≥"),
        limit("maximum", "≤"),
        limit("minLength", "length ≥"),
        limit("maxLength", "length ≤"),
    ];
    let limits: Vec<_> = limits.into_iter().flatten().filter(|it| it != "≥ 0").collect();
    if limits.is_empty() { String::new() } else { format!(" <small>{}</small>", limits.join(", ")) }
}

/// Writes the fields of an object, those of its parts included.
pub(super) fn fields(page: &mut HtmlPage, schema: &Value, document: &Value) {
    let mut found = Vec::new();
    gather(schema, document, &mut found);
    if found.is_empty() {
        return;
    }
    page.line("<table><thead><tr><th>field<th>type<th>meaning</thead>");
    for (name, field, is_required) in found {
        let required = if is_required { " <em>required</em>" } else { "" };
        page.line(&format!(
            "<tr><td><code>{}</code>{required}<td>{}<td>{}",
            escape_html(name),
            kind(field),
            render_inline(meaning(field))
        ));
    }
    page.line("</table>");
}

/// Returns what is said of a field: beside it, or beside the one thing it can be if it is not null.
fn meaning(field: &Value) -> &str {
    let parts = ["oneOf", "allOf"].iter().filter_map(|joined| field.get(joined)?.as_array());
    let mut all = std::iter::once(field).chain(parts.flatten());
    all.find_map(|it| it.get("description")?.as_str()).unwrap_or_default()
}

fn gather<'a>(schema: &'a Value, document: &'a Value, found: &mut Vec<(&'a str, &'a Value, bool)>) {
    let schema = resolve_ref(schema, document);
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        gather(part, document, found);
    }
    let required = schema.get("required").and_then(Value::as_array);
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, field) in properties.into_iter().flatten() {
        let is_required = required.is_some_and(|it| it.iter().any(|it| it == name.as_str()));
        found.push((name, field, is_required));
    }
}

/// Returns the events of the stream, each with what describes it.
pub(super) fn events(document: &Value) -> Vec<(String, &Value)> {
    let all = document.pointer("/components/schemas/StreamEvent/oneOf").and_then(Value::as_array);
    let named = |event: &'_ Value| {
        let name = event.pointer("/properties/event/enum/0").and_then(Value::as_str);
        name.map(str::to_owned)
    };
    all.into_iter().flatten().filter_map(|event| Some((named(event)?, event))).collect()
}

pub(super) fn write_events(page: &mut HtmlPage, document: &Value) {
    page.line("<h2 id=\"events\">events</h2><p class=\"about\">");
    page.line(&render_inline(
        "What `GET …/chat/stream` sends: the name stands in `event:`, the data in `data:`.",
    ));
    page.line("</p>");
    for (name, event) in events(document) {
        let id = escape_html(&name);
        let about = event.get("description").and_then(Value::as_str).unwrap_or_default();
        page.line(&format!("<section id=\"event-{id}\"><h3><code>{id}</code></h3>"));
        page.line(&render_paragraphs(about));
        if let Some(data) = event.pointer("/properties/data") {
            fields(page, data, document);
            let text = serde_json::to_string(&example(data, document, false)).unwrap_or_default();
            let text = format!("id: 417\nevent: {name}\ndata: {text}");
            page.line("<details class=\"wrap\"><summary>Example</summary>");
            page.code(&text);
            page.line("</details>");
        }
        page.line("</section>");
    }
}

pub(super) fn write_all(page: &mut HtmlPage, document: &Value) {
    page.line("<h2 id=\"schemas\">schemas</h2>");
    let schemas = document.pointer("/components/schemas").and_then(Value::as_object);
    for (name, schema) in schemas.into_iter().flatten() {
        let id = escape_html(name);
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        page.line(&format!("<section id=\"schema-{id}\"><h3>{id}</h3>"));
        page.line(&render_paragraphs(about));
        let has_fields = schema.get("properties").is_some() || schema.get("allOf").is_some();
        if has_fields {
            fields(page, schema, document);
        } else {
            page.line(&format!("<p>{}</p>", kind(schema)));
        }
        page.line("</section>");
    }
}
