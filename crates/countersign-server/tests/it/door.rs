//! The door: credentials, hosts, origins, and what is open to all.

use reqwest::header::{COOKIE, HOST, HeaderName, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
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
