//! The guard: requests must be meant for this server and come from its own page, or from no page.
//!
//! A web page somewhere else can make a browser send requests here, and a name it controls can be
//! made to point here. Neither may reach a handler, whatever credential the browser adds.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;
use crate::host_names::HostNames;

/// Which hosts this server answers to.
#[derive(Clone, Debug)]
pub(crate) struct HostGuard {
    address: SocketAddr,
    names: Arc<HostNames>,
}

impl HostGuard {
    pub(crate) fn new(address: SocketAddr, names: Arc<HostNames>) -> Self {
        Self { address, names }
    }

    fn check(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let host =
            headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let is_named = self.names.include(host, self.address.port());
        if !is_named && !self.answers_to(host) {
            let why = format!("this server does not answer to the host `{host}`");
            let hint = "to reach it by this name, start it with --allow-host or --public-url";
            return Err(ApiError { hint: Some(hint), ..ApiError::forbidden("bad_host", why) });
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        // Behind a name there may be a proxy that speaks TLS.
        let schemes: &[&str] = if is_named { &["http://", "https://"] } else { &["http://"] };
        let same = |origin: &[u8]| {
            let mut hosts = schemes.iter().filter_map(|it| origin.strip_prefix(it.as_bytes()));
            hosts.any(|it| it.eq_ignore_ascii_case(host.as_bytes()))
        };
        if origins.all(|origin| same(origin.as_bytes())) {
            Ok(())
        } else {
            Err(ApiError::forbidden("bad_origin", "requests from other pages are refused"))
        }
    }

    /// Names could be made to point here; addresses and `localhost` cannot.
    fn answers_to(&self, host: &str) -> bool {
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
pub(crate) async fn check_host_and_origin(
    State(guard): State<HostGuard>,
    request: Request,
    next: Next,
) -> Response {
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

    #[test]
    fn a_name_that_was_allowed_gets_through_also_behind_tls_and_no_other_page_does() {
        let names = HostNames {
            public_url: Some("https://gate.example".parse().unwrap()),
            allowed: vec!["mybox.local".parse().unwrap()],
        };
        let guard = HostGuard::new("0.0.0.0:4180".parse().unwrap(), Arc::new(names));
        let passes = |host: &str, origin: &str| guard.check(&headers(host, Some(origin))).is_ok();
        assert!(passes("gate.example", "https://gate.example"));
        assert!(passes("mybox.local:4180", "http://mybox.local:4180"));
        assert!(!passes("gate.example", "https://evil.example"));
        assert!(!passes("mybox.local:4180", "http://gate.example"));
        assert!(!passes("evil.example:4180", "http://evil.example:4180"));
        assert!(!passes("192.168.0.7:4180", "https://192.168.0.7:4180"));
    }

    #[track_caller]
    fn check(host: &str, origin: Option<&str>, passes: bool) {
        let guard = HostGuard::new("127.0.0.1:4180".parse().unwrap(), Arc::default());
        assert_eq!(guard.check(&headers(host, origin)).is_ok(), passes, "{host} {origin:?}");
    }

    fn headers(host: &str, origin: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        headers
    }
}
