//! Outcomes: the three words that everything here comes down to.

use serde::{Deserialize, Serialize};

/// What is to happen with a call. The order is the algebra: the stricter one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictAction {
    /// It may run.
    Allow,
    /// A person decides.
    Ask,
    /// It may not run, whoever asks.
    Deny,
}
