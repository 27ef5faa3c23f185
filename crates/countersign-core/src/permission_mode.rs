//! Modes: what becomes of calls that no rule allows.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How a run treats what would ask. Denials, hard ones included, hold in every mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// Looks and thinks: changes nothing.
    Plan,
    /// Asks.
    #[default]
    Default,
    /// Changes files of the workspace without asking; asks for the rest.
    AcceptEdits,
    /// Refuses what would ask: nobody is there to answer.
    DontAsk,
    /// Runs what would ask. What a rule says must be asked still is.
    BypassPermissions,
}

impl PermissionMode {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Plan, Self::Default, Self::AcceptEdits, Self::DontAsk, Self::BypassPermissions];

    /// Returns the name, as on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}

impl fmt::Display for PermissionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PermissionMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("no mode is called `{text}`: there are {names}")
        })
    }
}
