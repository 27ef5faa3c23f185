//! Hints: what can be done about an error, said on a line of its own.

use std::fmt;

/// An error with advice. Printed as the error, then `hint: …`.
#[derive(Debug)]
pub(crate) struct HintedError {
    pub(crate) error: anyhow::Error,
    pub(crate) hint: String,
}

impl fmt::Display for HintedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for HintedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.chain().nth(1)
    }
}

/// Adds advice to whatever went wrong.
pub(crate) trait HintExt<T> {
    fn hint(self, hint: impl Into<String>) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> HintExt<T> for Result<T, E> {
    fn hint(self, hint: impl Into<String>) -> anyhow::Result<T> {
        self.map_err(|error| HintedError { error: error.into(), hint: hint.into() }.into())
    }
}
