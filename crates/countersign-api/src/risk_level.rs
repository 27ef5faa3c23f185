//! How risky a call is.

use countersign_core::Risk;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum RiskLevel {
    Low,
    Medium,
    High,
}

impl From<Risk> for RiskLevel {
    fn from(risk: Risk) -> Self {
        match risk {
            Risk::Low => Self::Low,
            Risk::Medium => Self::Medium,
            Risk::High => Self::High,
        }
    }
}

impl From<RiskLevel> for Risk {
    fn from(level: RiskLevel) -> Self {
        match level {
            RiskLevel::Low => Self::Low,
            RiskLevel::Medium => Self::Medium,
            RiskLevel::High => Self::High,
        }
    }
}
