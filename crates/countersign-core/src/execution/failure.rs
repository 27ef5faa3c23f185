//! Why an execution failed: a word for programs and a sentence for people.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a failure. Its text is a stable word on the wire and in the database.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum FailureKind {
    /// No tool can run the call as it was made.
    Validation,
    /// The policy denies it.
    Denied,
    /// Too many calls of the project wait for a decision.
    TooManyPending,
    /// Whoever ran it elsewhere reported that the tool failed.
    ToolError,
    /// Whoever was to run it elsewhere found another file than the one that was shown.
    FileChanged,
    /// No client came to run it in time.
    NoClient,
    /// Nobody reported what came of it in time.
    NoResult,
    /// The client that ran it is gone.
    ClientLost,
    /// Another client than the one that was shown would have run it.
    AnotherClient,
    /// It was stopped, or its server was, while it ran.
    Interrupted,
    /// The agent's session ended before it said what came of it.
    Unreported,
    /// It was let pass, and then asked for after all before it ran.
    Asked,
    /// It would no longer do what was approved.
    Drift,
    /// No tool has its name.
    UnknownTool,
    /// The tool cannot run it as it was made.
    Invalid,
    /// The machine refused what the tool tried.
    Io,
    /// The tool failed in the middle, and not everything could be put back.
    HalfDone,
    /// The tool itself broke.
    Broken,
    /// A word that this version does not know, from a row that another version wrote.
    Other(String),
}

impl FailureKind {
    /// Every kind that this version knows.
    const KNOWN: [Self; 18] = [
        Self::Validation,
        Self::Denied,
        Self::TooManyPending,
        Self::ToolError,
        Self::FileChanged,
        Self::NoClient,
        Self::NoResult,
        Self::ClientLost,
        Self::AnotherClient,
        Self::Interrupted,
        Self::Unreported,
        Self::Asked,
        Self::Drift,
        Self::UnknownTool,
        Self::Invalid,
        Self::Io,
        Self::HalfDone,
        Self::Broken,
    ];

    /// Returns the word.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Validation => "validation",
            Self::Denied => "denied",
            Self::TooManyPending => "too_many_pending",
            Self::ToolError => "tool_error",
            Self::FileChanged => "file_changed",
            Self::NoClient => "no_client",
            Self::NoResult => "no_result",
            Self::ClientLost => "client_lost",
            Self::AnotherClient => "another_client",
            Self::Interrupted => "interrupted",
            Self::Unreported => "unreported",
            Self::Asked => "asked",
            Self::Drift => "drift",
            Self::UnknownTool => "unknown_tool",
            Self::Invalid => "invalid",
            Self::Io => "io",
            Self::HalfDone => "half_done",
            Self::Broken => "broken",
            Self::Other(word) => word,
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<String> for FailureKind {
    fn from(word: String) -> Self {
        let known = Self::KNOWN.into_iter().find(|kind| kind.as_str() == word);
        known.unwrap_or(Self::Other(word))
    }
}

impl From<FailureKind> for String {
    fn from(kind: FailureKind) -> Self {
        kind.as_str().to_owned()
    }
}

/// Why an execution failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionFailure {
    /// What kind of failure it is, for programs.
    #[serde(rename = "error_type")]
    pub kind: FailureKind,
    /// A sentence for the model and for people.
    pub error: String,
}

impl ExecutionFailure {
    /// Returns a failure.
    pub fn new(kind: FailureKind, error: impl Into<String>) -> Self {
        Self { kind, error: error.into() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_is_written_as_its_word_and_read_back() {
        for kind in FailureKind::KNOWN {
            let failure = ExecutionFailure::new(kind.clone(), "x");
            let text = json!({"error_type": kind.as_str(), "error": "x"});
            assert_eq!(serde_json::to_value(&failure).unwrap(), text);
            assert_eq!(serde_json::from_value::<ExecutionFailure>(text).unwrap(), failure);
        }
    }

    #[test]
    fn a_word_of_another_version_is_kept() {
        let text = json!({"error_type": "from_the_future", "error": "x"});
        let failure: ExecutionFailure = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(failure.kind, FailureKind::Other("from_the_future".to_owned()));
        assert_eq!(serde_json::to_value(&failure).unwrap(), text);
    }
}
