//! Signing in: tokens for programs; a one-time link, a cookie and a secret of its own for the page.
//!
//! Secrets are compared and stored only as digests, so neither memory dumps of the table nor timing
//! tell anything about them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::Query;
use axum::http::header::{AUTHORIZATION, COOKIE, SEC_WEBSOCKET_PROTOCOL};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri};
use countersign_api::socket::PATH;
use countersign_core::Digest;
use countersign_gate::{Gate, PageSignIn, StoreError, time_after};
use jiff::Timestamp;
use serde::Deserialize;
use subtle::ConstantTimeEq;
use uuid::Uuid;

use crate::caller::AuthenticatedCaller;
use crate::error::ApiError;

/// How long a page stays signed in.
const COOKIE_LIFE: Duration = Duration::from_hours(30 * 24);

/// For how long a token that was good is taken to be so before each event of a stream, in milliseconds.
const RECHECK_MS: i128 = 1000;

/// The header in which the page sends the secret that stands beside its cookie.
const PAGE_SECRET: HeaderName = HeaderName::from_static("x-countersign-session");

/// What stands before that secret among the protocols that the page offers on the socket.
const PAGE_SECRET_PROTOCOL: &str = "countersign.session.";

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

/// How long a link is good that was asked for while the server runs.
pub(crate) const LINK_LIFE: Duration = Duration::from_mins(10);

/// How many links may wait to be used.
const MOST_LINKS: usize = 32;

/// What opens the door for the commands of this machine while the server runs, and no longer.
pub struct LocalCredential {
    digest: Digest,
    name: String,
}

impl LocalCredential {
    /// Returns a new one for a person of this name, and its secret.
    pub fn new(name: impl Into<String>) -> Result<(Self, String), getrandom::Error> {
        let secret = secret()?;
        let digest = Digest::for_bytes(secret.as_bytes());
        Ok((Self { digest, name: name.into() }, secret))
    }
}

/// What came of a token that somebody typed.
pub(crate) enum TypedSignIn {
    Good(PageSecrets),
    Unknown,
    TooManyAttempts,
}

/// Wrong tokens that were typed lately, from wherever: guessing is slow.
#[derive(Default)]
struct FailedAttempts(Mutex<VecDeque<Timestamp>>);

impl FailedAttempts {
    /// So many in so many seconds, and no more.
    const MOST: usize = 10;
    const SECONDS: i64 = 60;

    fn are_too_many(&self, now: Timestamp) -> bool {
        let mut attempts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        attempts.retain(|at| now.duration_since(*at).as_secs() < Self::SECONDS);
        attempts.len() >= Self::MOST
    }

    fn note(&self, now: Timestamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(now);
    }
}

/// Knows who may come in.
pub(crate) struct SignInRegistry {
    gate: Gate,
    token: Option<Digest>,
    local: Option<LocalCredential>,
    /// The links that nobody has used yet, with the moment from which on each is void.
    links: Mutex<Vec<(Digest, Option<Timestamp>)>>,
    failed: FailedAttempts,
    /// When each token of an open stream or socket was last found to be good.
    found_good: Mutex<HashMap<Uuid, Timestamp>>,
}

/// The two secrets of a page that signed in.
pub(crate) struct PageSecrets {
    /// For the browser, which sends it to every port of this host.
    pub(crate) cookie: String,
    /// For the page, which keeps it where only its own origin can read it.
    pub(crate) page: String,
}

impl SignInRegistry {
    pub(crate) fn new(gate: Gate, credential: Credential, local: Option<LocalCredential>) -> Self {
        let (token, links) = match credential {
            Credential::Token(token) => (Some(Digest::for_bytes(token.as_bytes())), Vec::new()),
            Credential::Link(link) => (None, vec![(Digest::for_bytes(link.0.as_bytes()), None)]),
        };
        Self {
            gate,
            token,
            local,
            links: Mutex::new(links),
            failed: FailedAttempts::default(),
            found_good: Mutex::default(),
        }
    }

    /// Makes another one-time link, good for a while.
    pub(crate) fn new_link(&self) -> Result<SignInLink, getrandom::Error> {
        let link = SignInLink(secret()?);
        let now = self.gate.clock().now();
        let mut links = self.lock_links();
        links.retain(|(_, until)| until.is_none_or(|until| now < until));
        // Who asks for many uses the last: the oldest go.
        if links.len() >= MOST_LINKS {
            links.remove(0);
        }
        links.push((Digest::for_bytes(link.0.as_bytes()), Some(time_after(now, LINK_LIFE))));
        Ok(link)
    }

