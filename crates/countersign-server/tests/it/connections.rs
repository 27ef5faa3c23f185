//! Connections that send nothing, little or slowly: closed, and never in the way of those that ask.

use std::time::Duration;

use countersign_server::ConnectionLimits;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::world::{TOKEN, World, WorldLimits};

const HELLO: &str = "[[script]]\n[[script.turn]]\nsay = 'hello'\n";

const HALF_A_HEAD: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localh";

fn limits() -> ConnectionLimits {
    ConnectionLimits { undisturbed: Duration::ZERO, ..ConnectionLimits::default() }
}

async fn world(connections: ConnectionLimits) -> World {
    World::with_limits(HELLO, WorldLimits { connections, ..WorldLimits::default() }).await
}

#[tokio::test]
async fn half_a_head_is_not_waited_for() {
    let world =
        world(ConnectionLimits { head_patience: Duration::from_millis(200), ..limits() }).await;
    let mut slow = TcpStream::connect(&world.address).await.unwrap();
    slow.write_all(HALF_A_HEAD).await.unwrap();
    let mut silent = TcpStream::connect(&world.address).await.unwrap();
    assert_eq!(rest(&mut slow).await, "");
    assert_eq!(rest(&mut silent).await, "");
}

#[tokio::test]
async fn a_connection_that_is_kept_for_nothing_is_closed() {
    let world =
        world(ConnectionLimits { head_patience: Duration::from_millis(200), ..limits() }).await;
    let mut kept = TcpStream::connect(&world.address).await.unwrap();
    kept.write_all(head(&world, "/healthz").as_bytes()).await.unwrap();
    let answer = rest(&mut kept).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok\n"), "{answer}");
}

#[tokio::test]
async fn slow_connections_do_not_keep_others_from_being_answered() {
    let world = world(ConnectionLimits { per_address: 20, in_all: 40, ..limits() }).await;
    // These have shown a credential, and last.
    let mut stream = world.stream("?executor=none").await;
    let mut client = world.client().await;
    let mut slow = Vec::new();
    for _ in 0..200 {
        let mut socket = TcpStream::connect(&world.address).await.unwrap();
        // One that was closed meanwhile takes nothing.
        let _ = socket.write_all(HALF_A_HEAD).await;
        slow.push(socket);
    }
    let healthy = world.http.get(world.url("/healthz")).send().await.unwrap();
    assert_eq!(healthy.status(), 200);
    // The first of them gave way, long before their time was over.
    for socket in &mut slow[..150] {
        // A connection that is reset is closed, too.
        let _ = socket.read_to_end(&mut Vec::new()).await;
    }
    client.run("hello").await;
    client.until("result/success").await;
    stream.until("run.done").await;
}

#[tokio::test]
async fn callers_that_wait_for_a_person_take_no_place() {
    let few = ConnectionLimits { per_address: 3, in_all: 3, ..ConnectionLimits::default() };
    let world = world(few).await;
    let call = |n: u32| json!({"tool_name": "Bash", "tool_input": {"command": format!("make x{n}")}, "wait_seconds": 300});
    let path = "/my/projects/default/tools/calls";
    let waiting: Vec<_> = (0..8)
        .map(|n| {
            let request = world.http.post(world.url(path)).bearer_auth(TOKEN);
            let request = request.body(call(n).to_string());
            tokio::spawn(async move { request.send().await.unwrap().status() })
        })
        .collect();
    let mut pending = Vec::new();
    while pending.len() < 8 {
        let listed = world.get("/my/projects/default/approvals?status=pending").await;
        pending = listed["approvals"].as_array().unwrap().clone();
    }
    for request in pending {
        let id = request["approval_id"].as_str().unwrap();
        let path = format!("/my/projects/default/approvals/{id}/approve");
        assert_eq!(world.post(&path, json!({})).await.0, 200);
    }
    for caller in waiting {
        assert_eq!(caller.await.unwrap(), 200);
    }
}

fn head(world: &World, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", world.address)
}

/// Returns what the server sends until it hangs up.
async fn rest(socket: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}
