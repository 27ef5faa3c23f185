//! The CLI's version.

use std::fmt;

/// A version of the CLI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CliVersion {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
    /// The third number.
    pub patch: u32,
}

impl CliVersion {
    /// The oldest CLI that speaks this protocol.
    pub const MINIMUM: Self = Self { major: 2, minor: 0, patch: 0 };

    /// Reads a version as the CLI says it: `2.1.325`, also with words after it.
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.trim().trim_start_matches('v').split([' ', '-', '+']).next()?;
        let mut numbers = word.split('.').map(str::parse);
        let version = Self {
            major: numbers.next()?.ok()?,
            minor: numbers.next()?.ok()?,
            patch: numbers.next()?.ok()?,
        };
        numbers.next().is_none().then_some(version)
    }
}

impl fmt::Display for CliVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        let new = CliVersion::parse("2.1.325 (Claude Code)").unwrap();
        assert_eq!(new, CliVersion { major: 2, minor: 1, patch: 325 });
        assert!(new > CliVersion::parse("v2.1.19").unwrap());
        assert!(CliVersion::parse("1.0.128").unwrap() < CliVersion::MINIMUM);
        assert_eq!(CliVersion::parse("unknown"), None);
    }
}
