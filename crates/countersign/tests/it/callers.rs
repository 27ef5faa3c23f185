//! The examples of other agents behind the gate, run as their readers would run them.
#![expect(clippy::disallowed_methods, reason = "the children are what is tested")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::world::{Serving, TOKEN};

#[tokio::test(flavor = "multi_thread")]
async fn the_python_example_asks_runs_and_reports() {
    let (serving, http) = serve();
    let example = example("python3", "agent.py", &["echo", "hello"], &serving);
    let asked = waiting(&serving, &http).await;
    decide(&serving, &http, &asked, "approve", json!({"decision": "approved"})).await;
    let out = example.await.unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "hello\n", "{out:?}");
    let told = get(&serving, &http, &format!("tools/{}", text(&asked["tool_id"]))).await;
    assert_eq!(told["status"], "completed", "{told}");
    assert_eq!(told["result"]["stdout"], "hello\n", "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_example_runs_nothing_after_a_no() {
    let (serving, http) = serve();
    let example = example("python3", "agent.py", &["touch", "made"], &serving);
    let asked = waiting(&serving, &http).await;
    decide(&serving, &http, &asked, "reject", json!({"reason": "not now"})).await;
    let out = example.await.unwrap();
    assert!(!out.status.success() && !serving.home.path().join("made").exists(), "{out:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shell_example_asks_runs_and_reports() {
    let (serving, http) = serve();
    let example = example("sh", "agent.sh", &["touch", "made"], &serving);
    let asked = waiting(&serving, &http).await;
    decide(&serving, &http, &asked, "approve", json!({"decision": "approved"})).await;
    let out = example.await.unwrap();
    assert!(out.status.success() && serving.home.path().join("made").exists(), "{out:?}");
    let told = get(&serving, &http, &format!("tools/{}", text(&asked["tool_id"]))).await;
    assert_eq!(told["result"]["exit_code"], 0, "{told}");
}

/// What a person approved is what runs, in either language: not what was asked for.
#[tokio::test(flavor = "multi_thread")]
async fn the_examples_run_the_approved_input_and_not_their_own_words() {
    for (program, name) in [("sh", "agent.sh"), ("python3", "agent.py")] {
        let (serving, http) = serve();
        let example = example(program, name, &["touch", "asked for"], &serving);
        let asked = waiting(&serving, &http).await;
        assert_eq!(asked["tool_input"]["args"], json!(["asked for"]), "{name}: {asked}");
        let edited = json!({"command": "touch", "args": ["it's $HOME; \"quoted\"", "-"]});
        let decision = json!({"decision": "approved", "edited_input": edited});
        decide(&serving, &http, &asked, "approve", decision).await;
        let out = example.await.unwrap();
        assert!(out.status.success(), "{name}: {out:?}");
        let home = serving.home.path();
        assert!(!home.join("asked for").exists(), "{name}");
        assert!(home.join("it's $HOME; \"quoted\"").exists(), "{name}");
        let told = get(&serving, &http, &format!("tools/{}", text(&asked["tool_id"]))).await;
        assert_eq!(told["status"], "completed", "{name}: {told}");
    }
}

fn serve() -> (Serving, reqwest::Client) {
    let args = ["serve", "--demo", "--listen", "127.0.0.1:0", "--token", TOKEN];
    (Serving::start(&args, &[]), reqwest::Client::builder().no_proxy().build().unwrap())
}

/// Starts an example in the server's home, as somebody at a terminal would.
fn example(
    program: &str,
    name: &str,
    args: &[&str],
    serving: &Serving,
) -> tokio::task::JoinHandle<Output> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/callers").join(name);
    let mut command = Command::new(program);
    command
        .arg(file)
        .args(args)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("COUNTERSIGN_SERVER", &serving.url)
        .env("COUNTERSIGN_TOKEN", TOKEN)
        .current_dir(serving.home.path())
        .stdin(Stdio::null());
    tokio::task::spawn_blocking(move || command.output().unwrap())
}

/// Returns the request that waits, once there is one.
async fn waiting(serving: &Serving, http: &reqwest::Client) -> Value {
    loop {
        let list = get(serving, http, "approvals?status=pending").await;
        if let Some(first) = list["approvals"].as_array().and_then(|all| all.first()) {
            return first.clone();
        }
    }
}

async fn get(serving: &Serving, http: &reqwest::Client, path: &str) -> Value {
    let url = format!("{}/my/projects/default/{path}", serving.url);
    http.get(url).bearer_auth(TOKEN).send().await.unwrap().json().await.unwrap()
}

async fn decide(serving: &Serving, http: &reqwest::Client, asked: &Value, how: &str, body: Value) {
    let id = text(&asked["approval_id"]);
    let url = format!("{}/my/projects/default/approvals/{id}/{how}", serving.url);
    let sent = http.post(url).bearer_auth(TOKEN).json(&body).send().await.unwrap();
    assert_eq!(sent.status(), 200);
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
