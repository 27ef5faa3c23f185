//! Bodies of requests: JSON, read strictly enough to say what is wrong with it.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::error::ApiError;

/// The JSON body of a request.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let Json(body) = Json::from_request(request, app).await.map_err(|it| refused(&it))?;
        Ok(Self(body))
    }
}

fn refused(rejection: &JsonRejection) -> ApiError {
    let error = ApiError::bad_request("bad_request", rejection.body_text());
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ApiError { status: StatusCode::PAYLOAD_TOO_LARGE, code: "too_large", ..error }
        }
        _ => error,
    }
}
