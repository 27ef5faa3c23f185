//! The door: credentials, hosts, origins, and what is open to all.

use countersign_gate::TokenRole;
use reqwest::header::{COOKIE, HOST, HeaderName, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Response, StatusCode};
use serde_json::Value;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::world::{TOKEN, World};

const PAGE_SECRET: HeaderName = HeaderName::from_static("x-countersign-session");

const NOTHING: &str = "[[script]]\n[[script.turn]]\nsay = 'hello'\n";

#[tokio::test]
async fn health_needs_no_credential_everything_else_does() {
    let world = World::playing(NOTHING).await;
    for open in ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/docs/style.css"] {
        assert_eq!(get(&world, open, &[]).await.status(), StatusCode::OK, "{open}");
    }
    for closed in
        ["/agent", "/assets/x.js", "/my/projects/default/sessions", "/my/projects/default/audit"]
    {
        assert_eq!(get(&world, closed, &[]).await.status(), StatusCode::UNAUTHORIZED, "{closed}");
    }
    let error: Value =
        get(&world, "/my/projects/default/sessions", &[]).await.json().await.unwrap();
    assert_eq!(
        (&error["success"], &error["error"]["code"]),
        (&false.into(), &"not_signed_in".into())
    );
    assert!(error["error"]["hint"].is_string());
}

#[tokio::test]
async fn a_token_in_the_address_becomes_a_cookie_and_leaves_the_address() {
    let world = World::playing(NOTHING).await;
    let wrong = get(&world, "/agent?token=wrong", &[]).await;
    assert_eq!(wrong.status(), StatusCode::UNAUTHORIZED);
    let signed_in = get(&world, &format!("/agent?token={TOKEN}"), &[]).await;
    assert_eq!(signed_in.status(), StatusCode::SEE_OTHER);
    let location = signed_in.headers()[LOCATION].to_str().unwrap().to_owned();
    let page = location.strip_prefix("/agent#session=").unwrap().to_owned();
    let cookie = signed_in.headers()[SET_COOKIE].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(TOKEN) && !cookie.contains(&page));
    let cookie = cookie.split(';').next().unwrap();
    let sessions = "/my/projects/default/sessions";
    let listed = get(&world, sessions, &[(COOKIE, cookie), (PAGE_SECRET, &page)]).await;
    assert_eq!(listed.status(), StatusCode::OK);
    let forged = cookie.replace('=', "=0");
    for half in [
        &[(COOKIE, cookie)][..],
        &[(PAGE_SECRET, page.as_str())],
        &[(COOKIE, &forged), (PAGE_SECRET, &page)],
        &[(COOKIE, cookie), (PAGE_SECRET, "")],
        &[(COOKIE, cookie), (PAGE_SECRET, TOKEN)],
    ] {
        let refused = get(&world, sessions, half).await;
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "{half:?}");
    }
    let shell = get(&world, "/settings", &[(COOKIE, cookie)]).await;
    assert_ne!(shell.status(), StatusCode::UNAUTHORIZED, "the page itself holds no data");
}

/// Chromium sends the cookie to every port of the host: whoever is there must not get in with it.
#[tokio::test]
async fn a_cookie_alone_opens_neither_socket_nor_stream() {
    let world = World::playing(NOTHING).await;
    let signed_in = get(&world, &format!("/agent?token={TOKEN}"), &[]).await;
    let cookie = signed_in.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap();
    let location = signed_in.headers()[LOCATION].to_str().unwrap();
    let page = location.strip_prefix("/agent#session=").unwrap();
    let stream = get(&world, "/my/projects/default/chat/stream", &[(COOKIE, cookie)]).await;
    assert_eq!(stream.status(), StatusCode::UNAUTHORIZED);
    let socket = async |protocols: Option<String>| {
        let url = format!("ws://{}/api/terminal/ws/agent", world.address);
        let mut request = url.into_client_request().unwrap();
        request.headers_mut().insert("cookie", cookie.parse().unwrap());
        if let Some(protocols) = protocols {
            request.headers_mut().insert("sec-websocket-protocol", protocols.parse().unwrap());
        }
        connect_async(request).await
    };
    assert!(socket(None).await.is_err());
    assert!(socket(Some("countersign, countersign.session.0".to_owned())).await.is_err());
    let offered = format!("countersign, countersign.session.{page}");
    let (_, answer) = socket(Some(offered)).await.unwrap();
    assert_eq!(
        answer.headers()["sec-websocket-protocol"],
        "countersign",
        "the secret is not echoed"
    );
}

