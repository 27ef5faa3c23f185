//! The body of every error.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::approval::ApprovalView;
use crate::execution::ExecutionView;

/// The body of an error.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    pub success: bool,
    pub error: ErrorView,
    /// The request as it stands, where that is why.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub approval: Option<ApprovalView>,
    /// The call as it stands, where that is why.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub execution: Option<ExecutionView>,
}

/// What went wrong.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorView {
    /// A stable word for programs.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// What can be done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub hint: Option<String>,
}
