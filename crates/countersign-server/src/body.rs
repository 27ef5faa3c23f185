//! Bodies of requests: JSON whatever they call themselves, read in time and up to a size.

use std::time::Duration;

use axum::extract::{FromRequest, Query, Request};
use axum::http::{StatusCode, Uri, header};
use futures_util::StreamExt;
use serde::de::{DeserializeOwned, IgnoredAny};
use tokio::time::timeout;

use crate::app::App;
use crate::error::ApiError;

/// Hardly any body needs more.
pub(crate) const LIMIT: usize = 4 * 1024 * 1024;

/// What a client read for us may be longer: 10 MiB of text, with all that JSON makes of it.
pub(crate) const RESULT_LIMIT: usize = 24 * 1024 * 1024;

/// What somebody types into a form.
const FORM_LIMIT: usize = 4096;

/// How much of a body that is too large is read all the same, so that its sender hears the answer.
const DRAINED: usize = 64 * 1024 * 1024;

/// How long a body may take to come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The JSON body of a request.
///
/// It need not say that it is JSON: the founding documents' client does not. Other pages are kept out
/// by `guard` and by the cookie.
pub(crate) struct JsonBody<T, const MOST: usize = LIMIT>(pub(crate) T);

/// The same where nothing means `{}`.
pub(crate) struct OptionalJsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned, const MOST: usize> FromRequest<App> for JsonBody<T, MOST> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        parse(&read_with_timeout(request, app.body_patience, MOST).await?).map(Self)
    }
}

impl<T: DeserializeOwned> FromRequest<App> for OptionalJsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let body = read_with_timeout(request, app.body_patience, LIMIT).await?;
        parse(if body.is_empty() { b"{}" } else { &body }).map(Self)
    }
}

/// The fields of a form that a browser sends.
pub(crate) struct FormBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for FormBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let bad = || {
            ApiError::bad_request(
                "bad_form",
                "the form is incomplete; reload the page and try again",
            )
        };
        let body = read_with_timeout(request, app.body_patience, FORM_LIMIT).await?;
        // A form is written as the query of an address is.
        let query = String::from_utf8(body).map_err(|_| bad())?;
        let uri = Uri::builder().path_and_query(format!("/?{query}")).build();
        let Query(fields) = Query::try_from_uri(&uri.map_err(|_| bad())?).map_err(|_| bad())?;
        Ok(Self(fields))
    }
}

async fn read_with_timeout(
    request: Request,
    patience: Duration,
    most: usize,
) -> Result<Vec<u8>, ApiError> {
    match timeout(patience, read_limited(request, most)).await {
        Ok(read) => read,
        Err(_) => Err(ApiError {
            status: StatusCode::REQUEST_TIMEOUT,
            ..ApiError::bad_request("slow_body", "the request body did not arrive in time")
        }),
    }
}

async fn read_limited(request: Request, most: usize) -> Result<Vec<u8>, ApiError> {
    let told = request.headers().get(header::CONTENT_LENGTH);
    let told = told.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if told.is_some_and(|length| length > DRAINED) {
        return Err(too_large(most));
    }
    let mut whole = Vec::with_capacity(told.unwrap_or_default().min(LIMIT));
    let mut length = 0;
    let mut pieces = request.into_body().into_data_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| {
            ApiError::bad_request("broken_body", format!("the body broke off: {error}"))
        })?;
        length += piece.len();
        if length <= most {
            whole.extend_from_slice(&piece);
        } else if length > DRAINED {
            break;
        }
    }
    if length > most { Err(too_large(most)) } else { Ok(whole) }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    if let Err(why) = serde_json::from_slice::<IgnoredAny>(body) {
        return Err(ApiError::bad_request("bad_json", format!("this is not JSON: {why}")));
    }
    let reader = &mut serde_json::Deserializer::from_slice(body);
    serde_path_to_error::deserialize(reader).map_err(|error| {
        let (place, why) = (error.path().to_string(), error.inner());
        let told = if place == "." { why.to_string() } else { format!("`{place}`: {why}") };
        ApiError::bad_request("bad_request", told)
    })
}

fn too_large(most: usize) -> ApiError {
    ApiError {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        ..ApiError::bad_request("too_large", format!("a body may have {most} bytes at the most"))
    }
}
