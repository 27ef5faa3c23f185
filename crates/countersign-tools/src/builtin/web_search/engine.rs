//! Search engines: what one has to be able to do.

use std::fmt;

use async_trait::async_trait;
use url::Url;

/// Something that finds pages.
#[async_trait]
pub trait SearchEngine: fmt::Debug + Send + Sync + 'static {
    /// Returns the host that hears the queries.
    fn host(&self) -> String;

    /// Returns what was found, the best first, `most` at the most.
    async fn search(&self, query: &str, most: usize) -> Result<Vec<SearchHit>, SearchError>;
}

/// One page that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// A few words of it.
    pub extract: String,
}

/// Why nothing was found out.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SearchError(pub String);

impl SearchHit {
    /// Returns whether the page is of a domain or one below it.
    pub(super) fn is_of(&self, domain: &str) -> bool {
        let domain = domain.trim_start_matches("*.").to_ascii_lowercase();
        let url = Url::parse(&self.url).ok();
        url.as_ref().and_then(Url::host_str).is_some_and(|host| {
            host.strip_suffix(&domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    }
}

/// An engine that always finds the same: for tests.
#[derive(Clone, Debug, Default)]
pub struct FixedSearch(pub Vec<SearchHit>);

#[async_trait]
impl SearchEngine for FixedSearch {
    fn host(&self) -> String {
        "search.example".to_owned()
    }

    async fn search(&self, _query: &str, most: usize) -> Result<Vec<SearchHit>, SearchError> {
        Ok(self.0.iter().take(most).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_means_what_is_below_it_too() {
        let found =
            |url: &str| SearchHit { title: String::new(), url: url.into(), extract: String::new() };
        assert!(found("https://docs.rs/x").is_of("docs.rs"));
        assert!(found("https://a.docs.rs/x").is_of("*.Docs.rs"));
        assert!(!found("https://evildocs.rs/x").is_of("docs.rs"));
        assert!(!found("no url").is_of("docs.rs"));
    }
}