#[tokio::test]
async fn the_server_proves_who_it_is_for_its_own_address_alone() {
    let world = World::playing(NOTHING).await;
    let nonce = "0123456789abcdef0123456789abcdef";
    let ask = async |host: Option<&str>, nonce: &str| {
        let body = serde_json::json!({"nonce": nonce}).to_string();
        let mut request = world.http.post(world.url("/identity")).body(body);
        if let Some(host) = host {
            request = request.header(HOST, host);
        }
        request.send().await.unwrap()
    };
    let proof: Value = ask(None, nonce).await.json().await.unwrap();
    let text = |field: &str| proof[field].as_str().unwrap();
    let known = world.gate().server_identity().await.unwrap().public_key();
    assert_eq!(text("public_key"), known.to_string());
    assert_eq!(text("listens_on"), world.address);
    assert!(known.verifies(text("signature"), nonce, &world.address, &world.address));
    // A process on another port that passes the challenge on gets nothing to show.
    assert_eq!(ask(Some("127.0.0.1:1"), nonce).await.status(), StatusCode::FORBIDDEN);
    for bad in ["", "0123", "0123456789ABCDEF0123456789ABCDEF", &"0".repeat(129)] {
        assert_eq!(ask(None, bad).await.status(), StatusCode::BAD_REQUEST, "{bad}");
    }
}

