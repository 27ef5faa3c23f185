//! One page, asked for hop by hop: every hop is judged, looked up and checked anew.

use std::net::SocketAddr;
use std::time::Duration;

use countersign_core::Host;
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response, StatusCode};
use tokio::time::timeout;
use url::Url;

use super::resolver::Resolver;

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
pub(super) enum Answer {
    Page(Fetched),
    /// It is to be found at another place, which nobody has allowed yet.
    Elsewhere {
        to: Url,
        why: &'static str,
    },
}

/// A page as it came.
pub(super) struct Fetched {
    pub(super) url: Url,
    pub(super) status: StatusCode,
    pub(super) content_type: Option<String>,
    pub(super) body: Vec<u8>,
    /// Whether there was more than is taken.
    pub(super) is_cut: bool,
}

/// Why nothing came.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
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

impl From<reqwest::Error> for Fault {
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
pub(super) async fn fetch(resolver: &dyn Resolver, url: Url) -> Result<Answer, Fault> {
    timeout(TIME_LIMIT, follow(resolver, url)).await.unwrap_or(Err(Fault::Time))
}

async fn follow(resolver: &dyn Resolver, mut url: Url) -> Result<Answer, Fault> {
    for _ in 0..=HOPS {
        let response = ask(resolver, &url).await?;
        let Some(next) = redirect(&url, &response)? else {
            return read(url, response).await.map(Answer::Page);
        };
        match away(&url, &next) {
            None => url = next,
            Some(why) => return Ok(Answer::Elsewhere { to: next, why }),
        }
    }
    Err(Fault::Loop)
}

/// Sends one request to an address that was checked.
async fn ask(resolver: &dyn Resolver, url: &Url) -> Result<Response, Fault> {
    let host = url.host_str().unwrap_or_default().to_owned();
    let port = url.port_or_known_default().unwrap_or(443);
    let addresses = match url.host() {
        Some(url::Host::Ipv4(address)) => vec![SocketAddr::new(address.into(), port)],
        Some(url::Host::Ipv6(address)) => vec![SocketAddr::new(address.into(), port)],
        Some(url::Host::Domain(name)) => resolver
            .addresses(name, port)
            .await
            .map_err(|error| Fault::Unknown { host: host.clone(), why: error.to_string() })?,
        None => Vec::new(),
    };
    if addresses.is_empty() {
        return Err(Fault::Unknown { host, why: "it has no address".to_owned() });
    }
    // One that is not public among those that are is there to be hit by chance.
    if let Some(&address) = addresses.iter().find(|it| !resolver.may_reach(it.ip())) {
        return Err(Fault::NotPublic { host, address });
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
fn redirect(url: &Url, response: &Response) -> Result<Option<Url>, Fault> {
    let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection());
    let Some(location) = location else { return Ok(None) };
    let text = String::from_utf8_lossy(location.as_bytes()).into_owned();
    let next = url.join(&text).map_err(|_| Fault::Forbidden(text.clone()))?;
    match Host::of_url(next.as_str()) {
        Ok(Host::Named(_) | Host::Public(_)) => Ok(Some(next)),
        Ok(Host::Private(_) | Host::Metadata(_)) | Err(_) => Err(Fault::Forbidden(text)),
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

async fn read(url: Url, mut response: Response) -> Result<Fetched, Fault> {
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
    Ok(Fetched { url, status, content_type, body, is_cut })
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
