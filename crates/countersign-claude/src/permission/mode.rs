//! How the CLI decides on tool calls that no rule and no hook has decided.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How the CLI decides on tool calls that no rule and no hook has decided.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PermissionMode {
    /// Asks.
    Default,
    /// Allows changes of files in the workspace, asks for the rest.
    AcceptEdits,
    /// Lets the model look and plan, not act.
    Plan,
    /// Allows everything.
    BypassPermissions,
    /// Denies what it would have to ask.
    DontAsk,
    /// Lets a model decide.
    Auto,
    /// A mode this crate has no name for.
    Other(String),
}

impl PermissionMode {
    /// Returns the CLI's word for it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::BypassPermissions => "bypassPermissions",
            Self::DontAsk => "dontAsk",
            Self::Auto => "auto",
            Self::Other(mode) => mode,
        }
    }
}

impl From<&str> for PermissionMode {
    fn from(mode: &str) -> Self {
        match mode {
            "default" => Self::Default,
            "acceptEdits" => Self::AcceptEdits,
            "plan" => Self::Plan,
            "bypassPermissions" => Self::BypassPermissions,
            "dontAsk" => Self::DontAsk,
            "auto" => Self::Auto,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl Serialize for PermissionMode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for PermissionMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from(String::deserialize(deserializer)?.as_str()))
    }
}
