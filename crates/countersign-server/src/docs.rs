//! `GET /docs`: the description of the API as a page for people, written once from the document.
//!
//! No script and nothing from elsewhere: it can be read behind any door, and searched by the browser.

mod example;
mod html;
mod operation;
mod schema;

use std::sync::LazyLock;

use axum::http::header;
use axum::response::{Html, IntoResponse};
use serde_json::Value;

use self::html::{HtmlPage, escape_html, render_paragraphs};
use crate::openapi;

static PAGE: LazyLock<String> = LazyLock::new(|| {
    let document = serde_json::to_value(openapi::document()).unwrap_or_default();
    page(&document)
});

const STYLE: &str = include_str!("docs/style.css");

/// What comes first, and what it is about.
const TAGS: [(&str, &str); 9] = [
    ("projects", "Workspaces whose calls, rules and events belong together."),
    ("chat", "A message starts the agent; the stream tells what it does."),
    ("approvals", "What waits for a person, and what they say to it."),
    ("tools", "What can be called, what was, and calls that run elsewhere."),
    ("undo", "What calls did to files, shown the other way round and put back."),
    ("rules", "What runs without asking, what asks, what never runs."),
    ("audit", "What was decided and what ran, sealed row by row."),
    ("health", "For machines that watch machines. No credential."),
    ("description", "This description. No credential."),
];

/// `GET /docs`: this API for people.
#[utoipa::path(get, operation_id = "docs", tag = "description", path = "/docs", responses((status = 200, body = String, content_type = "text/html")))]
pub(crate) async fn get() -> impl IntoResponse {
    ([(header::CACHE_CONTROL, "no-cache")], Html(PAGE.as_str()))
}

/// `GET /docs/style.css`: how it looks.
pub(crate) async fn style() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")],
        STYLE,
    )
}

fn page(document: &Value) -> String {
    let operations = operation::all(document);
    let mut page = HtmlPage::default();
    page.line("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">");
    page.line("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    page.line("<title>Countersign API</title><link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"/docs/style.css\">");
    page.line(
        "</head><body><nav aria-label=\"Contents\"><h2><a href=\"#top\">Countersign API</a></h2>",
    );
    page.line("<ul><li><a href=\"#start\">Start here</a></li></ul>");
    for (tag, _) in TAGS {
        page.line(&format!("<h3><a href=\"#tag-{tag}\">{tag}</a></h3><ul>"));
        for operation in operations.iter().filter(|it| it.tag == tag) {
            page.line(&operation.link());
        }
        page.line("</ul>");
    }
    page.line("<h3><a href=\"#events\">events</a></h3><ul>");
    for (name, _) in schema::events(document) {
        let name = escape_html(&name);
        page.line(&format!("<li><a href=\"#event-{name}\"><code>{name}</code></a></li>"));
    }
    page.line("</ul><h3><a href=\"#schemas\">schemas</a></h3></nav><main id=\"top\">");
    start(&mut page, document);
    for (tag, about) in TAGS {
        page.line(&format!("<h2 id=\"tag-{tag}\">{tag}</h2><p class=\"about\">{about}</p>"));
        for operation in operations.iter().filter(|it| it.tag == tag) {
            operation.write(&mut page, document);
        }
    }
    schema::write_events(&mut page, document);
    schema::write_all(&mut page, document);
    page.line("</main></body></html>");
    page.into_text()
}

fn start(page: &mut HtmlPage, document: &Value) {
    let info = |key: &str| document.pointer(&format!("/info/{key}")).and_then(Value::as_str);
    let version = escape_html(info("version").unwrap_or_default());
    page.line(&format!("<h1>Countersign API <small>{version}</small></h1>"));
    page.line(&render_paragraphs(info("description").unwrap_or_default()));
    page.line("<h2 id=\"start\">Start here</h2>");
    for text in START {
        page.line(&render_paragraphs(text));
    }
    page.code(FIRST);
}

const START: [&str; 6] = [
    "Everything under `/my/` needs a credential: `Authorization: Bearer TOKEN` (`countersign serve \
     --token`), or the cookie that the page gets when somebody signs in. The stream and the \
     WebSocket also take `?token=`, since a browser cannot send headers there.",
    "`default` stands for the first project. Bodies are JSON, whatever they say they are, and have \
     4 MiB at the most (results of tools 24 MiB). Unknown fields are refused on decisions and ignored \
     elsewhere. Times are ISO 8601 in UTC.",
    "Errors are `{\"success\":false,\"error\":{\"code\",\"message\",\"hint\"?}}`: branch on the code, show \
     the message. A 409 brings what stands beside it, as `approval` or `execution`. An address that \
     leads nowhere is 404, also where an id is none; a method it does not take is 405.",
    "Lists are `{\"success\":true,\"<noun>s\":[…],\"next_cursor\"}` with `?cursor=` and `?limit=`; there \
     is no next page where `next_cursor` is null.",
    "Another agent: hand a call in (`POST …/tools/calls`), wait (`GET …/tools/{tool_id}?wait_seconds=`), \
     run it once it is `approved`, report (`POST …/tools/{tool_id}/result`).",
    "A client that runs the tools of our agent: listen (`GET …/chat/stream`), run what \
     `tool.execution_signal` says, report. The machine-readable description is at `/openapi.json`.",
];

const FIRST: &str = "\
curl -N -H \"Authorization: Bearer $COUNTERSIGN_TOKEN\" \\
  'http://127.0.0.1:4180/my/projects/default/chat/stream?executor=none' &
curl -H \"Authorization: Bearer $COUNTERSIGN_TOKEN\" \\
  -d '{\"content\":\"Run the tests\",\"executor\":\"local\"}' \\
  http://127.0.0.1:4180/my/projects/default/chat/messages";

#[cfg(test)]
mod tests;
