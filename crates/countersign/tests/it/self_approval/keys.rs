//! The agent's key decides nothing: its token, the port of its server, the cookie of a page.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use reqwest::redirect::Policy;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;

use crate::world::{Serving, TOKEN, countersign, stderr};

const SERVE: [&str; 6] = ["serve", "--demo", "--listen", "127.0.0.1:0", "--token", TOKEN];

#[tokio::test]
async fn the_token_of_the_hook_cannot_approve_list_or_change_anything() {
    let serving = Serving::start(&SERVE, &[]);
    let file = install_hook(&serving);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let token = token_in(&file);
    assert_ne!(token, TOKEN);
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "git push --force"}});
    let (status, waiting) =
        ask(&serving, &token, Method::POST, "/default/tools/calls", Some(call)).await;
    assert_eq!((status, &waiting["status"]), (StatusCode::OK, &json!("awaiting_approval")));
    let approval = waiting["approval_id"].as_str().unwrap();
    let approve = format!("/default/approvals/{approval}/approve");
    for (method, path) in [
        (Method::POST, approve.as_str()),
        (Method::POST, &format!("/default/approvals/{approval}/reject")),
        (Method::GET, "/default/approvals"),
        (Method::GET, "/default/tools/executions"),
        (Method::GET, "/default/sessions"),
        (Method::PUT, "/default/rules"),
        (Method::PATCH, "/default"),
        (Method::POST, "/default/chat/messages"),
        (Method::GET, ""),
    ] {
        let body = (method != Method::GET).then(|| json!({}));
        let (status, refused) = ask(&serving, &token, method, path, body).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path}: {refused}");
        assert_eq!(refused["error"]["code"], "role");
    }
    let address = serving.url.strip_prefix("http://").unwrap();
    let socket = format!("ws://{address}/api/terminal/ws/agent?token={token}");
    assert!(connect_async(socket).await.is_err());
    let page = http().get(format!("{}/agent?token={token}", serving.url)).send().await.unwrap();
    assert_eq!(page.status(), StatusCode::UNAUTHORIZED);
    let yes = Some(json!({"decision": "approved"}));
    let (status, decided) = ask(&serving, TOKEN, Method::POST, &approve, yes).await;
    assert_eq!(status, StatusCode::OK, "what waited still waits for a person: {decided}");
}

#[test]
fn the_hook_keeps_its_token_while_it_is_good() {
    let serving = Serving::start(&SERVE, &[]);
    let home = serving.home.path();
    let first = token_in(&install_hook(&serving));
    assert_eq!(token_in(&install_hook(&serving)), first);
    let listed = countersign(home).args(["token", "list", "--json"]).output().unwrap().stdout;
    let listed: Value = serde_json::from_slice(&listed).unwrap();
    assert_eq!((&listed["role"], &listed["name"]), (&json!("agent"), &json!("hook")));
    let revoke = ["token", "revoke", listed["id"].as_str().unwrap()];
    assert_eq!(countersign(home).args(revoke).output().unwrap().status.code(), Some(0));
    assert_ne!(token_in(&install_hook(&serving)), first);
}

#[tokio::test]
async fn the_hook_asks_its_own_server_and_waits_for_a_person() {
    let serving = Serving::start(&SERVE, &[]);
    let file = install_hook(&serving);
    let hook = Hook::start(serving.home.path(), &serving.url, &file);
    let waiting = loop {
        let path = "/default/approvals?status=pending";
        let (_, listed) = ask(&serving, TOKEN, Method::GET, path, None).await;
        if let Some(waiting) = listed["approvals"].get(0) {
            break waiting.clone();
        }
    };
    let path = format!("/default/approvals/{}/approve", waiting["approval_id"].as_str().unwrap());
    let yes = Some(json!({"decision": "approved"}));
    assert_eq!(ask(&serving, TOKEN, Method::POST, &path, yes).await.0, StatusCode::OK);
    let (decision, why) = hook.answer().await;
    assert_eq!(decision, "allow", "{why}");
    assert!(why.contains("approved by admin"), "{why}");
}

