//! The sign-in page: how to get in, with a field for a token. No script, and nothing from elsewhere.

use std::net::IpAddr;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde::Deserialize;

use crate::app::App;
use crate::body::FormBody;
use crate::sign_in::{PageSecrets, TypedSignIn, cookie_header};

/// The colours of the page, and what this one makes of them.
const STYLE: &str =
    concat!(include_str!("../../../web/src/ui/tokens.css"), include_str!("sign_in_page/style.css"));

const TOP: &str = include_str!("sign_in_page/top.html");
const BOTTOM: &str = include_str!("sign_in_page/bottom.html");

/// How many seconds somebody has to wait who guessed too often.
const WAIT: &str = "60";

/// What somebody who is not let in has to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignInNotice {
    None,
    LinkIsVoid,
    UnknownToken,
    TooManyAttempts,
}

impl SignInNotice {
    fn status(self) -> StatusCode {
        match self {
            Self::None | Self::LinkIsVoid | Self::UnknownToken => StatusCode::UNAUTHORIZED,
            Self::TooManyAttempts => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    fn text(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::LinkIsVoid => Some(
                "This link does not sign you in: it was used before, it is too old, or the server was \
                 started again since. Get a new one as said below.",
            ),
            Self::UnknownToken => Some(
                "This token does not sign you in. It may be mistyped or revoked; and a token of the \
                 role agent opens no page.",
            ),
            Self::TooManyAttempts => Some(
                "Too many wrong tokens were typed. Wait a minute, or use a sign-in link, which still \
                 works.",
            ),
        }
    }
}

/// What was typed.
#[derive(Deserialize)]
pub(crate) struct TypedToken {
    token: String,
}

/// `GET /sign-in`: the page by its own address.
pub(crate) async fn show(State(app): State<App>, headers: HeaderMap) -> Response {
    let mut page = answer(&app, &headers, SignInNotice::None);
    *page.status_mut() = StatusCode::OK;
    page
}

/// `POST /sign-in`: takes a token that somebody typed. A page elsewhere cannot send it: see `guard`.
pub(crate) async fn sign_in(
    State(app): State<App>,
    headers: HeaderMap,
    FormBody(typed): FormBody<TypedToken>,
) -> Response {
    match app.sign_ins.exchange_typed(typed.token.trim()).await {
        Ok(TypedSignIn::Good(secrets)) => signed_in_response(&app, &headers, &secrets),
        Ok(TypedSignIn::Unknown) => answer(&app, &headers, SignInNotice::UnknownToken),
        Ok(TypedSignIn::TooManyAttempts) => {
            let refused = answer(&app, &headers, SignInNotice::TooManyAttempts);
            ([(header::RETRY_AFTER, WAIT)], refused).into_response()
        }
        Err(error) => error.into_response(),
    }
}

/// `GET /sign-in/style.css`: how it looks.
pub(crate) async fn style() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")],
        STYLE,
    )
}

/// Lets a browser in: with a cookie, and the page's own secret where only the page reads it.
pub(crate) fn signed_in_response(
    app: &App,
    headers: &HeaderMap,
    secrets: &PageSecrets,
) -> Response {
    let is_https = app.host_names.is_https(host(headers));
    match cookie_header(app.port, &secrets.cookie, is_https) {
        Some(cookie) => {
            // What comes after `#` stays in the browser: the page takes it out of the address at once.
            let page = format!("/agent#session={}", secrets.page);
            ([(header::SET_COOKIE, cookie)], Redirect::to(&page)).into_response()
        }
        None => answer(app, headers, SignInNotice::None),
    }
}

/// Says how to get in, and why it did not work.
pub(crate) fn answer(app: &App, headers: &HeaderMap, notice: SignInNotice) -> Response {
    let host = host(headers);
    let is_readable = !app.host_names.is_https(host) && !is_loopback(host);
    let page = render(notice, is_readable);
    // With `no-referrer` browsers send the form with the origin `null`, which `guard` refuses.
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::REFERRER_POLICY, "strict-origin")];
    (notice.status(), headers, Html(page)).into_response()
}

fn render(notice: SignInNotice, is_readable: bool) -> String {
    let alert = notice.text().map(|text| format!("<p class=\"alert\" role=\"alert\">{text}</p>\n"));
    let warning = is_readable.then_some(
        "<p class=\"warning\" role=\"note\">This page came over plain HTTP. Whoever is on the network \
         between you and the server can read what you type here.</p>\n",
    );
    [TOP, alert.as_deref().unwrap_or_default(), warning.unwrap_or_default(), BOTTOM].concat()
}

fn host(headers: &HeaderMap) -> &str {
    headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default()
}

fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => name,
        _ => host,
    };
    let literal = name.trim_start_matches('[').trim_end_matches(']');
    let address = literal.parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_needs_no_warning() {
        for here in ["127.0.0.1:4180", "localhost:4180", "[::1]:4180", "[::1]", "localhost"] {
            assert!(is_loopback(here), "{here}");
        }
        for elsewhere in ["192.168.0.7:4180", "mybox.local", "localhost.example:1", ""] {
            assert!(!is_loopback(elsewhere), "{elsewhere}");
        }
    }

    #[test]
    fn it_says_why_and_has_no_script() {
        let page = render(SignInNotice::UnknownToken, true);
        assert!(page.contains("role=\"alert\"") && page.contains("plain HTTP"), "{page}");
        assert!(page.contains("countersign login") && page.contains("<main"), "{page}");
        assert!(!page.contains("<script") && !page.contains("style=\""), "{page}");
        assert!(!render(SignInNotice::None, false).contains("role=\"alert\""));
    }
}