    /// Exchanges what somebody typed for the secrets of a page, unless too much of it was wrong lately.
    pub(crate) async fn exchange_typed(&self, given: &str) -> Result<TypedSignIn, ApiError> {
        let now = self.gate.clock().now();
        if self.failed.are_too_many(now) {
            return Ok(TypedSignIn::TooManyAttempts);
        }
        if let Some(secrets) = self.exchange(given).await? {
            return Ok(TypedSignIn::Good(secrets));
        }
        self.failed.note(now);
        Ok(TypedSignIn::Unknown)
    }

    /// Exchanges a token or the link for the secrets of a page.
    ///
    /// An agent's token opens no page: there is nothing on it that an agent may see.
    pub(crate) async fn exchange(&self, given: &str) -> Result<Option<PageSecrets>, ApiError> {
        let caller = if self.use_link(given) {
            Some(AuthenticatedCaller::admin())
        } else {
            self.token_holder(given).await?.filter(|caller| !caller.is_agent())
        };
        let Some(AuthenticatedCaller { name, role, token }) = caller else { return Ok(None) };
        let no_randomness = |_| ApiError::bad_request("no_randomness", "try again");
        let secrets = PageSecrets {
            cookie: secret().map_err(no_randomness)?,
            page: secret().map_err(no_randomness)?,
        };
        let now = self.gate.clock().now();
        let page_secret = Digest::for_bytes(secrets.page.as_bytes());
        let sign_in = PageSignIn { name, role, token, page_secret };
        let cookie = Digest::for_bytes(secrets.cookie.as_bytes());
        self.gate.store().keep_sign_in(&cookie, sign_in, now, time_after(now, COOKIE_LIFE)).await?;
        Ok(Some(secrets))
    }

    /// Returns who makes a request: the holder of a bearer token, a page with both its secrets, or (on
    /// the stream and the socket) the holder of `?token=`.
    pub(crate) async fn caller(
        &self,
        headers: &HeaderMap,
        uri: &Uri,
        port: u16,
    ) -> Result<AuthenticatedCaller, ApiError> {
        if let Some(token) = bearer(headers) {
            return self.token_holder(token).await?.ok_or_else(ApiError::not_signed_in);
        }
        if let Some(sign_in) = self.sign_in_of_cookie(headers, port).await?
            && page_secret(headers, uri.path())
                .is_some_and(|it| matches_digest(&sign_in.page_secret, it))
        {
            return Ok(caller_of(sign_in));
        }
        // Only where a browser cannot set headers; elsewhere a token in an address would be logged.
        if takes_token(uri.path())
            && let Ok(Query(SignInTokenQuery { token: Some(token) })) = Query::try_from_uri(uri)
            && let Some(caller) = self.token_holder(&token).await?
        {
            return Ok(caller);
        }
        Err(ApiError::not_signed_in())
    }

    /// Returns whom the page itself is shown to: for that the cookie alone is enough.
    pub(crate) async fn page_visitor(
        &self,
        headers: &HeaderMap,
        port: u16,
    ) -> Result<Option<AuthenticatedCaller>, ApiError> {
        if let Some(token) = bearer(headers) {
            return self.token_holder(token).await;
        }
        Ok(self.sign_in_of_cookie(headers, port).await?.map(caller_of))
    }