#[tokio::test]
async fn who_holds_the_servers_port_gets_no_token_and_is_not_believed() {
    let serving = Serving::start(&SERVE, &[]);
    let file = install_hook(&serving);
    let home = tempfile::tempdir().unwrap();
    let kept = home.path().join("token");
    std::fs::copy(&file, &kept).unwrap();
    let (url, token) = (serving.url.clone(), token_in(&file));
    drop(serving);
    let port = url.rsplit(':').next().unwrap().parse().unwrap();
    let impostor = Impostor::says_yes(port);
    let (decision, why) = Hook::start(home.path(), &url, &kept).answer().await;
    assert_eq!(decision, "ask", "{why}");
    assert!(why.contains("did not prove"), "{why}");
    let heard = impostor.heard();
    assert!(heard.contains("POST /identity"), "{heard}");
    assert!(!heard.contains(&token) && !heard.contains("/tools/calls"), "{heard}");
}

#[tokio::test]
async fn who_passes_the_challenge_on_to_the_server_gets_no_token_either() {
    let serving = Serving::start(&SERVE, &[]);
    let file = install_hook(&serving);
    let impostor = Impostor::passes_on(&serving.url);
    let hook = Hook::start(serving.home.path(), &impostor.url, &file);
    let (decision, why) = hook.answer().await;
    assert_eq!(decision, "ask", "{why}");
    let heard = impostor.heard();
    assert!(heard.contains("POST /identity"), "{heard}");
    assert!(!heard.contains(&token_in(&file)), "{heard}");
}

#[tokio::test]
async fn a_client_obeys_nobody_but_its_server() {
    let serving = Serving::start(&SERVE, &[]);
    let file = install_hook(&serving);
    let impostor = Impostor::passes_on(&serving.url);
    let (url, home) = (impostor.url.clone(), serving.home.path().to_owned());
    let token = token_in(&file);
    let client = tokio::task::spawn_blocking(move || {
        let args = ["client", "--json", "--server", &url, "--sandbox", "off", "--token-file"];
        countersign(&home).args(args).arg(file).output().unwrap()
    });
    let ended = client.await.unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert!(stderr(&ended).contains("did not prove"), "{}", stderr(&ended));
    assert!(!impostor.heard().contains(&token));
}

#[tokio::test]
async fn a_cookie_that_another_port_was_sent_opens_nothing() {
    let serving = Serving::start(&SERVE, &[]);
    let page = http().get(format!("{}/agent?token={TOKEN}", serving.url)).send().await.unwrap();
    let cookie = page.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    for path in ["/my/projects", "/my/projects/default/approvals"] {
        let request = http().get(format!("{}{path}", serving.url)).header("cookie", cookie);
        assert_eq!(request.send().await.unwrap().status(), StatusCode::UNAUTHORIZED, "{path}");
    }
}

