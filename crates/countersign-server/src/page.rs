//! The page: files built by Vite, embedded in the binary, behind the sign-in.

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use rust_embed::{EmbeddedFile, RustEmbed};
use serde::Deserialize;

use crate::app::App;
use crate::error::ApiError;
use crate::sign_in::{SignedIn, cookie_header};

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Built;

#[derive(Deserialize)]
pub(crate) struct TokenQuery {
    token: Option<String>,
}

/// `GET /`: the page is at `/agent`.
pub(crate) async fn root(query: Query<TokenQuery>, state: State<App>) -> Response {
    match &query.token {
        Some(_) => sign_in(query, &state).await,
        None => Redirect::to("/agent").into_response(),
    }
}

/// `GET /agent`: the page, or how to get in.
pub(crate) async fn agent(
    query: Query<TokenQuery>,
    state: State<App>,
    person: Result<SignedIn, ApiError>,
) -> Response {
    match (&query.token, person) {
        (Some(_), _) => sign_in(query, &state).await,
        (None, Ok(_)) => file("index.html"),
        (None, Err(_)) => (StatusCode::UNAUTHORIZED, Html(HOW_TO_SIGN_IN)).into_response(),
    }
}

/// `GET /assets/…`: what the page is made of.
pub(crate) async fn asset(_: SignedIn, Path(path): Path<String>) -> Response {
    file(&format!("assets/{path}"))
}

/// Exchanges the token in the address for a cookie and the page's own secret, and takes it out of the
/// address.
async fn sign_in(Query(query): Query<TokenQuery>, State(app): &State<App>) -> Response {
    let secrets = match app.sign_ins.exchange(&query.token.unwrap_or_default()).await {
        Ok(secrets) => secrets,
        Err(error) => return error.into_response(),
    };
    let signed_in = secrets.and_then(|it| Some((cookie_header(app.port, &it.cookie)?, it.page)));
    match signed_in {
        Some((cookie, page_secret)) => {
            // What comes after `#` stays in the browser: the page takes it out of the address at once.
            let page = format!("/agent#session={page_secret}");
            ([(header::SET_COOKIE, cookie)], Redirect::to(&page)).into_response()
        }
        None => (StatusCode::UNAUTHORIZED, Html(HOW_TO_SIGN_IN)).into_response(),
    }
}

const HOW_TO_SIGN_IN: &str = "<!doctype html><html lang=en><meta charset=utf-8>\
<meta name=viewport content='width=device-width'><title>Countersign: sign in</title>\
<h1>Sign in</h1><p>Open the sign-in link that <code>countersign</code> printed in the terminal. \
It works once; restart the server for a new one.</p></html>";

fn file(path: &str) -> Response {
    match Built::get(path) {
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
