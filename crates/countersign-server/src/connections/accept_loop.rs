//! Serving connections: from the listener to the last answer.

use std::convert::Infallible;
use std::future::Future;
use std::io::Write;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use countersign_gate::{Clock, time_after};
use futures_util::{StreamExt, stream};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use super::{ConnectionTable, HttpConnection};

/// How long to wait when no connection can be accepted: most likely too many files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// What a connection is told that finds no place.
const NO_PLACE: &str = concat!(
    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n",
    "Content-Type: application/json\r\nContent-Length: 160\r\n\r\n",
    r#"{"success":false,"error":{"code":"too_many_connections","message":"#,
    r#""all connections this server takes are in use","hint":"close some, or try again in a second"}}"#,
);

/// Serves connections until `stop` is done, and returns when the last one has ended.
pub(crate) async fn serve_connections(
    listener: TcpListener,
    router: Router,
    table: Arc<ConnectionTable>,
    clock: Arc<dyn Clock>,
    stop: impl Future<Output = ()>,
) {
    // Everything is made ready once: the parts would else be copied for each connection, some 60 KB.
    let router = router.with_state::<()>(());
    let (tasks, stopping) = (TaskTracker::new(), CancellationToken::new());
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &table, &clock) => accepted,
            () = &mut stop => break,
        };
        if let Some((stream, connection)) = accepted {
            tasks.spawn(serve(stream, connection, router.clone(), stopping.clone()));
        }
    }
    drop(listener);
    stopping.cancel();
    tasks.close();
    tasks.wait().await;
}

/// Takes the next connection, if there is one and a place for it.
async fn accept(
    listener: &TcpListener,
    table: &Arc<ConnectionTable>,
    clock: &Arc<dyn Clock>,
) -> Option<(TcpStream, HttpConnection)> {
    let (stream, peer) = match listener.accept().await {
        Ok(accepted) => accepted,
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            clock.sleep_until(time_after(clock.now(), PAUSE)).await;
            return None;
        }
    };
    if let Some(connection) = table.admit(peer.ip()).await {
        return Some((stream, connection));
    }
    metrics::counter!("countersign_connections_refused_total").increment(1);
    // Whoever does not take it at once is not waited for.
    let _ = stream.into_std().and_then(|mut stream| stream.write(NO_PLACE.as_bytes()));
    None
}

async fn serve(
    stream: TcpStream,
    connection: HttpConnection,
    router: Router,
    stopping: CancellationToken,
) {
    let patience = connection.table.limits.head_patience;
    let connection = Arc::new(connection);
    let service = service_fn(|request| answer(router.clone(), connection.clone(), request));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(patience);
    let serving = builder.serve_connection(TokioIo::new(stream), service).with_upgrades();
    let mut serving = pin!(serving);
    let mut is_stopping = false;
    loop {
        tokio::select! {
            served = serving.as_mut() => {
                if let Err(error) = served {
                    tracing::trace!(%error, "a connection broke off");
                }
                break;
            }
            () = connection.closing.cancelled() => break,
            () = stopping.cancelled(), if !is_stopping => {
                is_stopping = true;
                serving.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Answers one request, and says `Connection: close` if its body was not read to the end.
async fn answer(
    mut router: Router,
    connection: Arc<HttpConnection>,
    request: Request<Incoming>,
) -> Result<Response, Infallible> {
    connection.begin_request();
    let (mut request, body_ended) = watch_body(request);
    request.extensions_mut().insert(connection.clone());
    let mut response = Service::call(&mut router, request).await?;
    if !body_ended.load(Ordering::Relaxed) {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    if is_event_stream(&response) {
        connection.set_aside();
    } else {
        connection.finish_request();
    }
    Ok(response)
}

/// Returns the request with a body of which it is known whether it was read to the end.
fn watch_body(request: Request<Incoming>) -> (Request, Arc<AtomicBool>) {
    let ended = Arc::new(AtomicBool::new(request.body().is_end_stream()));
    if ended.load(Ordering::Relaxed) {
        return (request.map(Body::new), ended);
    }
    let noted = ended.clone();
    let request = request.map(|body| {
        let end = stream::poll_fn(move |_| {
            noted.store(true, Ordering::Relaxed);
            Poll::Ready(None)
        });
        Body::from_stream(Body::new(body).into_data_stream().chain(end))
    });
    (request, ended)
}

fn is_event_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_is_as_long_as_it_says() {
        let (head, body) = NO_PLACE.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{}", body.len());
        assert!(serde_json::from_str::<serde_json::Value>(body).is_ok());
    }
}
