//! What whoever ran a call elsewhere says came of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::call_status::CallStatus;
use crate::lease::LeaseShown;

/// The `error_type` of a call that was not run because what is there is not what was shown.
pub const FILE_CHANGED: &str = "file_changed";

/// What came of a call, and the lease it was run under.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
#[schema(example = json!({"status": "completed", "result": {"success": true, "stdout": "ok", "stderr": null, "exit_code": 0}}))]
pub enum ResultBody {
    /// It ran.
    Completed {
        /// What it gave back.
        #[schema(value_type = ReportedResult)]
        result: Value,
        /// The lease it was run under, as it was given. Without it the result is taken while the call
        /// runs, and of a call that was handed in here also before.
        #[serde(skip_serializing_if = "Option::is_none")]
        lease: Option<LeaseShown>,
    },
    /// It could not run, or broke off.
    Failed {
        /// Why.
        error: String,
        /// `file_changed` where the call was not run because what is there is not what was shown.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<String>)]
        error_type: Option<String>,
        /// The lease it was run under, as it was given.
        #[serde(skip_serializing_if = "Option::is_none")]
        lease: Option<LeaseShown>,
    },
}

/// What a call gave back. Other fields are kept, too.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReportedResult {
    #[schema(nullable = false)]
    pub success: Option<bool>,
    pub stdout: Option<String>,
    pub stderr: Option<String>,
    pub exit_code: Option<i64>,
}

/// The result was taken.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ResultTaken {
    pub success: bool,
    pub tool_id: String,
    pub status: CallStatus,
    pub message: String,
}
