//! The description of the API, made from the code.

use axum::Json;
use countersign_api::approval_request::ApprovalRequest;
use countersign_api::audit::{AuditEntry, AuditList};
use countersign_api::error::{ErrorBody, ErrorView};
use countersign_api::rule::{NewRules, RuleList, TrustedContent};
use countersign_api::rule_check::{CheckView, CheckedCall};
use countersign_api::rule_simulation::{SimulatedRules, SimulationView};
use countersign_api::session::{SessionList, SessionView};
use countersign_api::socket::command::ClientCommand;
use countersign_api::socket::message::ServerMessage;
use countersign_api::stream::StreamEvent;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as OpenApiDocument;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};

use crate::chat::stream;
use crate::rules::{check, simulate};
use crate::sessions::messages;
use crate::tools::{available, calls, executions, lease, preimage, result};
use crate::{
    approvals, audit, chat, diffs, docs, health, identity, projects, rules, sessions,
    sign_in_links, undo,
};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Countersign",
        description = "The gate between AI agents and the machines they act on. The WebSocket at \
                       `/api/terminal/ws/agent` takes `ClientCommand`s and sends `ServerMessage`s."
    ),
    paths(
        get,
        docs::get,
        health::healthz,
        health::readyz,
        health::metrics,
        identity::prove,
        sign_in_links::make,
        projects::list,
        projects::make,
        projects::get,
        projects::change,
        chat::send,
        stream::listen,
        sessions::list,
        messages::list,
        sessions::interrupt,
        approvals::list_all,
        approvals::list,
        approvals::get,
        approvals::approve,
        approvals::reject,
        diffs::get,
        available::list,
        executions::list,
        calls::hand_in,
        calls::get,
        result::report,
        lease::hold,
        preimage::show,
        undo::look_at_call,
        undo::undo_call,
        undo::look_at_run,
        undo::undo_run,
        audit::list,
        rules::list,
        rules::replace,
        rules::revoke,
        rules::trust,
        check::check,
        simulate::simulate,
    ),
    components(schemas(
        ErrorBody,
        ErrorView,
        SessionList,
        SessionView,
        AuditList,
        AuditEntry,
        NewRules,
        TrustedContent,
        RuleList,
        CheckedCall,
        CheckView,
        SimulatedRules,
        SimulationView,
        ClientCommand,
        ServerMessage,
        StreamEvent,
        ApprovalRequest,
    ))
)]
struct ApiDescription;

/// Returns the OpenAPI document.
pub fn document() -> OpenApiDocument {
    let mut document = ApiDescription::openapi();
    add_security_schemes(&mut document);
    for (path, item) in &mut document.paths.paths {
        let methods =
            [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        for operation in methods.into_iter().flatten() {
            operation.security = Some(credentials(path));
            rewrite_summary(operation);
        }
    }
    document
}

/// Describes what opens the door.
fn add_security_schemes(document: &mut OpenApiDocument) {
    let components = document.components.get_or_insert_default();
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
    let bearer = bearer.description(Some("`countersign token create`, or `serve --token`")).build();
    let cookie = ApiKeyValue::with_description(
        "countersign_4180",
        "What the page gets when somebody signs in; the name ends in the server's port.",
    );
    let page = ApiKeyValue::with_description(
        "X-Countersign-Session",
        "The secret that the page keeps for its own origin; the cookie is nothing without it.",
    );
    let token = ApiKeyValue::with_description("token", "Only on the stream and the WebSocket.");
    for (name, scheme) in [
        ("bearer", SecurityScheme::Http(bearer)),
        ("cookie", SecurityScheme::ApiKey(ApiKey::Cookie(cookie))),
        ("page", SecurityScheme::ApiKey(ApiKey::Header(page))),
        ("token", SecurityScheme::ApiKey(ApiKey::Query(token))),
    ] {
        components.add_security_scheme(name, scheme);
    }
}

/// Returns what opens a path; nothing is needed for what is not a project's.
fn credentials(path: &str) -> Vec<SecurityRequirement> {
    let needs = |name: &str| SecurityRequirement::new(name, Vec::<String>::new());
    let stream = path.ends_with("/chat/stream").then(|| needs("token"));
    let page = needs("cookie").add("page", Vec::<String>::new());
    let needed = [needs("bearer"), page].into_iter().chain(stream);
    needed.filter(|_| path.starts_with("/my/")).collect()
}

/// The comment on a handler begins with its path, which the document has already, and may go on for
/// more than a sentence.
fn rewrite_summary(operation: &mut Operation) {
    let Some(told) = operation.summary.take() else { return };
    let told = told.split_once("`: ").map_or(told.as_str(), |(_, told)| told).replace('\n', " ");
    let (summary, rest) = told.split_once(". ").unwrap_or((told.trim_end_matches('.'), ""));
    let mut letters = summary.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    operation.summary = Some(format!("{}{}", first.unwrap_or_default(), letters.as_str()));
    let more = operation.description.take().unwrap_or_default();
    let parts: Vec<_> =
        [rest.trim(), more.trim()].into_iter().filter(|it| !it.is_empty()).collect();
    operation.description = (!parts.is_empty()).then(|| parts.join("\n\n"));
}

/// `GET /openapi.json`: this API for programs.
#[utoipa::path(get, operation_id = "openapi", tag = "description", path = "/openapi.json", responses((status = 200, body = Object)))]
pub(crate) async fn get() -> Json<OpenApiDocument> {
    Json(document())
}
