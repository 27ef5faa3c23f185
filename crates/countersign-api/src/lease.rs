//! Leases: leave to run a call elsewhere, for a while.

use countersign_core::Execution;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::call_status::CallStatus;

/// Leave to run a call, for a while.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LeaseView {
    /// The secret that goes with a result: whoever has it has the call.
    pub token: String,
    /// From then on the one who has it counts as lost, unless it renews the lease before.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

impl LeaseView {
    pub fn from_execution(call: &Execution) -> Option<Self> {
        let lease = call.lease()?;
        Some(Self { token: lease.token.clone(), expires_at: lease.until })
    }
}

/// A lease as it is shown: the token, or the object it was given in.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum LeaseShown {
    Token(String),
    Whole { token: String },
}

impl LeaseShown {
    pub fn token(self) -> String {
        let (Self::Token(token) | Self::Whole { token }) = self;
        token
    }
}

/// A sign of life.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"lease": "0195281f-7c1e-7d2b-9a3f-2f6d3c1b5a40", "output": "12 tests passed\n"}))]
pub struct LeaseBody {
    /// The lease that is to go on; without it, an approved call of one's own is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseShown>,
    /// What the call has written since the last time. Shown as it comes, kept nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// A lease that was given, or goes on.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LeaseGiven {
    pub success: bool,
    pub tool_id: String,
    pub status: CallStatus,
    #[schema(required)]
    pub lease: Option<LeaseView>,
}
