//! `countersign approvals` against the real server with two roots: what waits anywhere is listed, shown and
//! decided; and `undo` finds what was changed anywhere.

use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::world::{Serving, TOKEN, countersign, stderr};

const CHANGES: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "Write", input = { file_path = "a.txt", content = "new\n" } }
[[script.turn]]
say = "Done."
"#;

struct Desk {
    server: Serving,
    _model: Serving,
    /// The second workspace.
    blog: String,
}

impl Desk {
    async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("talk.toml"), CHANGES).unwrap();
        for folder in ["shop", "blog"] {
            std::fs::create_dir(home.path().join(folder)).unwrap();
        }
        std::fs::write(home.path().join("blog/a.txt"), "old\n").unwrap();
        let mut model = countersign(home.path());
        model.args(["model", "--scenario", "talk.toml", "--listen", "127.0.0.1:0"]);
        let model = Serving::of(model, tempfile::tempdir().unwrap());
        let mut server = countersign(home.path());
        server.args(["serve", "--listen", "127.0.0.1:0", "--token", TOKEN]);
        server.args(["--root", "shop", "--root", "blog"]);
        server.env("ANTHROPIC_API_KEY", "dummy").env("ANTHROPIC_BASE_URL", &model.url);
        let server = Serving::of(server, home);
        let mut desk = Self { server, _model: model, blog: String::new() };
        let projects = desk.get("/my/projects").await;
        let blog = projects["projects"][1]["project_id"].as_str().unwrap();
        blog.clone_into(&mut desk.blog);
        desk
    }

    async fn get(&self, path: &str) -> Value {
        let url = format!("{}{path}", self.server.url);
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        http.get(url).bearer_auth(TOKEN).send().await.unwrap().json().await.unwrap()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let url = format!("{}{path}", self.server.url);
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = http.post(url).bearer_auth(TOKEN).json(&body).send().await.unwrap();
        answer.json().await.unwrap()
    }

    /// Starts a run in the second workspace and returns its request.
    async fn asked(&self) -> Value {
        let blog = &self.blog;
        let body = json!({"content": "write it down", "executor": "local"});
        let taken = self.post(&format!("/my/projects/{blog}/chat/messages"), body).await;
        assert_eq!(taken["success"], true, "{taken}");
        loop {
            let list = self.get("/my/approvals?status=pending").await;
            if let Some(request) = list["approvals"].as_array().unwrap().first() {
                return request.clone();
            }
        }
    }

    fn command(&self, args: &[&str]) -> Output {
        let mut command = countersign(self.server.home.path());
        command.args(args).args(["--server", &self.server.url]);
        command.env("COUNTERSIGN_TOKEN", TOKEN).stdin(Stdio::null()).output().unwrap()
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.server.home.path().join(name)).unwrap()
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_the_second_workspace_is_listed_approved_as_seen_and_undone() {
    let desk = Desk::new().await;
    let request = desk.asked().await;
    let (id, digest) =
        (request["approval_id"].as_str().unwrap(), request["digest"].as_str().unwrap());
    let list = desk.command(&["approvals", "list"]);
    let said = stdout(&list);
    for part in [id, digest, "MEDIUM", "Write", "blog · \"write it down\" · Countersign agent"] {
        assert!(said.contains(part), "{part}: {said} {}", stderr(&list));
    }
    let json: Value =
        serde_json::from_str(&stdout(&desk.command(&["approvals", "list", "--json"]))).unwrap();
    assert_eq!(json["approvals"], json!([request]));
    let none = desk.command(&["approvals", "list", "--project", "default", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&stdout(&none)).unwrap(), json!({"approvals": []}));
    let shown = stdout(&desk.command(&["approvals", "show", id]));
    assert!(shown.contains("    -old\n    +new\n"), "{shown}");
    let nobody = desk.command(&["approvals", "approve", id]);
    assert!(!nobody.status.success() && stderr(&nobody).contains("nobody to ask"));
    let other = desk.command(&["approvals", "approve", id, "--digest", "0000", "--yes"]);
    assert!(!other.status.success() && stderr(&other).contains("digest"), "{}", stderr(&other));
    assert_eq!(desk.file("blog/a.txt"), "old\n");
    let yes = desk.command(&["approvals", "approve", id, "--digest", digest, "--yes"]);
    assert!(yes.status.success() && stdout(&yes).ends_with("Approved.\n"), "{}", stderr(&yes));
    let tool = format!("/my/projects/{}/tools/{}", desk.blog, request["tool_id"].as_str().unwrap());
    let mut call = desk.get(&tool).await;
    while call["status"] != "completed" {
        call = desk.get(&format!("{tool}?wait_seconds=20")).await;
    }
    assert_eq!(desk.file("blog/a.txt"), "new\n");
    let late = desk.command(&["approvals", "approve", id, "--yes"]);
    assert!(!late.status.success() && stderr(&late).contains("no longer waits"));
    let undone = desk.command(&["undo", "--yes"]);
    assert!(undone.status.success(), "{}", stderr(&undone));
    assert_eq!(desk.file("blog/a.txt"), "old\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_carries_its_feedback_and_an_unknown_id_is_an_error() {
    let desk = Desk::new().await;
    let request = desk.asked().await;
    let id = request["approval_id"].as_str().unwrap();
    let no = desk.command(&["approvals", "reject", id, "--feedback", "call it b.txt", "--json"]);
    let answer: Value = serde_json::from_str(&stdout(&no)).unwrap();
    assert_eq!(
        (&answer["status"], &answer["feedback"]),
        (&json!("rejected"), &json!("call it b.txt"))
    );
    let unknown = desk.command(&["approvals", "show", "01a1e178-a762-775b-9fc5-18c20bc9ca71"]);
    assert!(!unknown.status.success() && stderr(&unknown).contains("no request has the id"));
    assert_eq!(desk.file("blog/a.txt"), "old\n");
}
