//! The description of the API, made from the code.

use axum::Json;
use utoipa::OpenApi;

use crate::error::{ErrorBody, ErrorView};
use crate::rules::{check, simulate, view};
use crate::sessions::{SessionList, SessionView};
use crate::socket::{command, message, request};
use crate::{audit, diffs, health, rules, sessions};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Countersign",
        description = "The gate between AI agents and the machines they act on. The WebSocket at \
                       `/api/terminal/ws/agent` takes `ClientCommand`s and sends `ServerMessage`s."
    ),
    paths(
        health::healthz,
        health::readyz,
        health::metrics,
        diffs::get,
        sessions::list,
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
        audit::AuditList,
        audit::AuditEntry,
        rules::NewRules,
        rules::TrustedContent,
        view::RuleList,
        check::CheckedCall,
        check::CheckView,
        simulate::SimulatedRules,
        simulate::SimulationView,
        command::ClientCommand,
        message::ServerMessage,
        request::ApprovalRequest,
    ))
)]
struct Api;

/// Returns the OpenAPI document.
pub fn document() -> utoipa::openapi::OpenApi {
    Api::openapi()
}

/// `GET /openapi.json`: this description.
pub(crate) async fn get() -> Json<utoipa::openapi::OpenApi> {
    Json(document())
}
