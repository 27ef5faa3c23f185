//! Errors as clients see them: one shape, the status decided here.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use countersign_agent::BeginError;
use countersign_core::Status;
use countersign_gate::{DecideError, StoreError};
use serde::Serialize;
use utoipa::ToSchema;

/// Why a request was not served.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) hint: Option<&'static str>,
}

/// The body of an error.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    success: bool,
    error: ErrorView,
}

/// What went wrong.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorView {
    /// A stable word for programs.
    code: &'static str,
    /// A sentence for people.
    message: String,
    /// What can be done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

impl ApiError {
    pub(crate) fn bad_request(code: &'static str, message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code, message: message.into(), hint: None }
    }

    /// A cursor that no list of ours has given out.
    pub(crate) fn bad_cursor() -> Self {
        Self::bad_request("bad_cursor", "use the `next_cursor` of the page before as it is")
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            code: "not_found",
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn forbidden(code: &'static str, message: impl Into<String>) -> Self {
        Self { status: StatusCode::FORBIDDEN, code, message: message.into(), hint: None }
    }

    pub(crate) fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self { status: StatusCode::CONFLICT, code, message: message.into(), hint: None }
    }

    pub(crate) fn internal(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            code,
            message: message.into(),
            hint: Some("look at the server's log"),
        }
    }

    pub(crate) fn not_signed_in() -> Self {
        Self {
            status: StatusCode::UNAUTHORIZED,
            code: "not_signed_in",
            message: "this needs a credential".to_owned(),
            hint: Some(
                "open the sign-in link that countersign printed, or send `Authorization: Bearer`",
            ),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let passes = error.is_passing() || matches!(error, StoreError::Fenced);
        let (message, hint) = (format!("{error}; nothing was changed"), error.remedy());
        let told: &dyn std::error::Error = &error;
        tracing::error!(error = told, "the store failed");
        Self {
            status: if passes {
                StatusCode::SERVICE_UNAVAILABLE
            } else {
                StatusCode::INTERNAL_SERVER_ERROR
            },
            code: "store",
            message,
            hint: Some(hint),
        }
    }
}

impl From<BeginError> for ApiError {
    fn from(error: BeginError) -> Self {
        match error {
            BeginError::EmptyPrompt => Self::bad_request("empty_prompt", error.to_string()),
            BeginError::Busy => Self::conflict("busy", error.to_string()),
            BeginError::Store(error) => error.into(),
        }
    }
}

impl From<DecideError> for ApiError {
    fn from(error: DecideError) -> Self {
        match error {
            DecideError::Unknown(_) => {
                Self { code: "unknown_request", ..Self::not_found(error.to_string()) }
            }
            DecideError::AlreadySettled(ref stands) if stands.0.status() == Status::Timeout => {
                Self::conflict("expired", "the request has expired: nobody decided in time")
            }
            DecideError::AlreadySettled(_) => Self::conflict("already_settled", error.to_string()),
            DecideError::Drift(_) => Self::conflict("drift", error.to_string()),
            DecideError::Invalid(_) => Self::bad_request("invalid_input", error.to_string()),
            DecideError::Denied(_) => Self::conflict("denied", error.to_string()),
            DecideError::NotAlways(_) => Self::bad_request("not_always", error.to_string()),
            DecideError::Store(error) => error.into(),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self { status, code, message, hint } = self;
        let body = ErrorBody { success: false, error: ErrorView { code, message, hint } };
        (status, Json(body)).into_response()
    }
}
