//! The page: files built by Vite, embedded in the binary, behind the sign-in.

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use rust_embed::{EmbeddedFile, RustEmbed};
use serde::Deserialize;

use crate::app::App;
use crate::caller::SignedInPerson;
use crate::error::ApiError;
use crate::sign_in_page::{self, SignInNotice};

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct EmbeddedAssets;

#[derive(Deserialize)]
pub(crate) struct PageTokenQuery {
    token: Option<String>,
}

/// `GET /`: the page is at `/agent`.
pub(crate) async fn root(
    query: Query<PageTokenQuery>,
    state: State<App>,
    headers: HeaderMap,
) -> Response {
    match &query.token {
        Some(_) => sign_in(query, &state, &headers).await,
        None => Redirect::to("/agent").into_response(),
    }
}

/// `GET /agent`: the page, or how to get in.
pub(crate) async fn agent(
    query: Query<PageTokenQuery>,
    state: State<App>,
    headers: HeaderMap,
    person: Result<SignedInPerson, ApiError>,
) -> Response {
    match (&query.token, person) {
        (Some(_), _) => sign_in(query, &state, &headers).await,
        (None, Ok(_)) => file("index.html"),
        (None, Err(_)) => sign_in_page::answer(&state, &headers, SignInNotice::None),
    }
}

/// `GET /assets/…`: what the page is made of.
pub(crate) async fn asset(_: SignedInPerson, Path(path): Path<String>) -> Response {
    file(&format!("assets/{path}"))
}

/// Exchanges the token in the address for a cookie and the page's own secret, and takes it out of the
/// address.
async fn sign_in(
    Query(query): Query<PageTokenQuery>,
    State(app): &State<App>,
    headers: &HeaderMap,
) -> Response {
    match app.sign_ins.exchange(&query.token.unwrap_or_default()).await {
        Ok(Some(secrets)) => sign_in_page::signed_in_response(app, headers, &secrets),
        Ok(None) => sign_in_page::answer(app, headers, SignInNotice::LinkIsVoid),
        Err(error) => error.into_response(),
    }
}

fn file(path: &str) -> Response {
    match EmbeddedAssets::get(path) {
        Some(file) => with_headers(path, file),
        None if path == "index.html" => {
            let why = "the page was not built into this binary; run `make web` and build again\n";
            (StatusCode::NOT_FOUND, why).into_response()
        }
        None => ApiError::not_found(format!("there is no `/{path}`")).into_response(),
    }
}

fn with_headers(path: &str, file: EmbeddedFile) -> Response {
    let mut headers = HeaderMap::new();
    if let Ok(kind) = file.metadata.mimetype().parse() {
        headers.insert(header::CONTENT_TYPE, kind);
    }
    // Names under `assets/` carry a hash of their content; the page itself must be asked for anew.
    let cached = if path.starts_with("assets/") {
        "private, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cached));
    (headers, file.data).into_response()
}
