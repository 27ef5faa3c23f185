//! The guard: requests must be meant for this server and come from its own page, or from no page.
//!
//! A web page somewhere else can make a browser send requests here, and a name it controls can be
//! made to point here. Neither may reach a handler, whatever credential the browser adds.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;

/// Which hosts this server answers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    address: SocketAddr,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    fn check(self, headers: &HeaderMap) -> Result<(), ApiError> {
        let host =
            headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        if !self.answers_to(host) {
            return Err(ApiError::forbidden(
                "bad_host",
                format!("this server does not answer to the host `{host}`"),
            ));
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let same = |origin: &[u8]| origin.strip_prefix(b"http://") == Some(host.as_bytes());
        if origins.all(|origin| same(origin.as_bytes())) {
            Ok(())
        } else {
            Err(ApiError::forbidden("bad_origin", "requests from other pages are refused"))
        }
    }

    /// Names could be made to point here; addresses and `localhost` cannot.
    fn answers_to(self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        if port != Some(self.address.port()) {
            return false;
        }
        if name.eq_ignore_ascii_case("localhost") {
            return true;
        }
        let literal =
            name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        literal.parse::<IpAddr>().is_ok_and(|ip| {
            ip == self.address.ip() || ip.is_loopback() || self.address.ip().is_unspecified()
        })
    }
}

/// Lets a request through to the handlers, or answers why not.
pub(crate) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_host_and_its_own_page_get_through() {
        check("127.0.0.1:4180", None, true);
        check("localhost:4180", None, true);
        check("[::1]:4180", None, true);
        check("127.0.0.1:4180", Some("http://127.0.0.1:4180"), true);
        check("localhost:4180", Some("http://localhost:4180"), true);
        check("evil.example:4180", None, false);
        check("evil.example:4180", Some("http://evil.example:4180"), false);
        check("127.0.0.1:80", None, false);
        check("127.0.0.1", None, false);
        check("192.168.0.7:4180", None, false);
        check("", None, false);
        check("127.0.0.1:4180", Some("http://evil.example"), false);
        check("127.0.0.1:4180", Some("http://localhost:4180"), false);
        check("127.0.0.1:4180", Some("https://127.0.0.1:4180"), false);
        check("127.0.0.1:4180", Some("null"), false);
    }

    #[track_caller]
    fn check(host: &str, origin: Option<&str>, passes: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let guard = Guard::new("127.0.0.1:4180".parse().unwrap());
        assert_eq!(guard.check(&headers).is_ok(), passes, "{host} {origin:?}");
    }
}
