//! Health and metrics: for machines that watch machines, without a credential.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;

use crate::app::App;

/// `GET /healthz`: the process answers.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = String, content_type = "text/plain")))]
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: the database answers too.
#[utoipa::path(get, path = "/readyz", responses(
    (status = 200, body = String, content_type = "text/plain"),
    (status = 503, body = String, content_type = "text/plain"),
))]
pub(crate) async fn readyz(State(app): State<App>) -> impl IntoResponse {
    let ready = match app.projects.get("default") {
        Ok((project, _)) => app.gate.store().head(&project.id).await.is_ok(),
        Err(_) => false,
    };
    if ready && !app.stopping.is_cancelled() {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
    }
}

/// `GET /metrics`: counters in Prometheus' text format.
#[utoipa::path(get, path = "/metrics", responses((status = 200, body = String, content_type = "text/plain")))]
pub(crate) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], (app.metrics)())
}