#[tokio::test]
async fn a_token_in_the_address_of_anything_but_page_and_socket_is_refused() {
    let world = World::playing(NOTHING).await;
    let path = format!("/my/projects/default/sessions?token={TOKEN}");
    assert_eq!(get(&world, &path, &[]).await.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn other_hosts_and_other_pages_are_refused_whatever_they_carry() {
    let world = World::playing(NOTHING).await;
    let rebound = get(&world, "/healthz", &[(HOST, "evil.example")]).await;
    assert_eq!(rebound.status(), StatusCode::FORBIDDEN);
    let foreign = get(&world, "/healthz", &[(ORIGIN, "http://evil.example")]).await;
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    let own = format!("http://{}", world.address);
    assert_eq!(get(&world, "/healthz", &[(ORIGIN, &own)]).await.status(), StatusCode::OK);
    let url = format!("ws://{}/api/terminal/ws/agent?token={TOKEN}", world.address);
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert("origin", "http://evil.example".parse().unwrap());
    assert!(connect_async(request).await.is_err(), "any page could decide");
}

#[tokio::test]
async fn a_socket_without_a_credential_does_not_open() {
    let world = World::playing(NOTHING).await;
    for query in ["", "?token=wrong", "?token="] {
        let url = format!("ws://{}/api/terminal/ws/agent{query}", world.address);
        assert!(connect_async(url).await.is_err(), "{query}");
    }
    let url = format!("ws://{}/api/terminal/ws/agent?token={TOKEN}&project=nope", world.address);
    assert!(connect_async(url).await.is_err(), "no such project");
}

#[tokio::test]
async fn conversations_are_listed_the_latest_first_page_by_page() {
    let world = World::playing(NOTHING).await;
    let mut client = world.client().await;
    for prompt in ["first", "second", "third"] {
        client.run(prompt).await;
        client.until("result/success").await;
    }
    let bearer = format!("Bearer {TOKEN}");
    let page = async |query: &str| -> Value {
        let path = format!("/my/projects/default/sessions?limit=2{query}");
        let headers = [(reqwest::header::AUTHORIZATION, bearer.as_str())];
        get(&world, &path, &headers).await.json().await.unwrap()
    };
    let titles = |page: &Value| -> Vec<String> {
        let sessions = page["sessions"].as_array().unwrap();
        sessions.iter().map(|session| session["title"].as_str().unwrap().to_owned()).collect()
    };
    let first = page("").await;
    assert_eq!(titles(&first), ["third", "second"]);
    let next = format!("&cursor={}", first["next_cursor"].as_str().unwrap());
    let second = page(&next).await;
    assert_eq!(titles(&second), ["first"]);
    assert!(second["next_cursor"].is_null());
    assert_eq!(page("&cursor=x").await["error"]["code"], "bad_cursor");
}

#[tokio::test]
async fn every_answer_carries_the_strict_headers() {
    let world = World::playing(NOTHING).await;
    let answer = get(&world, "/agent", &[]).await;
    let policy = answer.headers()["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(answer.headers()["x-frame-options"], "DENY");
}

async fn get(
    world: &World,
    path: &str,
    headers: &[(reqwest::header::HeaderName, &str)],
) -> Response {
    let client = Client::builder().redirect(Policy::none()).no_proxy().build().unwrap();
    let mut request = client.get(format!("http://{}{path}", world.address));
    for (name, value) in headers {
        request = request.header(name, *value);
    }
    request.send().await.unwrap()
}

#[tokio::test]
async fn the_sign_in_page_takes_a_token_and_says_what_is_true() {
    let world = World::playing(NOTHING).await;
    let page = get(&world, "/history", &[]).await;
    assert_eq!(page.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(page.headers()["referrer-policy"], "strict-origin", "else its form has no origin");
    assert_eq!(get(&world, "/healthz", &[]).await.headers()["referrer-policy"], "no-referrer");
    let text = page.text().await.unwrap();
    for part in ["<main", "<header", "action=\"/sign-in\"", "countersign login", "<label"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("restart the server"), "{text}");
    let style = get(&world, "/sign-in/style.css", &[]).await;
    assert_eq!(style.headers()["content-type"], "text/css; charset=utf-8");
    assert!(style.text().await.unwrap().contains("--paper"), "the colours are the page's");
    let wrong = type_token(&world, "wrong", None).await;
    assert_eq!(wrong.status(), StatusCode::UNAUTHORIZED);
    assert!(wrong.headers()["content-security-policy"].to_str().unwrap().contains("script-src"));
    assert!(wrong.text().await.unwrap().contains("role=\"alert\""));
    let good = type_token(&world, TOKEN, None).await;
    assert_eq!(good.status(), StatusCode::SEE_OTHER);
    assert!(good.headers()[LOCATION].to_str().unwrap().starts_with("/agent#session="));
    assert!(good.headers().contains_key(SET_COOKIE));
}

#[tokio::test]
async fn a_form_of_another_page_and_an_agents_token_sign_nobody_in() {
    let world = World::playing(NOTHING).await;
    let foreign = type_token(&world, TOKEN, Some("http://evil.example")).await;
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    let (_, agent) = world.gate().create_token(TokenRole::Agent, None).await.unwrap();
    assert_eq!(type_token(&world, &agent, None).await.status(), StatusCode::UNAUTHORIZED);
    let (_, viewer) = world.gate().create_token(TokenRole::Viewer, None).await.unwrap();
    assert_eq!(type_token(&world, &viewer, None).await.status(), StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn guessing_is_slow_and_links_still_work() {
    let world = World::playing(NOTHING).await;
    for attempt in 0..10 {
        let refused = type_token(&world, &format!("guess-{attempt}"), None).await;
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "{attempt}");
    }
    let refused = type_token(&world, TOKEN, None).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()["retry-after"], "60");
    let (status, made) = world.ask(Method::POST, "/sign-in/links", None).await;
    assert_eq!((status, &made["expires_in_seconds"]), (StatusCode::OK, &600.into()), "{made}");
    let url = made["url"].as_str().unwrap();
    let path = url.strip_prefix(&format!("http://{}", world.address)).unwrap();
    assert_eq!(get(&world, path, &[]).await.status(), StatusCode::SEE_OTHER);
    let again = get(&world, path, &[]).await;
    assert_eq!(again.status(), StatusCode::UNAUTHORIZED, "it works once");
    assert!(again.text().await.unwrap().contains("used before"));
}

#[tokio::test]
async fn only_an_admin_makes_links() {
    let world = World::playing(NOTHING).await;
    for role in [TokenRole::Agent, TokenRole::Viewer, TokenRole::Approver] {
        let (_, token) = world.gate().create_token(role, None).await.unwrap();
        let asked = world.http.post(world.url("/sign-in/links")).bearer_auth(token);
        assert_eq!(asked.send().await.unwrap().status(), StatusCode::FORBIDDEN, "{role}");
    }
    let asked = world.http.post(world.url("/sign-in/links")).send().await.unwrap();
    assert_eq!(asked.status(), StatusCode::UNAUTHORIZED);
}

async fn type_token(world: &World, token: &str, origin: Option<&str>) -> Response {
    let client = Client::builder().redirect(Policy::none()).no_proxy().build().unwrap();
    let own = format!("http://{}", world.address);
    let form = client.post(world.url("/sign-in")).header(ORIGIN, origin.unwrap_or(&own));
    let form = form.header("content-type", "application/x-www-form-urlencoded");
    form.body(format!("token=+{token}+")).send().await.unwrap()
}
