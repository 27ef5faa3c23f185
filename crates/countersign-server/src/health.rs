//! Health and metrics: for machines that watch machines, without a credential.

use countersign_api::error::ErrorBody;
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use countersign_gate::StoreError;
use tokio::time::timeout;

use crate::app::App;

/// How long whoever collects the metrics waits for a number from the database.
const COUNTING: Duration = Duration::from_secs(1);

/// Who asks whether we are ready does not wait for long.
const PATIENCE: Duration = Duration::from_secs(2);

/// `GET /healthz`: the process answers.
#[utoipa::path(get, path = "/healthz", responses(
    (status = 200, body = String, content_type = "text/plain"),
    (status = 403, body = ErrorBody),
))]
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: the database answers too, and this server counts among those on it.
#[utoipa::path(get, path = "/readyz", responses(
    (status = 200, body = String, content_type = "text/plain"),
    (status = 403, body = ErrorBody),
    (status = 503, body = String, content_type = "text/plain"),
))]
pub(crate) async fn readyz(State(app): State<App>) -> impl IntoResponse {
    let not_ready = |why: String| (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n"));
    let Some(place) = app.projects.find("default") else {
        return not_ready("there is no project".to_owned());
    };
    match timeout(PATIENCE, app.gate.store().head(&place.0.id)).await {
        _ if app.stopping.is_cancelled() => not_ready("the server is stopping".to_owned()),
        _ if app.gate.is_fenced() => not_ready("another server has taken over".to_owned()),
        Err(_) => not_ready("the database does not answer".to_owned()),
        Ok(Err(error)) => not_ready(error.to_string()),
        Ok(Ok(_)) => (StatusCode::OK, "ready\n".to_owned()),
    }
}

/// `GET /metrics`: counters in Prometheus' text format, of this process but for what waits.
#[utoipa::path(get, path = "/metrics", responses(
    (status = 200, body = String, content_type = "text/plain"),
    (status = 403, body = ErrorBody),
))]
pub(crate) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let (pending, age) = match tokio::time::timeout(COUNTING, measure_queue(&app)).await {
        Ok(Ok(measured)) => measured,
        // Unknown is not none.
        Ok(Err(_)) | Err(_) => (f64::NAN, f64::NAN),
    };
    metrics::gauge!("countersign_pending").set(pending);
    metrics::gauge!("countersign_oldest_waiting_seconds").set(age);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], (app.metrics)())
}

/// Returns how many requests of our projects wait for a person, whichever server they came from, and
/// for how many seconds the oldest one has waited.
async fn measure_queue(app: &App) -> Result<(f64, f64), StoreError> {
    let (mut pending, mut oldest) = (0, app.gate.clock().now());
    let now = oldest;
    for project in app.projects.ids() {
        let waiting = app.gate.store().pending_count(&project).await?;
        pending += waiting;
        if waiting > 0
            && let Some(since) = app.gate.store().oldest_request_time(&project).await?
        {
            oldest = oldest.min(since);
        }
    }
    let pending = f64::from(u32::try_from(pending).unwrap_or(u32::MAX));
    Ok((pending, now.duration_since(oldest).as_secs_f64()))
}
