//! Executors: who runs a call once it may run.

use serde::{Deserialize, Serialize};

/// Who runs a call. The gate decides the same way, whoever it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    /// The program that holds the gate.
    #[default]
    Local,
    /// The client that is connected to the project, on its own machine.
    Client,
    /// Whoever handed the call in.
    Caller,
    /// The Claude Code CLI that a run is driven by.
    ClaudeCli,
}

impl Executor {
    /// Returns whether the call runs where its tool cannot be watched.
    pub fn is_remote(self) -> bool {
        self != Self::Local
    }

    /// Returns whether whoever runs it says over the wire what came of it.
    pub(crate) fn sends_reports(self) -> bool {
        match self {
            Self::Client | Self::Caller => true,
            Self::Local | Self::ClaudeCli => false,
        }
    }

    /// Returns how long an approved call may wait for somebody to run it, in seconds.
    ///
    /// Consent is given for now: what nobody has come for in this time is not run any more.
    pub(crate) fn claim_timeout_secs(self) -> Option<i64> {
        match self {
            // Whoever drives the run is there and starts it.
            Self::Local | Self::ClaudeCli => None,
            Self::Client => Some(300),
            Self::Caller => Some(3600),
        }
    }

    /// Returns the word for it, as it stands in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Client => "client",
            Self::Caller => "caller",
            Self::ClaudeCli => "claude-cli",
        }
    }
}
