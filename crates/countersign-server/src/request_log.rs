//! One span and one line in the log for each request, and the id that both share with the answer.
//!
//! Of the address only the route is told, as the router has it: paths hold ids, and queries secrets.

use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use countersign_gate::{ACTIVITY, new_id};
use tracing::field::Empty;
use tracing::{Instrument, Span};
use uuid::Uuid;

/// The name under which the log has a line for each request.
const REQUEST: &str = "request";

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest request id that is taken over from a client.
const LONGEST_ID: usize = 128;

/// Answers a request within a span of its own, and says in the log how that went.
pub(crate) async fn log_request(request: Request, next: Next) -> Response {
    let id = request_id(request.headers());
    let span = request_span(&request, &id);
    let began = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    span.in_scope(|| log_answer(&response, began.elapsed()));
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// Returns the id that the client gives a request, or a new one if it gives none that can be told on.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let mut given = headers.get_all(REQUEST_ID).iter();
    match (given.next(), given.next()) {
        (Some(id), None) if is_well_formed(id.as_bytes()) => id.clone(),
        _ => HeaderValue::from_str(&new_id::<Uuid>().to_string())
            .unwrap_or(HeaderValue::from_static("unknown")),
    }
}

/// Whether an id is short, and harmless in a log whatever reads it.
fn is_well_formed(id: &[u8]) -> bool {
    let is_harmless = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    (1..=LONGEST_ID).contains(&id.len()) && id.iter().all(is_harmless)
}

fn request_span(request: &Request, id: &HeaderValue) -> Span {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    tracing::info_span!(
        target: ACTIVITY,
        "request",
        request_id = id.to_str().unwrap_or_default(),
        method = request.method().as_str(),
        route,
        status = Empty,
        duration_ms = Empty,
    )
}

fn log_answer(response: &Response, took: Duration) {
    let status = response.status().as_u16();
    if is_long_lived(response) {
        // How long it lasts shows when it ends, and not here.
        tracing::info!(target: REQUEST, status, "stream opened");
        Span::current().record("status", status);
        return;
    }
    // To the microsecond.
    let duration_ms = (took.as_secs_f64() * 1e6).round() / 1e3;
    if response.status().is_server_error() {
        tracing::warn!(target: REQUEST, status, duration_ms, "request failed");
    } else {
        tracing::info!(target: REQUEST, status, duration_ms, "request answered");
    }
    Span::current().record("status", status).record("duration_ms", duration_ms);
}

/// Whether an answer is the beginning of a WebSocket or an event stream.
fn is_long_lived(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    response.status() == StatusCode::SWITCHING_PROTOCOLS
        || kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_and_harmless_ids_are_taken_over() {
        let check = |id: &str, is_taken: bool| {
            let headers = HeaderMap::from_iter([(REQUEST_ID, HeaderValue::from_str(id).unwrap())]);
            assert_eq!(request_id(&headers) == id, is_taken, "{id}");
        };
        check("01a1e402-59b7-749a-b9d7-ef9261dea722", true);
        check("build_7.retry-2", true);
        check(&"a".repeat(LONGEST_ID), true);
        check(&"a".repeat(LONGEST_ID + 1), false);
        check("", false);
        check("two words", false);
        check("quoted\"", false);
        check("a=b", false);
        let two = [(REQUEST_ID, HeaderValue::from_static("a")), (REQUEST_ID, "b".parse().unwrap())];
        let mut headers = HeaderMap::new();
        for (name, id) in two {
            headers.append(name, id);
        }
        assert_eq!(request_id(&headers).to_str().unwrap().len(), 36, "which of them is unclear");
    }
}
