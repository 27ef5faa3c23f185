//! `countersign undo` against the real server: shows, asks for a yes, puts back.

use std::process::Output;

use serde_json::json;

use crate::world::{Serving, TOKEN, countersign, stderr};

const CHANGES: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "Write", input = { file_path = "a.txt", content = "new\n" } }
[[script.turn]]
call = { tool = "Write", input = { file_path = "b.txt", content = "made\n" } }
[[script.turn]]
say = "Done."
"#;

/// A server whose agent has just changed one file and made another; returns the run, too.
async fn ran() -> (Serving, Serving, String) {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("talk.toml"), CHANGES).unwrap();
    std::fs::write(home.path().join("a.txt"), "old\n").unwrap();
    let mut model = countersign(home.path());
    model.args(["model", "--scenario", "talk.toml", "--listen", "127.0.0.1:0"]);
    let model = Serving::of(model, tempfile::tempdir().unwrap());
    let mut server = countersign(home.path());
    server.args(["serve", "--listen", "127.0.0.1:0", "--token", TOKEN, "--root", "."]);
    server.env("ANTHROPIC_API_KEY", "dummy").env("ANTHROPIC_BASE_URL", &model.url);
    let serving = Serving::of(server, home);
    let mut client = serving.client().await;
    client.send(json!({"command": "run", "prompt": "go"})).await;
    let mut run = String::new();
    for _ in 0..2 {
        let request = client.until("tool_approval_request").await;
        request["run_id"].as_str().unwrap().clone_into(&mut run);
        let yes = json!({"command": "tool_approval_response", "approved": true,
            "request_id": request["request_id"], "digest": request["digest"]});
        client.send(yes).await;
    }
    client.until_result().await;
    (serving, model, run)
}

fn undo(serving: &Serving, args: &[&str]) -> Output {
    let mut command = countersign(serving.home.path());
    command.arg("undo").args(args).args(["--server", &serving.url]);
    command.env("COUNTERSIGN_TOKEN", TOKEN).stdin(std::process::Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_shown_and_put_back() {
    let (serving, _model, run) = ran().await;
    let file = |name: &str| std::fs::read_to_string(serving.home.path().join(name)).ok();
    let shown = undo(&serving, &["--run", &run, "--dry-run"]);
    assert!(shown.status.success(), "{}", stderr(&shown));
    let text = said(&shown);
    for part in ["Undoing 2 calls would", "-new", "+old", "b.txt (deleted)", "-made"] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    assert_eq!(file("a.txt").as_deref(), Some("new\n"), "a dry run changes nothing");
    let unasked = undo(&serving, &["--run", &run]);
    assert!(!unasked.status.success() && stderr(&unasked).contains("nobody to ask"));
    let done = undo(&serving, &["--run", &run, "--yes"]);
    assert!(said(&done).ends_with("2 files are as before.\n"), "{}{}", said(&done), stderr(&done));
    assert_eq!((file("a.txt").as_deref(), file("b.txt")), (Some("old\n"), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_name_it_is_the_last_call_and_then_the_one_before() {
    let (serving, _model, _) = ran().await;
    let exists = |name: &str| serving.home.path().join(name).exists();
    assert!(undo(&serving, &["--yes"]).status.success());
    assert!(!exists("b.txt") && exists("a.txt"));
    assert!(undo(&serving, &["--yes"]).status.success());
    let left = undo(&serving, &["--yes"]);
    assert!(!left.status.success(), "{}", said(&left));
    assert!(stderr(&left).contains("no call has changed files"), "{}", stderr(&left));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_changed_since_is_left_and_said() {
    let (serving, _model, run) = ran().await;
    std::fs::write(serving.home.path().join("a.txt"), "mine\n").unwrap();
    let refused = undo(&serving, &["--run", &run, "--yes"]);
    assert!(!refused.status.success() && said(&refused).contains("left: it was changed since"));
    assert!(stderr(&refused).contains("--skip-refused"), "{}", stderr(&refused));
    let done = undo(&serving, &["--run", &run, "--yes", "--skip-refused"]);
    assert!(said(&done).ends_with("1 file is as before.\n"), "{}{}", said(&done), stderr(&done));
    assert!(stderr(&done).contains("a.txt: it was changed since"));
}
