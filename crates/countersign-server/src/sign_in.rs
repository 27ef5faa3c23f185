//! Signing in: a token for scripts, a one-time link and a cookie for the page.
//!
//! Secrets are compared and stored only as digests, so neither memory dumps of the table nor timing
//! tell anything about them.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{FromRequestParts, Query};
use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use countersign_core::Digest;
use countersign_gate::{Gate, StoreError, after};
use serde::Deserialize;
use subtle::ConstantTimeEq;

use crate::app::App;
use crate::error::ApiError;

/// How long a page stays signed in.
const COOKIE_LIFE: Duration = Duration::from_hours(30 * 24);

/// The name a person gets who signs in without giving one.
const ADMIN: &str = "admin";

/// A secret that signs one browser in, once.
#[derive(Clone)]
pub struct SignInLink(String);

impl SignInLink {
    /// Returns the secret, to be shown to the person at the terminal and to nobody else.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

/// What opens the door.
pub enum Credential {
    /// A token the person chose, good as often as they like.
    Token(String),
    /// A link that is good once.
    Link(SignInLink),
}

impl Credential {
    /// Returns a new one-time link.
    pub fn new_link() -> Result<(Self, SignInLink), getrandom::Error> {
        let link = SignInLink(secret()?);
        Ok((Self::Link(link.clone()), link))
    }
}

/// Knows who may come in.
pub(crate) struct SignIns {
    gate: Gate,
    token: Option<Digest>,
    // None once it is used.
    link: Mutex<Option<Digest>>,
}

impl SignIns {
    pub(crate) fn new(gate: Gate, credential: Credential) -> Self {
        let (token, link) = match credential {
            Credential::Token(token) => (Some(Digest::of(token.as_bytes())), None),
            Credential::Link(link) => (None, Some(Digest::of(link.0.as_bytes()))),
        };
        Self { gate, token, link: Mutex::new(link) }
    }

    /// Exchanges a token or the link for the secret of a cookie.
    pub(crate) async fn exchange(&self, given: &str) -> Result<Option<String>, ApiError> {
        if !self.is_token(given) && !self.use_link(given) {
            return Ok(None);
        }
        let cookie = secret().map_err(|_| ApiError::bad_request("no_randomness", "try again"))?;
        let now = self.gate.clock().now();
        let hash = Digest::of(cookie.as_bytes());
        self.gate.store().keep_sign_in(&hash, ADMIN, now, after(now, COOKIE_LIFE)).await?;
        Ok(Some(cookie))
    }

    fn is_token(&self, given: &str) -> bool {
        self.token.as_ref().is_some_and(|token| same(token, given))
    }

    fn use_link(&self, given: &str) -> bool {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        let good = link.as_ref().is_some_and(|link| same(link, given));
        if good {
            *link = None;
        }
        good
    }

    async fn person_of_cookie(&self, cookie: &str) -> Result<Option<String>, StoreError> {
        let now = self.gate.clock().now();
        self.gate.store().signed_in(&Digest::of(cookie.as_bytes()), now).await
    }
}

/// Returns the `Set-Cookie` value that keeps a page signed in.
///
/// Cookies do not know ports, so the name does: two servers on one machine stay apart.
pub(crate) fn cookie_header(port: u16, secret: &str) -> Option<HeaderValue> {
    let life = COOKIE_LIFE.as_secs();
    format!("countersign_{port}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={life}")
        .parse()
        .ok()
}

/// A person who showed a credential: a bearer token, the page's cookie, or (on the socket) `?token=`.
pub(crate) struct SignedIn(pub(crate) String);

#[derive(Deserialize)]
struct TokenQuery {
    token: Option<String>,
}

impl FromRequestParts<App> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let sign_ins = &app.sign_ins;
        if let Some(token) = bearer(&parts.headers) {
            return if sign_ins.is_token(token) {
                Ok(Self(ADMIN.to_owned()))
            } else {
                Err(ApiError::not_signed_in())
            };
        }
        if let Some(cookie) = cookie(&parts.headers, app.port)
            && let Some(person) = sign_ins.person_of_cookie(cookie).await?
        {
            return Ok(Self(person));
        }
        // Only where a browser cannot set headers; elsewhere a token in an address would be logged.
        if takes_token(parts.uri.path())
            && let Ok(Query(TokenQuery { token: Some(token) })) = Query::try_from_uri(&parts.uri)
            && sign_ins.is_token(&token)
        {
            return Ok(Self(ADMIN.to_owned()));
        }
        Err(ApiError::not_signed_in())
    }
}

/// Where a browser cannot set headers: on the socket and on the stream.
fn takes_token(path: &str) -> bool {
    let stream = path.strip_prefix("/my/projects/").and_then(|it| it.strip_suffix("/chat/stream"));
    path == crate::socket::PATH || stream.is_some_and(|project| !project.contains('/'))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn cookie(headers: &HeaderMap, port: u16) -> Option<&str> {
    let name = format!("countersign_{port}");
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find_map(|(key, value)| (key == name).then_some(value))
}

fn same(known: &Digest, given: &str) -> bool {
    let given = Digest::of(given.as_bytes());
    known.as_str().as_bytes().ct_eq(given.as_str().as_bytes()).into()
}

/// Returns 256 random bits as text.
fn secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(Digest::of(&bytes).to_string())
}
