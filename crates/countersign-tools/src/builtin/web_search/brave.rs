//! The search engine of Brave, by its API.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Client;
use serde::Deserialize;
use url::Url;

use super::engine::{SearchEngine, SearchError, SearchHit};

const ENDPOINT: &str = "https://api.search.brave.com/res/v1/web/search";
const TIME_LIMIT: Duration = Duration::from_secs(15);
const ANSWER_LIMIT: usize = 2 * 1024 * 1024;

/// Brave's search.
#[derive(Clone)]
pub struct BraveSearch {
    key: String,
    endpoint: Url,
}

/// Without the key.
impl fmt::Debug for BraveSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BraveSearch")
            .field("endpoint", &self.endpoint.as_str())
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct BraveResponse {
    #[serde(default)]
    web: BraveWebResults,
}

#[derive(Default, Deserialize)]
struct BraveWebResults {
    #[serde(default)]
    results: Vec<BravePage>,
}

#[derive(Deserialize)]
struct BravePage {
    title: String,
    url: String,
    #[serde(default)]
    description: String,
}

impl BraveSearch {
    /// Returns the engine for a key of its API.
    pub fn new(key: impl Into<String>) -> Result<Self, url::ParseError> {
        Self::with_endpoint(ENDPOINT, key)
    }

    /// Returns the engine at another place that speaks the same way.
    pub fn with_endpoint(endpoint: &str, key: impl Into<String>) -> Result<Self, url::ParseError> {
        Ok(Self { key: key.into(), endpoint: endpoint.parse()? })
    }

    async fn ask(&self, query: &str, most: usize) -> Result<Vec<u8>, SearchError> {
        // What reqwest says of a failure may hold the query, never the key.
        let failed = |error: reqwest::Error| SearchError(error.without_url().to_string());
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(TIME_LIMIT)
            .build()
            .map_err(failed)?;
        let mut url = self.endpoint.clone();
        url.query_pairs_mut().append_pair("q", query).append_pair("count", &most.to_string());
        let request = client.get(url).header("X-Subscription-Token", &self.key);
        let mut response = request.send().await.map_err(failed)?;
        if !response.status().is_success() {
            return Err(SearchError(format!("it answered with status {}", response.status())));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            body.extend_from_slice(&chunk);
            if body.len() > ANSWER_LIMIT {
                return Err(SearchError("its answer is too long".to_owned()));
            }
        }
        Ok(body)
    }
}

#[async_trait]
impl SearchEngine for BraveSearch {
    fn host(&self) -> String {
        self.endpoint.host_str().unwrap_or_default().to_owned()
    }

    async fn search(&self, query: &str, most: usize) -> Result<Vec<SearchHit>, SearchError> {
        let body = self.ask(query, most).await?;
        let answer: BraveResponse = serde_json::from_slice(&body)
            .map_err(|error| SearchError(format!("its answer could not be read: {error}")))?;
        let found = answer.web.results.into_iter().take(most).map(|page| SearchHit {
            title: plain(&page.title),
            url: page.url,
            extract: plain(&page.description),
        });
        Ok(found.collect())
    }
}

/// Leaves out the marks around the words that were found.
fn plain(text: &str) -> String {
    text.replace("<strong>", "").replace("</strong>", "").replace('\n', " ")
}
