//! One page, asked for hop by hop: every hop is judged, looked up and checked anew.

use std::net::SocketAddr;
use std::time::Duration;

use countersign_core::UrlHost;
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response, StatusCode};
use tokio::time::timeout;
use url::Url;

use super::resolver::HostResolver;

/// How much is fetched at the most, unpacked.
const BODY_LIMIT: usize = 5 * 1024 * 1024;

/// How long all of it may take.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// How long a server may take to answer the door.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// How many redirects are followed.
const HOPS: usize = 10;

const ACCEPTED: &str = "text/markdown, text/html;q=0.9, text/plain;q=0.9, */*;q=0.5";

/// What came of asking.
pub(super) enum FetchOutcome {
    Page(FetchedPage),
    /// It is to be found at another place, which nobody has allowed yet.
    Elsewhere {
        to: Url,
        why: &'static str,
    },
}

/// A page as it came.
pub(super) struct FetchedPage {
    pub(super) url: Url,
    pub(super) status: StatusCode,
    pub(super) content_type: Option<String>,
    pub(super) body: Vec<u8>,
    /// Whether there was more than is taken.
    pub(super) is_cut: bool,
}

/// Why nothing came.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("`{host}` leads to {address}, which is not public: it is not asked")]
    NotPublic { host: String, address: SocketAddr },
    #[error("`{host}` could not be looked up: {why}")]
    Unknown { host: String, why: String },
    #[error("it redirects to `{0}`, which is not fetched")]
    Forbidden(String),
    #[error("it redirects more than {HOPS} times")]
    Loop,
    #[error("it took longer than {} seconds", TIME_LIMIT.as_secs())]
    Time,
    #[error("{0}")]
    Http(String),
}

impl From<reqwest::Error> for FetchError {
    fn from(error: reqwest::Error) -> Self {
        use std::error::Error;
        // The innermost cause says it; those around it say that there was one.
        let mut cause: &dyn Error = &error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        Self::Http(cause.to_string())
    }
}

/// Fetches a page, within all bounds.
pub(super) async fn fetch(
    resolver: &dyn HostResolver,
    url: Url,
) -> Result<FetchOutcome, FetchError> {
    timeout(TIME_LIMIT, follow(resolver, url)).await.unwrap_or(Err(FetchError::Time))
}

async fn follow(resolver: &dyn HostResolver, mut url: Url) -> Result<FetchOutcome, FetchError> {
    for _ in 0..=HOPS {
        let response = ask(resolver, &url).await?;
        let Some(next) = redirect(&url, &response)? else {
            return read(url, response).await.map(FetchOutcome::Page);
        };
        match away(&url, &next) {
            None => url = next,
            Some(why) => return Ok(FetchOutcome::Elsewhere { to: next, why }),
        }
    }
    Err(FetchError::Loop)
}

/// Sends one request to an address that was checked.
async fn ask(resolver: &dyn HostResolver, url: &Url) -> Result<Response, FetchError> {
    let host = url.host_str().unwrap_or_default().to_owned();
    let port = url.port_or_known_default().unwrap_or(443);
    let addresses = match url.host() {
        Some(url::Host::Ipv4(address)) => vec![SocketAddr::new(address.into(), port)],
        Some(url::Host::Ipv6(address)) => vec![SocketAddr::new(address.into(), port)],
        Some(url::Host::Domain(name)) => resolver
            .addresses(name, port)
            .await
            .map_err(|error| FetchError::Unknown { host: host.clone(), why: error.to_string() })?,
        None => Vec::new(),
    };
    if addresses.is_empty() {
        return Err(FetchError::Unknown { host, why: "it has no address".to_owned() });
    }
    // One that is not public among those that are is there to be hit by chance.
    if let Some(&address) = addresses.iter().find(|it| !resolver.may_reach(it.ip())) {
        return Err(FetchError::NotPublic { host, address });
    }
    let client = Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        // A proxy would look the name up itself.
        .no_proxy()
        .resolve_to_addrs(&host, &addresses)
        .connect_timeout(CONNECT_LIMIT)
        .user_agent(concat!("countersign-webfetch/", env!("CARGO_PKG_VERSION")))
        .build()?;
    Ok(client.get(url.clone()).header(ACCEPT, ACCEPTED).send().await?)
}

/// Returns where a response redirects to, if it does.
fn redirect(url: &Url, response: &Response) -> Result<Option<Url>, FetchError> {
    let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection());
    let Some(location) = location else { return Ok(None) };
    let text = String::from_utf8_lossy(location.as_bytes()).into_owned();
    let next = url.join(&text).map_err(|_| FetchError::Forbidden(text.clone()))?;
    match UrlHost::from_url(next.as_str()) {
        Ok(UrlHost::Named(_) | UrlHost::Public(_)) => Ok(Some(next)),
        Ok(UrlHost::Private(_) | UrlHost::Metadata(_)) | Err(_) => Err(FetchError::Forbidden(text)),
    }
}

/// Returns why a hop leads away from what was allowed, if it does.
fn away(from: &Url, to: &Url) -> Option<&'static str> {
    if from.host() != to.host() {
        return Some("another host");
    }
    match (from.scheme(), to.scheme()) {
        ("https", "http") => Some("from https to http"),
        ("http", "https") if from.port().is_none() && to.port().is_none() => None,
        _ if from.port_or_known_default() != to.port_or_known_default() => Some("another port"),
        _ => None,
    }
}

async fn read(url: Url, mut response: Response) -> Result<FetchedPage, FetchError> {
    let content_type = response.headers().get(CONTENT_TYPE);
    let content_type =
        content_type.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let (status, mut body, mut is_cut) = (response.status(), Vec::new(), false);
    while let Some(chunk) = response.chunk().await? {
        let room = BODY_LIMIT - body.len();
        body.extend_from_slice(chunk.get(..room.min(chunk.len())).unwrap_or_default());
        if chunk.len() > room {
            is_cut = true;
            break;
        }
    }
    Ok(FetchedPage { url, status, content_type, body, is_cut })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_stays_where_it_was_allowed_or_leads_away() {
        check("https://a.example/x", "https://a.example/y", None);
        check("http://a.example/x", "https://a.example/x", None);
        check("https://a.example/x", "http://a.example/x", Some("from https to http"));
        check("https://a.example/", "https://www.a.example/", Some("another host"));
        check("https://a.example/", "https://a.example:8443/", Some("another port"));
        check("http://a.example:8080/", "https://a.example/", Some("another port"));
    }

    #[track_caller]
    fn check(from: &str, to: &str, expected: Option<&str>) {
        assert_eq!(away(&from.parse().unwrap(), &to.parse().unwrap()), expected);
    }
}
