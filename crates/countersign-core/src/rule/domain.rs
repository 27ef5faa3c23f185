//! Patterns of hosts: `example.com`, `*.example.com`.

use super::BadRule;
use super::pattern::matches_wildcard;

/// A host as rules look for it.
///
/// Hosts are compared label by label, without case: `*.example.com` is any host below it but not
/// `example.com` itself; a `*` elsewhere stays within its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainPattern {
    labels: Vec<String>,
    below: bool,
}

impl DomainPattern {
    /// Reads what follows `domain:`.
    pub(crate) fn parse(text: &str) -> Result<Self, BadRule> {
        let text = text.trim().trim_end_matches('.').to_lowercase();
        let plain = |c: char| c.is_alphanumeric() || "-_.*[]:".contains(c);
        if text.is_empty() || !text.chars().all(plain) {
            return Err(BadRule::new(format!(
                "`domain:{text}` is not a host: write one like `docs.rs` or `*.example.com`"
            )));
        }
        let (text, below) = match text.strip_prefix("*.") {
            Some(rest) => (rest, true),
            None => (text.as_str(), false),
        };
        Ok(Self { labels: text.split('.').map(str::to_owned).collect(), below })
    }

    /// Returns whether it stands for every host.
    pub(crate) fn is_any(&self) -> bool {
        self.labels.iter().all(|label| label == "*")
    }

    /// Returns whether a host is meant.
    pub fn matches(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_lowercase();
        let labels: Vec<_> = host.split('.').collect();
        let Some(above) = labels.len().checked_sub(self.labels.len()) else { return false };
        if (above > 0) != self.below {
            return false;
        }
        let own = labels.get(above..).unwrap_or_default();
        own.iter().zip(&self.labels).all(|(label, pattern)| matches_wildcard(pattern, label))
    }
}
