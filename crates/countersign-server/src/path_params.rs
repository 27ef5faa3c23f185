//! The segments of a path: what cannot be one of ours leads to nothing.

use axum::extract::FromRequestParts;
use axum::extract::Path;
use axum::http::request::Parts;
use countersign_core::{ApprovalId, ExecutionId, SessionId};
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// How long the id of a conversation may be.
const LONGEST_ID: usize = 200;

/// The segments of a path that stand for something.
pub(crate) struct PathParams<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PathParams<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let nothing = || ApiError::not_found("there is nothing at this address");
        if parts.uri.path().contains("%00") {
            return Err(nothing());
        }
        let read = Path::from_request_parts(parts, state).await;
        read.map(|Path(segments)| Self(segments)).map_err(|_| nothing())
    }
}

/// Reads the id of a request; what is no id is the id of none.
pub(crate) fn approval_id(text: &str) -> Result<ApprovalId, ApiError> {
    text.parse().map_err(|_| unknown_approval(text))
}

/// Reads the id of an execution; what is no id is the id of none.
pub(crate) fn execution_id(text: &str) -> Result<ExecutionId, ApiError> {
    text.parse().map_err(|_| unknown_execution(text))
}

pub(crate) fn unknown_approval(id: &str) -> ApiError {
    ApiError {
        code: "unknown_request",
        ..ApiError::not_found(format!("no approval request has the id `{id}`"))
    }
}

pub(crate) fn unknown_execution(id: &str) -> ApiError {
    ApiError {
        code: "unknown_execution",
        ..ApiError::not_found(format!("no tool execution has the id `{id}`"))
    }
}

/// Reads the id of a conversation that may not be there yet.
pub(crate) fn session_id(text: String) -> Result<SessionId, ApiError> {
    let is_one = !text.is_empty()
        && text.chars().count() <= LONGEST_ID
        && !text.chars().any(char::is_control);
    if is_one {
        Ok(SessionId::from(text))
    } else {
        let why = format!("`session_id` has 1 to {LONGEST_ID} characters, no control codes");
        Err(ApiError::bad_request("bad_session_id", why))
    }
}