#[tokio::test]
async fn tokens_are_made_listed_and_revoked_beside_a_server_that_runs() {
    let serving = Serving::start(&SERVE, &[]);
    let home = serving.home.path();
    let run = |args: &[&str]| {
        let done = countersign(home).arg("token").args(args).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    let token = run(&["create", "--role", "viewer", "--name", "wall"]);
    assert_eq!(ask(&serving, &token, Method::GET, "", None).await.0, StatusCode::OK);
    let listed: Value = serde_json::from_str(&run(&["list", "--json"])).unwrap();
    assert_eq!((&listed["role"], &listed["name"]), (&json!("viewer"), &json!("wall")));
    let database = home.join(".local/share/countersign/countersign.db");
    let wal = std::fs::read(database.with_extension("db-wal")).unwrap_or_default();
    let kept = [std::fs::read(database).unwrap(), wal].concat();
    let is_in = |text: &str| kept.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(is_in("wall") && !is_in(&token), "only its hash is kept");
    run(&["revoke", listed["id"].as_str().unwrap()]);
    assert_eq!(ask(&serving, &token, Method::GET, "", None).await.0, StatusCode::UNAUTHORIZED);
    let again = ["token", "revoke", listed["id"].as_str().unwrap()];
    assert_eq!(countersign(home).args(again).output().unwrap().status.code(), Some(1));
    let wrong = countersign(home).args(["token", "create", "--role", "boss"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

fn http() -> reqwest::Client {
    reqwest::Client::builder().redirect(Policy::none()).no_proxy().build().unwrap()
}

async fn ask(
    serving: &Serving,
    token: &str,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> (StatusCode, Value) {
    let url = format!("{}/my/projects{path}", serving.url);
    let mut request = http().request(method, url).bearer_auth(token);
    if let Some(body) = body {
        request = request.body(body.to_string());
    }
    let answer = request.send().await.unwrap();
    (answer.status(), answer.json().await.unwrap())
}

/// Installs the hook for a server, and returns the file with its token.
fn install_hook(serving: &Serving) -> PathBuf {
    let home = serving.home.path();
    let args = ["hook", "install", "--yes", "--server", &serving.url];
    let done = countersign(home).args(args).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    let file = home.join(".local/share/countersign/agent-token");
    let settings = std::fs::read_to_string(home.join(".claude/settings.json")).unwrap();
    assert!(settings.contains(file.to_str().unwrap()), "{settings}");
    file
}

fn token_in(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap().lines().next().unwrap().to_owned()
}

/// The hook at work on a call that asks.
struct Hook(tokio::task::JoinHandle<std::process::Output>);

impl Hook {
    fn start(home: &Path, server: &str, token_file: &Path) -> Self {
        let event = json!({
            "session_id": "s", "cwd": home, "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "toolu_1",
            "tool_input": {"file_path": "a.txt", "content": "one\n"},
        });
        let mut command = countersign(home);
        command.args(["hook", "--wait", "60", "--server", server, "--token-file"]).arg(token_file);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(tokio::task::spawn_blocking(move || {
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
            child.wait_with_output().unwrap()
        }))
    }

    /// Returns what it decides, and why.
    async fn answer(self) -> (String, String) {
        let output = self.0.await.unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let said = &answer["hookSpecificOutput"];
        let text = |field: &str| said[field].as_str().unwrap_or_default().to_owned();
        (text("permissionDecision"), text("permissionDecisionReason"))
    }
}

/// A process on a port that is not the server, and all that was said to it.
struct Impostor {
    url: String,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Impostor {
    /// Says that everything is approved.
    fn says_yes(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let body = json!({
            "success": true, "status": "approved", "tool_id": "x", "tool_input": {"command": "id"},
            "listens_on": format!("127.0.0.1:{port}"), "signature": "00".repeat(64),
            "public_key": format!("ed25519:{}", "00".repeat(32)),
        })
        .to_string();
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        Self::on(listener, move |_| answer.clone().into_bytes())
    }

    /// Passes what it hears on to the server, and the answers back.
    fn passes_on(server: &str) -> Self {
        let server = server.strip_prefix("http://").unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self::on(listener, move |said| {
            let mut to = TcpStream::connect(&server).unwrap();
            to.write_all(said).unwrap();
            let mut answer = vec![0; 64 * 1024];
            let read = to.read(&mut answer).unwrap_or_default();
            answer.truncate(read);
            answer
        })
    }

    fn on(
        listener: TcpListener,
        answer: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::<Mutex<Vec<u8>>>::default();
        let (noted, answer) = (Arc::clone(&heard), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, noted, answer) =
                    (stream.unwrap(), Arc::clone(&noted), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let mut piece = vec![0; 64 * 1024];
                    while let Ok(count @ 1..) = stream.read(&mut piece) {
                        noted.lock().unwrap().extend_from_slice(&piece[..count]);
                        if stream.write_all(&answer(&piece[..count])).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { url, heard }
    }

    fn heard(&self) -> String {
        String::from_utf8_lossy(&self.heard.lock().unwrap()).into_owned()
    }
}
