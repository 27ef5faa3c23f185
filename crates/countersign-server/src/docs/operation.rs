//! One operation of the API: what it takes, what it answers, and a line to try it with.

use serde_json::{Map, Value};

use super::example::example;
use super::html::{HtmlPage, breakable, escape_html, render_inline, render_paragraphs};
use super::schema::{fields, kind, resolve_ref};

/// One operation, as the document has it.
pub(super) struct ApiOperation<'a> {
    pub(super) tag: &'a str,
    method: String,
    path: &'a str,
    described: &'a Value,
}

/// Returns all operations in the order of the document.
pub(super) fn all(document: &Value) -> Vec<ApiOperation<'_>> {
    let paths = document.get("paths").and_then(Value::as_object);
    let mut operations = Vec::new();
    for (path, methods) in paths.into_iter().flatten() {
        for (method, described) in methods.as_object().into_iter().flatten() {
            let tag = described.pointer("/tags/0").and_then(Value::as_str).unwrap_or_default();
            operations.push(ApiOperation { tag, method: method.to_uppercase(), path, described });
        }
    }
    operations
}

impl ApiOperation<'_> {
    fn text(&self, key: &str) -> &str {
        self.described.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns its line in the contents.
    pub(super) fn link(&self) -> String {
        let (id, method) = (escape_html(self.text("operationId")), &self.method);
        let short = self.path.strip_prefix("/my/projects/{project_id}").unwrap_or(self.path);
        let short = if short.is_empty() { "/{project_id}" } else { short };
        let short = breakable(short);
        let class = method.to_lowercase();
        format!(
            "<li><a href=\"#{id}\"><b class=\"method {class}\">{method}</b> <code>{short}</code></a></li>"
        )
    }

    pub(super) fn write(&self, page: &mut HtmlPage, document: &Value) {
        let (id, method, path) = (escape_html(self.text("operationId")), &self.method, self.path);
        let class = method.to_lowercase();
        page.line(&format!("<section id=\"{id}\" aria-labelledby=\"{id}-title\">"));
        page.line(&format!(
            "<h3 id=\"{id}-title\"><b class=\"method {class}\">{method}</b> <code>{}</code> \
             <a class=\"here\" href=\"#{id}\" aria-label=\"Link to this operation\">#</a></h3>",
            escape_html(path)
        ));
        page.line(&format!("<p class=\"summary\">{}</p>", render_inline(self.text("summary"))));
        page.line(&render_paragraphs(self.text("description")));
        self.write_parameters(page);
        self.write_body(page, document);
        self.write_responses(page, document);
        page.line("<h4>Try it</h4>");
        page.code(&self.curl(document));
        page.line("</section>");
    }

    fn write_parameters(&self, page: &mut HtmlPage) {
        let parameters = self.described.get("parameters").and_then(Value::as_array);
        let Some(parameters) = parameters.filter(|it| !it.is_empty()) else { return };
        page.line("<h4>Parameters</h4><table><thead><tr><th>name<th>in<th>type<th>meaning</thead>");
        for parameter in parameters {
            let text = |key: &str| parameter.get(key).and_then(Value::as_str).unwrap_or_default();
            let is_required = parameter.get("required").and_then(Value::as_bool).unwrap_or(false);
            let required = if is_required { " <em>required</em>" } else { "" };
            let schema = parameter.get("schema").unwrap_or(&Value::Null);
            page.line(&format!(
                "<tr><td><code>{}</code>{required}<td>{}<td>{}<td>{}",
                escape_html(text("name")),
                escape_html(text("in")),
                kind(schema),
                render_inline(text("description")),
            ));
        }
        page.line("</table>");
    }

    fn body(&self) -> Option<&Value> {
        self.described.pointer("/requestBody/content/application~1json/schema")
    }

    fn write_body(&self, page: &mut HtmlPage, document: &Value) {
        let Some(schema) = self.body() else { return };
        page.line(&format!("<h4>Body <small>{}</small></h4>", kind(schema)));
        page.line(&render_paragraphs(description(resolve_ref(schema, document))));
        fields(page, schema, document);
        write_example(page, schema, document);
    }

    fn write_responses(&self, page: &mut HtmlPage, document: &Value) {
        let Some(responses) = self.described.get("responses").and_then(Value::as_object) else {
            return;
        };
        page.line("<h4>Responses</h4><table><thead><tr><th>status<th>body<th>meaning</thead>");
        for (status, response) in responses {
            let why = response.get("description").and_then(Value::as_str).unwrap_or_default();
            let body = content(response).map(|(media, schema)| {
                let kind = kind(schema);
                if media == "application/json" { kind } else { format!("{kind} ({media})") }
            });
            let class = status.chars().next().unwrap_or('0');
            page.line(&format!(
                "<tr><td><b class=\"status s{class}\">{status}</b><td>{}<td>{}",
                body.unwrap_or_default(),
                render_inline(why),
            ));
        }
        page.line("</table>");
        let good = responses.iter().find(|(status, _)| status.starts_with('2'));
        if let Some(("application/json", schema)) = good.and_then(|(_, it)| content(it)) {
            write_example(page, schema, document);
        }
    }

    /// Returns a line that can be pasted into a shell.
    fn curl(&self, document: &Value) -> String {
        let mut line = "curl".to_owned();
        if self.path.ends_with("/stream") {
            line.push_str(" -N");
        }
        if self.path.starts_with("/my/") {
            line.push_str(" -H \"Authorization: Bearer $COUNTERSIGN_TOKEN\"");
        }
        let says_itself = self.method == "GET" || (self.method == "POST" && self.body().is_some());
        if !says_itself {
            line.push_str(" -X ");
            line.push_str(&self.method);
        }
        if let Some(schema) = self.body() {
            let body = example(schema, document, true).to_string().replace('\'', r"'\''");
            line.push_str(" \\\n  -d '");
            line.push_str(&body);
            line.push('\'');
        }
        let path = self.path.replace("{project_id}", "default");
        let path = path.split('/').map(|segment| {
            let name = segment.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
            name.map_or(segment.to_owned(), |name| format!("${}", name.to_uppercase()))
        });
        let path = path.collect::<Vec<_>>().join("/");
        if path.ends_with("/stream") {
            // Who pastes this wants to look, and takes no call from a client.
            return format!("{line} \\\n  'http://127.0.0.1:4180{path}?executor=none'");
        }
        format!("{line} \\\n  http://127.0.0.1:4180{path}")
    }
}

fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

fn content(response: &Value) -> Option<(&str, &Value)> {
    let content: &Map<String, Value> = response.get("content")?.as_object()?;
    let (media, content) = content.iter().next()?;
    Some((media, content.get("schema")?))
}

fn write_example(page: &mut HtmlPage, schema: &Value, document: &Value) {
    let example = example(schema, document, false);
    let text = serde_json::to_string_pretty(&example).unwrap_or_default();
    page.line("<details><summary>Example</summary>");
    page.code(&text);
    page.line("</details>");
}
