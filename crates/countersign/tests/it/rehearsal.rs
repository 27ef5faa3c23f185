//! Commands rehearsed while they wait, from the model's wish to the file, on the real server.

use std::fs;
use std::path::PathBuf;

use reqwest::header::AUTHORIZATION;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::self_approval::is_left_out;
use crate::world::{Client, Serving, TOKEN, countersign, stderr};

#[tokio::test(flavor = "multi_thread")]
async fn what_was_rehearsed_is_shown_kept_by_a_yes_and_can_be_undone() {
    let Some(world) = World::start(true).await else { return };
    let (mut client, asked) = world.run("stamp").await;
    let done = rehearsed(&mut client).await;
    let shown = &done["preview_data"]["rehearsal"];
    assert_eq!((&shown["keeps"], &shown["exit_code"]), (&json!(true), &json!(0)), "{shown}");
    assert_eq!(shown["files"][0]["file_path"], "stamp");
    assert_ne!(done["digest"], asked["digest"], "a yes is bound to it");
    let line = shown["files"][0]["diff_lines"].as_array().unwrap().last().unwrap();
    assert_eq!(world.file("stamp"), None);
    decide(&mut client, &done, true).await;
    assert_eq!(client.until_result().await["subtype"], "success");
    assert_eq!(format!("+{}", world.file("stamp").unwrap().trim_end()), line.as_str().unwrap());
    let mut undo = countersign(world.serving.home.path());
    undo.args(["undo", "--yes", "--server", &world.serving.url]).env("COUNTERSIGN_TOKEN", TOKEN);
    let undone = undo.output().unwrap();
    assert!(undone.status.success(), "{}", stderr(&undone));
    assert_eq!(world.file("stamp"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_throws_it_away() {
    let Some(world) = World::start(true).await else { return };
    let (mut client, _) = world.run("stamp").await;
    let done = rehearsed(&mut client).await;
    decide(&mut client, &done, false).await;
    client.until_result().await;
    assert_eq!(world.file("stamp"), None);
    let left = fs::read_dir(world.folder.path().join("data/sandbox/rehearsals")).unwrap().count();
    assert_eq!(left, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_decides_before_it_is_over_lets_the_command_run() {
    let Some(world) = World::start(true).await else { return };
    let (mut client, asked) = world.run("stamp").await;
    let done = rehearsed(&mut client).await;
    let line = done["preview_data"]["rehearsal"]["files"][0]["diff_lines"].clone();
    // What they saw is the request without it.
    decide(&mut client, &asked, true).await;
    assert_eq!(client.until_result().await["subtype"], "success");
    let written = world.file("stamp").unwrap();
    assert!(!line.to_string().contains(written.trim_end()), "run for real, not kept: {line}");
    let kept = world.get(&format!("approvals/{}", text(&asked["request_id"]))).await;
    assert_eq!(kept["preview_data"]["rehearsal"], Value::Null, "{kept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_moved_underneath_is_tried_once_more_and_asked_again_only_if_it_matters() {
    let Some(world) = World::start(true).await else { return };
    world.write("in", "1\n");
    let (mut client, _) = world.run("copy").await;
    let done = rehearsed(&mut client).await;
    world.write("unrelated", "");
    decide(&mut client, &done, true).await;
    assert_eq!(client.until_result().await["subtype"], "success");
    assert_eq!(world.file("out").as_deref(), Some("1\n"), "the very same came of it");
    fs::remove_file(world.root().join("out")).unwrap();

    let (mut client, _) = world.run("copy").await;
    let done = rehearsed(&mut client).await;
    world.write("in", "2\n");
    decide(&mut client, &done, true).await;
    let again = client.until("tool_approval_request").await;
    let why = text(&again["asked_again"]);
    assert!(why.contains("has changed since it was rehearsed"), "{why}");
    assert_eq!(world.file("out"), None);
    let done = rehearsed(&mut client).await;
    decide(&mut client, &done, true).await;
    assert_eq!(client.until_result().await["subtype"], "success");
    assert_eq!(world.file("out").as_deref(), Some("2\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_rehearsed_says_why_and_runs_on_a_yes() {
    let Some(world) = World::start(true).await else { return };
    let (mut client, asked) = world.run("leave").await;
    let told = until_state(&mut client, "impossible").await;
    let reason = &told["preview_data"]["rehearsal"]["reason"];
    assert_eq!(reason, "it changes files outside the workspace");
    assert_eq!(told["digest"], asked["digest"]);
    decide(&mut client, &told, false).await;
    client.until_result().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_it_is_rehearsed_anew() {
    let Some(world) = World::start(true).await else { return };
    world.write("in", "1\n");
    let (mut client, _) = world.run("copy").await;
    rehearsed(&mut client).await;
    let world = world.restarted();
    let mut client = world.serving.client().await;
    client.send(json!({"command": "resume", "after": 0})).await;
    let asked = client.until("tool_approval_request").await;
    let done = match state(&asked) {
        "done" => asked,
        _ => rehearsed(&mut client).await,
    };
    decide(&mut client, &done, true).await;
    assert_eq!(client.until_result().await["subtype"], "success");
    assert_eq!(world.file("out").as_deref(), Some("1\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_who_did_not_choose_it_has_commands_rehearsed() {
    let Some(world) = World::start(false).await else { return };
    let (mut client, asked) = world.run("stamp").await;
    decide(&mut client, &asked, true).await;
    loop {
        let message = client.next().await.unwrap();
        assert_ne!(message["type"], "tool_rehearsed");
        if message["type"] == "result" {
            break;
        }
    }
    assert!(world.file("stamp").is_some());
}

/// A server in whose project commands are rehearsed, and its model.
struct World {
    serving: Serving,
    model: Serving,
    folder: TempDir,
}

const SCENARIO: &str = r#"
[[script]]
prompt = '^stamp'
[[script.turn]]
call = { tool = "Bash", input = { command = "date +%s%N > stamp" } }
[[script.turn]]
say = "Done."

[[script]]
prompt = '^copy'
[[script.turn]]
call = { tool = "Bash", input = { command = "cp in out" } }
[[script.turn]]
say = "Done."

[[script]]
prompt = '^leave'
[[script.turn]]
call = { tool = "Bash", input = { command = "echo hi > ../beside" } }
[[script.turn]]
say = "Done."
"#;

impl World {
    /// None where bubblewrap is left out on purpose, which is said.
    async fn start(rehearse: bool) -> Option<Self> {
        if is_left_out() {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("ws")).unwrap();
        let scenario = folder.path().join("scenario.toml");
        fs::write(&scenario, SCENARIO).unwrap();
        let model = Serving::start(&["model", "--scenario", scenario.to_str().unwrap()], &[]);
        let serving = serve(&folder, &model);
        let world = Self { serving, model, folder };
        let change = json!({"settings": {"rehearse": rehearse}});
        let settings = world.ask(reqwest::Method::PATCH, "", change).await["settings"].clone();
        assert_eq!(settings["rehearse"], rehearse);
        Some(world)
    }

    /// Kills the server and starts another one in its place.
    fn restarted(self) -> Self {
        let Self { serving, model, folder } = self;
        drop(serving);
        Self { serving: serve(&folder, &model), model, folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.root().join(name)).ok()
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.root().join(name), content).unwrap();
    }

    /// Has the agent want a command, and returns the request.
    async fn run(&self, prompt: &str) -> (Client, Value) {
        let mut client = self.serving.client().await;
        client.send(json!({"command": "run", "prompt": prompt})).await;
        let asked = client.until("tool_approval_request").await;
        (client, asked)
    }

    async fn get(&self, path: &str) -> Value {
        self.ask(reqwest::Method::GET, &format!("/{path}"), Value::Null).await
    }

    async fn ask(&self, method: reqwest::Method, path: &str, body: Value) -> Value {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let url = format!("{}/my/projects/default{path}", self.serving.url);
        let request = http.request(method, url).header(AUTHORIZATION, format!("Bearer {TOKEN}"));
        let request = if body.is_null() { request } else { request.json(&body) };
        request.send().await.unwrap().json().await.unwrap()
    }
}

fn serve(folder: &TempDir, model: &Serving) -> Serving {
    let [root, data] = ["ws", "data"].map(|name| folder.path().join(name).display().to_string());
    let env = [("ANTHROPIC_API_KEY", "k-test"), ("ANTHROPIC_BASE_URL", model.url.as_str())];
    let args = ["serve", "--listen", "127.0.0.1:0", "--token", TOKEN, "--sandbox", "required"];
    Serving::start(&[&args[..], &["--root", &root, "--data", &data]].concat(), &env)
}

/// Waits until a rehearsal is over, and returns the request with it.
async fn rehearsed(client: &mut Client) -> Value {
    until_state(client, "done").await
}

async fn until_state(client: &mut Client, wanted: &str) -> Value {
    loop {
        let told = client.until("tool_rehearsed").await;
        match state(&told) {
            it if it == wanted => return told,
            "running" => {}
            _ => panic!("{}", told["preview_data"]["rehearsal"]),
        }
    }
}

fn state(request: &Value) -> &str {
    request["preview_data"]["rehearsal"]["state"].as_str().unwrap_or_default()
}

async fn decide(client: &mut Client, seen: &Value, approved: bool) {
    let said = json!({"command": "tool_approval_response", "approved": approved,
        "request_id": seen["request_id"], "digest": seen["digest"]});
    client.send(said).await;
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
