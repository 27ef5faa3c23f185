//! The router: every path on one page.

use axum::Router;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{delete, get, post};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::set_header::SetResponseHeaderLayer;

use crate::access::check_access;
use crate::app::App;
use crate::chat::stream;
use crate::error::ApiError;
use crate::error_body::fill_error_body;
use crate::guard::{HostGuard, check_host_and_origin};
use crate::request_log::log_request;
use crate::rules::{check, simulate};
use crate::sessions::messages;
use crate::tools::{available, calls, executions, lease, preimage, result};
use crate::{
    approvals, audit, chat, diffs, docs, health, identity, openapi, page, projects, rules,
    sessions, sign_in_links, sign_in_page, socket, undo,
};

/// Scripts, styles and connections only from here; nothing may frame the page.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                   font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; \
                   frame-ancestors 'none'";

pub(crate) fn router(app: App, hosts: HostGuard) -> Router {
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .route("/openapi.json", get(openapi::get))
        .route("/docs", get(docs::get))
        .route("/docs/style.css", get(docs::style))
        .route("/identity", post(identity::prove))
        .route("/sign-in", get(sign_in_page::show).post(sign_in_page::sign_in))
        .route("/sign-in/style.css", get(sign_in_page::style))
        .route("/sign-in/links", post(sign_in_links::make))
        .route("/", get(page::root))
        .route("/agent", get(page::agent))
        .route("/agent/{session}", get(page::agent))
        .route("/history", get(page::agent))
        .route("/settings", get(page::agent))
        .route("/rules", get(page::agent))
        .route("/rules/{view}", get(page::agent))
        .route("/assets/{*path}", get(page::asset))
        .route("/my/projects", get(projects::list).post(projects::make))
        .route("/my/approvals", get(approvals::list_all))
        .merge(project_routes())
        .route(countersign_api::socket::PATH, get(socket::upgrade))
        .fallback(async || ApiError::not_found("there is nothing at this address"))
        .method_not_allowed_fallback(async || ApiError::wrong_method())
        .layer(from_fn_with_state(app.clone(), fill_error_body))
        .layer(from_fn_with_state(app.clone(), check_access))
        .layer(CompressionLayer::new())
        .layer(header(CONTENT_SECURITY_POLICY, CSP))
        .layer(header(X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header(X_FRAME_OPTIONS, "DENY"))
        // The sign-in page has its own: see there.
        .layer(SetResponseHeaderLayer::if_not_present(
            REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        ))
        .layer(from_fn_with_state(hosts, check_host_and_origin))
        .layer(CatchPanicLayer::new())
        .layer(from_fn(log_request))
        .with_state(app)
}

/// What there is of one project. Not nested: handlers look at the whole path.
fn project_routes() -> Router<App> {
    Router::new()
        .route("/my/projects/{project_id}", get(projects::get).patch(projects::change))
        .route("/my/projects/{project_id}/chat/messages", post(chat::send))
        .route("/my/projects/{project_id}/chat/stream", get(stream::listen))
        .route("/my/projects/{project_id}/sessions", get(sessions::list))
        .route("/my/projects/{project_id}/sessions/{session_id}/messages", get(messages::list))
        .route(
            "/my/projects/{project_id}/sessions/{session_id}/interrupt",
            post(sessions::interrupt),
        )
        .route("/my/projects/{project_id}/approvals", get(approvals::list))
        .route("/my/projects/{project_id}/approvals/{approval_id}", get(approvals::get))
        .route(
            "/my/projects/{project_id}/approvals/{approval_id}/approve",
            post(approvals::approve),
        )
        .route("/my/projects/{project_id}/approvals/{approval_id}/reject", post(approvals::reject))
        .route("/my/projects/{project_id}/approvals/{approval_id}/diff", get(diffs::get))
        .route("/my/projects/{project_id}/tools/available", get(available::list))
        .route("/my/projects/{project_id}/tools/executions", get(executions::list))
        .route("/my/projects/{project_id}/tools/calls", post(calls::hand_in))
        .route("/my/projects/{project_id}/tools/{tool_id}", get(calls::get))
        .route("/my/projects/{project_id}/tools/{tool_id}/result", post(result::report))
        .route("/my/projects/{project_id}/tools/{tool_id}/lease", post(lease::hold))
        .route("/my/projects/{project_id}/tools/{tool_id}/preimage", post(preimage::show))
        .route(
            "/my/projects/{project_id}/tools/{tool_id}/undo",
            get(undo::look_at_call).post(undo::undo_call),
        )
        .route(
            "/my/projects/{project_id}/runs/{run_id}/undo",
            get(undo::look_at_run).post(undo::undo_run),
        )
        .route("/my/projects/{project_id}/rules", get(rules::list).put(rules::replace))
        .route("/my/projects/{project_id}/rules/check", post(check::check))
        .route("/my/projects/{project_id}/rules/simulate", post(simulate::simulate))
        .route("/my/projects/{project_id}/rules/trust", post(rules::trust))
        .route("/my/projects/{project_id}/rules/{rule_id}", delete(rules::revoke))
        .route("/my/projects/{project_id}/audit", get(audit::list))
}

fn header(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
}
