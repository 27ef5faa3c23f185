//! How long people have to decide.

use std::time::Duration;

use countersign_core::Risk;

/// How long a person has to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionTimeouts {
    /// For MEDIUM, and for LOW where even that asks.
    pub medium: Duration,
    /// For HIGH.
    pub high: Duration,
}

impl Default for DecisionTimeouts {
    fn default() -> Self {
        Self { medium: Duration::from_mins(5), high: Duration::from_mins(10) }
    }
}

impl DecisionTimeouts {
    /// Returns the same time for every risk.
    pub fn uniform(timeout: Duration) -> Self {
        Self { medium: timeout, high: timeout }
    }

    /// Returns the time for a risk.
    pub fn for_risk(self, risk: Risk) -> Duration {
        match risk {
            Risk::Low | Risk::Medium => self.medium,
            Risk::High => self.high,
        }
    }
}
