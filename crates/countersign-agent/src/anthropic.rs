//! The Messages API over HTTPS: Anthropic's own server, or any other that speaks it.

mod body;
mod error_response;
mod stream;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

pub(crate) use self::body::body;
pub(crate) use self::stream::events;
use crate::model::{Model, ModelError, ModelEventStream, ModelRequest, ModelStreamEvent};

/// Where Anthropic's own server is.
pub const BASE_URL: &str = "https://api.anthropic.com";

const VERSION: &str = "2023-06-01";

/// How to reach a server of the Messages API.
#[derive(Clone, Debug)]
pub struct AnthropicConnection {
    /// The server, with or without a slash or `/v1` at the end.
    pub base_url: String,
    /// The API key. Without one every request is [`ModelError::NoApiKey`].
    pub key: Option<SecretString>,
    /// How long it may take to connect.
    pub connect_timeout: Duration,
    /// How long the server may be silent. There is no limit on the whole answer.
    pub idle_timeout: Duration,
}

impl Default for AnthropicConnection {
    fn default() -> Self {
        Self {
            base_url: BASE_URL.to_owned(),
            key: None,
            connect_timeout: Duration::from_secs(20),
            idle_timeout: Duration::from_mins(5),
        }
    }
}

/// A client of the Messages API.
pub struct AnthropicModel {
    http: Client,
    endpoint: Url,
    key: Option<SecretString>,
}

impl fmt::Debug for AnthropicModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnthropicModel").field("host", &self.host()).finish_non_exhaustive()
    }
}

impl AnthropicModel {
    /// Returns a client. Nothing is sent until an answer is asked for.
    pub fn new(connection: AnthropicConnection) -> Result<Self, ModelError> {
        let endpoint = endpoint(&connection.base_url)?;
        let mut http = Client::builder()
            .connect_timeout(connection.connect_timeout)
            .read_timeout(connection.idle_timeout)
            // A redirect would carry the key to another server.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")));
        if is_loopback(&endpoint) {
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| network(&host_of(&endpoint), &error))?;
        let key = connection.key.filter(|key| !key.expose_secret().trim().is_empty());
        Ok(Self { http, endpoint, key })
    }

    fn host(&self) -> String {
        host_of(&self.endpoint)
    }

    async fn post(&self, key: &SecretString, body: &Value) -> Result<Response, ModelError> {
        let request = self
            .http
            .post(self.endpoint.clone())
            .headers(headers(key)?)
            .header(ACCEPT, "text/event-stream, application/json")
            .json(body);
        request.send().await.map_err(|error| network(&self.host(), &error))
    }
}

#[async_trait]
impl Model for AnthropicModel {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    async fn stream(&self, request: &ModelRequest) -> Result<ModelEventStream, ModelError> {
        let key = self.key.as_ref().ok_or(ModelError::NoApiKey)?;
        let response = self.post(key, &body(request)?).await?;
        let (status, id) = (response.status(), request_id(response.headers()).to_owned());
        tracing::debug!(request_id = %id, status = status.as_u16(), "the model answers");
        if !status.is_success() {
            let error = error_response::read(response, key).await;
            tracing::warn!(request_id = %id, status = status.as_u16(), code = error.code(), "the model refuses");
            return Err(error);
        }
        match content_type(response.headers()) {
            "application/json" => whole(response, &self.host()).await,
            // Some servers leave it out.
            "text/event-stream" | "" => Ok(events(response.bytes_stream(), self.host())),
            other => {
                Err(ModelError::protocol(format_args!("it is `{other}`, not an event stream")))
            }
        }
    }
}

/// Turns an answer that came in one piece into a stream.
async fn whole(response: Response, host: &str) -> Result<ModelEventStream, ModelError> {
    let answer: Value = response.json().await.map_err(|error| network(host, &error))?;
    let events = match answer.get("type").and_then(Value::as_str) {
        Some("error") => vec![ModelStreamEvent::from_json(answer)?],
        _ => ModelStreamEvent::from_whole_answer(answer)?,
    };
    Ok(futures_util::stream::iter(events.into_iter().map(Ok)).boxed())
}

fn headers(key: &SecretString) -> Result<HeaderMap, ModelError> {
    let mut secret =
        HeaderValue::from_str(key.expose_secret().trim()).map_err(|_| ModelError::BadApiKey)?;
    secret.set_sensitive(true);
    let mut headers = HeaderMap::new();
    headers.insert("x-api-key", secret);
    headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
    Ok(headers)
}

/// Returns the address of the messages on a server.
fn endpoint(base_url: &str) -> Result<Url, ModelError> {
    let base = base_url.trim().trim_end_matches('/');
    let base = base.strip_suffix("/v1").unwrap_or(base);
    let bad = || ModelError::BadBaseUrl { url: without_password(base_url) };
    let url = Url::parse(&format!("{base}/v1/messages")).map_err(|_| bad())?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    is_web.then_some(url).ok_or_else(bad)
}

fn without_password(url: &str) -> String {
    match url.rsplit_once('@') {
        Some((_, rest)) => format!("…@{rest}"),
        None => url.to_owned(),
    }
}

fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

fn content_type(headers: &HeaderMap) -> &str {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    value.split(';').next().unwrap_or("").trim()
}

fn request_id(headers: &HeaderMap) -> &str {
    let id = headers.get("request-id").or_else(|| headers.get("x-request-id"));
    id.and_then(|id| id.to_str().ok()).unwrap_or("")
}

/// Returns the error for a connection that failed, without the address: it may hold a password.
fn network(host: &str, error: &reqwest::Error) -> ModelError {
    if error.is_timeout() && !error.is_connect() {
        return ModelError::TimedOut { host: host.to_owned() };
    }
    if error.is_decode() {
        return ModelError::protocol("it is not JSON");
    }
    // The innermost cause is the one that says something, such as `connection refused`.
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    ModelError::Network { host: host.to_owned(), reason: cause.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_way_to_write_the_address_leads_to_the_messages() {
        for base in ["http://h:1", "http://h:1/", "http://h:1/v1", " http://h:1/v1/ "] {
            assert_eq!(endpoint(base).unwrap().as_str(), "http://h:1/v1/messages");
        }
        let proxied = endpoint("https://gw.example/anthropic/").unwrap();
        assert_eq!(proxied.as_str(), "https://gw.example/anthropic/v1/messages");
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_password() {
        for base in ["", "api.anthropic.com", "ftp://ana:s3cret@h", "http//ana:s3cret@h"] {
            let error = endpoint(base).unwrap_err();
            assert_eq!(error.code(), "bad_base_url", "{base}");
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn loopback_needs_no_proxy() {
        let is = |url: &str| is_loopback(&Url::parse(url).unwrap());
        assert!(is("http://localhost:1") && is("http://127.0.0.2") && is("http://[::1]:8"));
        assert!(!is("https://api.anthropic.com") && !is("http://10.0.0.1"));
    }

    #[test]
    fn a_key_never_shows() {
        let key = Some(SecretString::from("sk-s3cret"));
        let model =
            AnthropicModel::new(AnthropicConnection { key, ..AnthropicConnection::default() })
                .unwrap();
        assert_eq!(format!("{model:?}"), r#"AnthropicModel { host: "api.anthropic.com", .. }"#);
        assert_eq!(headers(&SecretString::from("a\nb")).unwrap_err(), ModelError::BadApiKey);
    }
}