    /// Returns an error if the caller's token has been revoked since it was shown.
    pub(crate) async fn check_not_revoked(
        &self,
        caller: &AuthenticatedCaller,
    ) -> Result<(), ApiError> {
        match caller.token {
            Some(token) if !self.gate.store().is_token_good(token).await? => {
                Err(ApiError::not_signed_in())
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the caller's token is still good, as of a second ago at the latest: for what is
    /// asked before every event of a stream.
    pub(crate) async fn is_still_good(&self, caller: &AuthenticatedCaller) -> bool {
        let Some(token) = caller.token else { return true };
        let now = self.gate.clock().now();
        let is_recent = |at: &Timestamp| now.duration_since(*at).as_millis().abs() < RECHECK_MS;
        if self.lock_found_good().get(&token).is_some_and(is_recent) {
            return true;
        }
        // A database that does not answer ends the stream; who comes back is asked again.
        let is_good = self.check_not_revoked(caller).await.is_ok();
        let mut found_good = self.lock_found_good();
        if is_good {
            found_good.insert(token, now);
        } else {
            found_good.remove(&token);
        }
        is_good
    }

    async fn token_holder(&self, given: &str) -> Result<Option<AuthenticatedCaller>, ApiError> {
        if self.token.as_ref().is_some_and(|token| matches_digest(token, given)) {
            return Ok(Some(AuthenticatedCaller::admin()));
        }
        if let Some(local) =
            self.local.as_ref().filter(|local| matches_digest(&local.digest, given))
        {
            return Ok(Some(AuthenticatedCaller {
                name: local.name.clone(),
                ..AuthenticatedCaller::admin()
            }));
        }
        let found = self.gate.store().find_token(&Digest::for_bytes(given.as_bytes())).await?;
        Ok(found.map(|it| AuthenticatedCaller { name: it.name, role: it.role, token: Some(it.id) }))
    }

    fn use_link(&self, given: &str) -> bool {
        let now = self.gate.clock().now();
        let is_good = |(link, until): &(Digest, Option<Timestamp>)| {
            matches_digest(link, given) && until.is_none_or(|until| now < until)
        };
        let mut links = self.lock_links();
        let found = links.iter().position(is_good);
        if let Some(used) = found {
            links.remove(used);
        }
        found.is_some()
    }

    fn lock_links(&self) -> MutexGuard<'_, Vec<(Digest, Option<Timestamp>)>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn sign_in_of_cookie(
        &self,
        headers: &HeaderMap,
        port: u16,
    ) -> Result<Option<PageSignIn>, StoreError> {
        let Some(cookie) = cookie(headers, port) else { return Ok(None) };
        let now = self.gate.clock().now();
        self.gate.store().find_sign_in(&Digest::for_bytes(cookie.as_bytes()), now).await
    }

    fn lock_found_good(&self) -> MutexGuard<'_, HashMap<Uuid, Timestamp>> {
        self.found_good.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn caller_of(PageSignIn { name, role, token, page_secret: _ }: PageSignIn) -> AuthenticatedCaller {
    AuthenticatedCaller { name, role, token }
}

/// Returns the `Set-Cookie` value that keeps a page signed in.
///
/// Cookies do not know ports, so the name does: two servers on one machine stay apart. For the same
/// reason the cookie alone opens nothing: the browser sends it to whoever holds another port.
pub(crate) fn cookie_header(port: u16, secret: &str, is_https: bool) -> Option<HeaderValue> {
    let life = COOKIE_LIFE.as_secs();
    let secure = if is_https { "; Secure" } else { "" };
    format!(
        "countersign_{port}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={life}{secure}"
    )
    .parse()
    .ok()
}

#[derive(Deserialize)]
struct SignInTokenQuery {
    token: Option<String>,
}

/// Where a browser cannot set headers: on the socket and on the stream.
fn takes_token(path: &str) -> bool {
    let stream = path.strip_prefix("/my/projects/").and_then(|it| it.strip_suffix("/chat/stream"));
    path == PATH || stream.is_some_and(|project| !project.contains('/'))
}

/// Returns the secret of the page: a header, or on the socket, for which a page cannot set any, one of
/// the protocols that it offers.
fn page_secret<'a>(headers: &'a HeaderMap, path: &str) -> Option<&'a str> {
    if let Some(secret) = headers.get(PAGE_SECRET) {
        return secret.to_str().ok();
    }
    if path != PATH {
        return None;
    }
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    offered
        .filter_map(|value| value.to_str().ok())
        .flat_map(|protocols| protocols.split(','))
        .find_map(|protocol| protocol.trim().strip_prefix(PAGE_SECRET_PROTOCOL))
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

fn matches_digest(known: &Digest, given: &str) -> bool {
    let given = Digest::for_bytes(given.as_bytes());
    known.as_str().as_bytes().ct_eq(given.as_str().as_bytes()).into()
}

/// Returns 256 random bits as text.
fn secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(Digest::for_bytes(&bytes).to_string())
}
