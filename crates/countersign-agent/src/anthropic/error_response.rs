//! Reads why a server refused a request.

use std::time::Duration;

use jiff::fmt::rfc2822;
use reqwest::Response;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::model::{ApiErrorDetails, ModelError};

/// An error page is not read further.
const LONGEST_BODY: usize = 64 * 1024;

/// Reads the error. Should the server have quoted the key, it is taken out.
pub(super) async fn read(response: Response, key: &SecretString) -> ModelError {
    let status = response.status();
    let retry_after = retry_after(response.headers());
    let body = read_body(response).await.replace(key.expose_secret().trim(), "[key]");
    let (kind, message) = parse(&body);
    let message = message.unwrap_or_else(|| status.to_string());
    ApiErrorDetails { status: Some(status.as_u16()), kind, message, retry_after }.into()
}

async fn read_body(mut response: Response) -> String {
    let mut body = Vec::new();
    // Whatever breaks off here: the status is known, and says enough.
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > LONGEST_BODY {
            break;
        }
    }
    String::from_utf8_lossy(&body).into_owned()
}

/// Returns the kind and the words of the API's error, as far as the body has them.
fn parse(body: &str) -> (String, Option<String>) {
    let Ok(body) = serde_json::from_str::<Value>(body) else {
        return (String::new(), None);
    };
    let error = body.get("error").unwrap_or(&body);
    let field = |key: &str| error.get(key).and_then(Value::as_str).map(str::to_owned);
    let message = field("message").or_else(|| error.as_str().map(str::to_owned));
    (field("type").unwrap_or_default(), message)
}

/// Returns how long to wait: a number of seconds, or a date that is compared with the server's own.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let asked = text(RETRY_AFTER)?;
    if let Ok(seconds) = asked.parse() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = rfc2822::parse(asked).ok()?.timestamp();
    let now = rfc2822::parse(text(DATE)?).ok()?.timestamp();
    Duration::try_from(until.duration_since(now)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_a_number_or_a_date() {
        let date = "Sun, 15 Nov 2026 10:00:00 GMT";
        assert_eq!(wait("7", date), Some(Duration::from_secs(7)));
        assert_eq!(wait("0.5", date), Some(Duration::from_millis(500)));
        assert_eq!(wait("Sun, 15 Nov 2026 10:00:20 GMT", date), Some(Duration::from_secs(20)));
        assert_eq!(wait("Sun, 15 Nov 2026 09:00:00 GMT", date), None);
        assert_eq!(wait("-3", date), None);
        assert_eq!(wait("soon", date), None);
        assert_eq!(wait("1e300", date), None);
    }

    #[test]
    fn an_error_is_found_in_the_bodies_servers_send() {
        let api = r#"{"type":"error","error":{"type":"api_error","message":"Oops"}}"#;
        assert_eq!(parse(api), ("api_error".into(), Some("Oops".into())));
        assert_eq!(parse(r#"{"error":"Oops"}"#), (String::new(), Some("Oops".into())));
        assert_eq!(parse("<html>502</html>"), (String::new(), None));
        assert_eq!(parse("[]"), (String::new(), None));
    }

    fn wait(retry_after: &str, date: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, retry_after.parse().unwrap());
        headers.insert(DATE, date.parse().unwrap());
        super::retry_after(&headers)
    }
}
