//! Errors as clients see them: one shape, the status decided here.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use countersign_agent::BeginError;
use countersign_api::error::{ErrorBody, ErrorView};
use countersign_core::{Execution, ExecutionStatus};
use countersign_gate::{DecideError, GateError, StoreError};

/// Why a request was not served.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) hint: Option<&'static str>,
    /// What stands instead of what was wanted.
    pub(crate) stands: Option<ConflictingExecution>,
}

/// What stands instead of what was wanted: a request, or a call.
#[derive(Clone, Debug)]
pub(crate) enum ConflictingExecution {
    /// A request for approval.
    Approval(Box<Execution>),
    /// A call.
    Execution(Box<Execution>),
}

/// An error that shows what stands: its body is written where the store can be asked for the names
/// that go with it.
#[derive(Clone)]
pub(crate) struct UnwrittenError {
    pub(crate) error: ErrorView,
    pub(crate) stands: ConflictingExecution,
}

impl ApiError {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), hint: None, stands: None }
    }

    pub(crate) fn bad_request(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// Returns the same, with the request that stands.
    pub(crate) fn with_approval(self, approval: Execution) -> Self {
        Self { stands: Some(ConflictingExecution::Approval(Box::new(approval))), ..self }
    }

    /// Returns the same, with a request that stands where none came along and it is a conflict.
    pub(crate) fn or_approval(self, asked: Execution) -> Self {
        let lacks = self.status == StatusCode::CONFLICT && self.stands.is_none();
        if lacks { self.with_approval(asked) } else { self }
    }

    /// Returns the same, with the call that stands.
    pub(crate) fn with_execution(self, call: Execution) -> Self {
        Self { stands: Some(ConflictingExecution::Execution(Box::new(call))), ..self }
    }

    /// Returns the same without what stands: it is not for whoever asks.
    pub(crate) fn without_execution(self) -> Self {
        Self { stands: None, ..self }
    }

    pub(crate) fn unavailable(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message)
    }

    /// A path that is there, but not for this.
    pub(crate) fn wrong_method() -> Self {
        let why = "this address does not take that method; the `Allow` header says which it takes";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", why)
    }

    /// A cursor that no list of ours has given out.
    pub(crate) fn bad_cursor() -> Self {
        Self::bad_request("bad_cursor", "use the `next_cursor` of the page before as it is")
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(crate) fn forbidden(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, message)
    }

    pub(crate) fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    pub(crate) fn internal(code: &'static str, message: impl Into<String>) -> Self {
        let hint = Some("look at the server's log");
        Self { hint, ..Self::new(StatusCode::INTERNAL_SERVER_ERROR, code, message) }
    }

    pub(crate) fn not_signed_in() -> Self {
        let hint =
            "open the sign-in link that countersign printed, or send `Authorization: Bearer`";
        let why = "this needs a credential";
        Self { hint: Some(hint), ..Self::new(StatusCode::UNAUTHORIZED, "not_signed_in", why) }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let passes = error.is_transient() || matches!(error, StoreError::Fenced);
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
            stands: None,
        }
    }
}

impl From<GateError> for ApiError {
    fn from(error: GateError) -> Self {
        if let GateError::Store(error) = error {
            return error.into();
        }
        let told: &dyn std::error::Error = &error;
        tracing::error!(error = told, "the gate failed");
        Self::internal("broken", "the server failed internally; its log says why")
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
            DecideError::AlreadySettled(stands)
                if stands.0.status() == ExecutionStatus::Timeout =>
            {
                Self::conflict("expired", "the request has expired: nobody decided in time")
                    .with_approval(*stands.0)
            }
            DecideError::AlreadySettled(ref stands) => {
                Self::conflict("already_settled", error.to_string())
                    .with_approval(Execution::clone(&stands.0))
            }
            DecideError::Drift(ref stands) => {
                Self::conflict("drift", error.to_string()).with_approval(Execution::clone(stands))
            }
            DecideError::Invalid(_) => Self::bad_request("invalid_input", error.to_string()),
            DecideError::Denied(_) => Self::conflict("denied", error.to_string()),
            DecideError::NotAlways(_) => Self::bad_request("not_always", error.to_string()),
            DecideError::Store(error) => error.into(),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self { status, code, message, hint, stands } = self;
        let (code, hint) = (code.to_owned(), hint.map(str::to_owned));
        let error = ErrorView { code, message, hint };
        let body =
            ErrorBody { success: false, error: error.clone(), approval: None, execution: None };
        let mut response = (status, Json(body)).into_response();
        if let Some(stands) = stands {
            response.extensions_mut().insert(UnwrittenError { error, stands });
        }
        response
    }
}
