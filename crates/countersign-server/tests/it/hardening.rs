//! What comes wrong, too large, too slow or half: each a clear status and body, the server unharmed.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::world::{TOKEN, World, WorldLimits};

const HELLO: &str = "[[script]]\n[[script.turn]]\nsay = 'hello'\n";

async fn raw(world: &World, method: Method, path: &str, body: Vec<u8>) -> (StatusCode, Value) {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = http.request(method, world.url(path)).bearer_auth(TOKEN).body(body);
    let answer = request.send().await.unwrap();
    (answer.status(), answer.json().await.unwrap())
}

#[tokio::test]
async fn what_is_no_json_is_said_to_be_none() {
    let world = World::playing(HELLO).await;
    let paths = ["/my/projects", "/my/projects/default/chat/messages"];
    let deep = format!("{{\"content\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
    for path in paths {
        for body in [
            &b"{"[..],
            b"",
            b"nonsense",
            b"{} {}",
            b"\xff\xfe",
            b"{\"content\": \"\xff\"}",
            b"\0",
            deep.as_bytes(),
        ] {
            let (status, error) = raw(&world, Method::POST, path, body.to_vec()).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{path} {body:?}");
            assert!(error["error"]["code"].as_str().unwrap().starts_with("bad_"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_told_so() {
    let world = World::playing(HELLO).await;
    let large = json!({"content": "x".repeat(5 * 1024 * 1024), "executor": "local"});
    let path = "/my/projects/default/chat/messages";
    let (status, error) = raw(&world, Method::POST, path, large.to_string().into_bytes()).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{error}");
    assert_eq!(error["error"]["code"], "too_large");
    // One that says how large it would be is not waited for.
    let mut socket = TcpStream::connect(&world.address).await.unwrap();
    let head = head(&world, "POST", path, "Content-Length: 999999999999\r\n");
    socket.write_all(head.as_bytes()).await.unwrap();
    let answer = rest(&mut socket).await.to_lowercase();
    assert!(answer.starts_with("http/1.1 413"), "{answer}");
    assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let body_patience = Duration::from_millis(200);
    let limits = WorldLimits { body_patience, ..WorldLimits::default() };
    let world = World::with_limits(HELLO, limits).await;
    let path = "/my/projects/default/chat/messages";
    let mut socket = TcpStream::connect(&world.address).await.unwrap();
    let head = head(&world, "POST", path, "Content-Length: 100\r\n");
    socket.write_all(head.as_bytes()).await.unwrap();
    socket.write_all(b"{\"content\":").await.unwrap();
    let answer = rest(&mut socket).await.to_lowercase();
    assert!(answer.starts_with("http/1.1 408"), "{answer}");
    assert!(answer.contains("slow_body"), "{answer}");
    assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
}

/// Clients keep connections: one that is hung up on without a word loses its next request.
#[tokio::test]
async fn a_refusal_while_the_body_is_still_coming_says_that_it_hangs_up() {
    let world = World::playing(HELLO).await;
    for path in
        ["/my/projects/default/chat/messages", "/my/projects/default/tools/calls", "/nothing"]
    {
        let mut socket = TcpStream::connect(&world.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n",
            world.address
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        let answer = rest(&mut socket).await.to_lowercase();
        assert!(
            answer.starts_with("http/1.1 401") || answer.starts_with("http/1.1 404"),
            "{answer}"
        );
        assert!(answer.contains("\r\nconnection: close\r\n"), "{path}: {answer}");
    }
    // One whose body is there is kept.
    let mut socket = TcpStream::connect(&world.address).await.unwrap();
    let head = format!("GET /my/projects HTTP/1.1\r\nHost: {}\r\n\r\n", world.address);
    for _ in 0..2 {
        socket.write_all(head.as_bytes()).await.unwrap();
        let mut first = vec![0; 2048];
        let count = socket.read(&mut first).await.unwrap();
        let answer = String::from_utf8_lossy(&first[..count]).to_lowercase();
        assert!(
            answer.starts_with("http/1.1 401") && !answer.contains("connection: close"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn connections_that_break_off_leave_the_server_as_it_was() {
    let world = World::playing(HELLO).await;
    for _ in 0..20 {
        let mut half = TcpStream::connect(&world.address).await.unwrap();
        let head =
            head(&world, "POST", "/my/projects/default/chat/messages", "Content-Length: 100\r\n");
        half.write_all(head.as_bytes()).await.unwrap();
        half.write_all(b"{\"con").await.unwrap();
        drop(half);
        let mut stream = TcpStream::connect(&world.address).await.unwrap();
        let head = self::head(&world, "GET", "/my/projects/default/chat/stream", "");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut first = [0; 64];
        stream.read_exact(&mut first).await.unwrap();
        // It says that it sends nothing more, and leaves.
        stream.shutdown().await.unwrap();
    }
    assert_eq!(world.get("/my/projects/default").await["success"], true);
}

#[tokio::test]
async fn addresses_that_lead_nowhere_are_not_found_and_methods_that_are_not_taken_say_so() {
    let world = World::playing(HELLO).await;
    for path in [
        "/my/projects/%ff",
        "/my/projects/%00",
        "/my/projects/default/approvals/%ff",
        "/my/projects/default/approvals/..%2f..",
        "/my/projects/default/sessions/%00/messages",
        "/my/projects/default/sessions/nope/messages",
        "/my/projects/default/nothing",
        "/nothing",
        "/my/projects/default/",
    ] {
        let (status, error) = raw(&world, Method::GET, path, Vec::new()).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path} {error}");
        assert_eq!(error["success"], false, "{path}");
    }
    for (method, path) in [
        (Method::DELETE, "/my/projects"),
        (Method::PUT, "/my/projects/default"),
        (Method::GET, "/my/projects/default/chat/messages"),
        (Method::POST, "/my/projects/default/chat/stream"),
        (Method::DELETE, "/my/projects/default/approvals"),
    ] {
        let (status, error) = raw(&world, method.clone(), path, Vec::new()).await;
        assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path} {error}");
        assert_eq!(error["error"]["code"], "wrong_method");
    }
}

#[tokio::test]
async fn every_path_but_the_open_ones_needs_a_credential() {
    let world = World::playing(HELLO).await;
    let document = world.get("/openapi.json").await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut closed = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let open = ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/identity"];
            if open.contains(&path.as_str()) {
                continue;
            }
            let path = path.replace("{project_id}", "default");
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let answer = http.request(method, world.url(&path)).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{path}");
            closed += 1;
        }
    }
    assert!(closed > 20, "{closed}");
}

fn head(world: &World, method: &str, path: &str, more: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n{more}\r\n",
        world.address
    )
}

/// Returns what the server sends until it hangs up.
async fn rest(socket: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}
