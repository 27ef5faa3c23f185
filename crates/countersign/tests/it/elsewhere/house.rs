//! A server and a client, each with a folder of its own, and what happens in them.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::listener::Listener;
use crate::world::{Serving, TOKEN, countersign};

pub(crate) struct House {
    model: Serving,
    server: Option<Serving>,
    client: Option<Child>,
    pub(crate) url: String,
    http: reqwest::Client,
    folder: TempDir,
}

/// Notes that it was started, waits until it may go on, notes that it ended.
const NOTE: &str = "#!/bin/sh\necho \"start $1\" >> notes\nwhile [ -e hold ]; do sleep 0.02; done\n\
                    echo \"end $1\" >> notes\necho \"ran $1\"\n";

impl House {
    /// A house whose model plays a scenario.
    pub(crate) fn playing(scenario: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["server", "client", "data"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("scenario.toml"), scenario).unwrap();
        std::fs::write(at("client/a.txt"), "hello from the client").unwrap();
        std::fs::write(at("client/note.sh"), NOTE).unwrap();
        std::fs::set_permissions(at("client/note.sh"), PermissionsExt::from_mode(0o755)).unwrap();
        let scenario = at("scenario.toml");
        let model = Serving::start(&["model", "--scenario", scenario.to_str().unwrap()], &[]);
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let url = String::new();
        let mut house = Self { model, server: None, client: None, url, http, folder };
        house.start_server("127.0.0.1:0");
        house
    }

    fn start_server(&mut self, listen: &str) {
        let (root, data) = (self.path("server"), self.path("data"));
        let mut command = countersign(self.folder.path());
        command
            .args(["serve", "--listen", listen, "--token", TOKEN, "--root"])
            .arg(root)
            .arg("--data")
            .arg(data)
            .env("ANTHROPIC_API_KEY", "k-test")
            .env("ANTHROPIC_BASE_URL", &self.model.url);
        let server = Serving::of(command, tempfile::tempdir().unwrap());
        self.url.clone_from(&server.url);
        self.server = Some(server);
    }

    /// Kills the server, as a crash would, and starts it again at the same address.
    pub(crate) fn restart_server(&mut self) {
        let address = self.url.strip_prefix("http://").unwrap().to_owned();
        self.server = None;
        self.start_server(&address);
    }

    pub(crate) fn start_client(&mut self) {
        let child = countersign(self.folder.path())
            .args(["client", "--server", &self.url, "--project", "default"])
            .args(["--approvals", "elsewhere", "--root"])
            .arg(self.path("client"))
            .env("COUNTERSIGN_TOKEN", TOKEN)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.client = Some(child);
    }

    /// Starts a client with a folder of its own, which lasts as long as it is held.
    pub(crate) fn start_client_in(&self, folder: &str) -> SeenClient {
        std::fs::create_dir_all(self.path(folder)).unwrap();
        let mut child = countersign(self.folder.path())
            .args(["client", "--server", &self.url, "--project", "default"])
            .args(["--approvals", "elsewhere", "--json", "--root"])
            .arg(self.path(folder))
            .env("COUNTERSIGN_TOKEN", TOKEN)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        SeenClient { child, lines }
    }

    /// Opens a stream as `curl` would, without a word about who it is.
    pub(crate) async fn look_on(&self) -> reqwest::Response {
        let url = format!("{}/my/projects/default/chat/stream", self.url);
        self.http.get(url).bearer_auth(TOKEN).send().await.unwrap()
    }

    /// Puts a file into a folder of this house.
    pub(crate) fn put(&self, name: &str, content: &str) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn kill_client(&mut self) {
        if let Some(mut client) = self.client.take() {
            client.kill().unwrap();
            client.wait().unwrap();
        }
    }

    /// Starts the agent on a task.
    pub(crate) async fn say(&self, prompt: &str) -> Value {
        let (status, body) = self.post("chat/messages", json!({ "content": prompt })).await;
        assert_eq!(status, 202, "{body}");
        body
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let url = format!("{}/my/projects/default/{path}", self.url);
        let sent = self.http.post(url).bearer_auth(TOKEN).json(&body).send().await.unwrap();
        (sent.status().as_u16(), sent.json().await.unwrap())
    }

    /// From now on a person has one second to decide on what is MEDIUM.
    pub(crate) async fn give_one_second(&self) {
        let url = format!("{}/my/projects/default", self.url);
        let settings = json!({"settings": {"approval_timeout_seconds": {"MEDIUM": 1}}});
        let sent = self.http.patch(url).bearer_auth(TOKEN).json(&settings).send().await.unwrap();
        assert_eq!(sent.status(), 200, "{}", sent.text().await.unwrap());
    }

    /// Hears everything that happens, and runs nothing.
    pub(crate) async fn listen(&self) -> Listener {
        Listener::new(self.http.clone(), self.url.clone()).await
    }

    pub(crate) fn client_file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path("client").join(name)).ok()
    }

    /// Returns what the commands have noted on the client's machine.
    pub(crate) fn notes(&self) -> Vec<String> {
        let notes = self.client_file("notes").unwrap_or_default();
        notes.lines().map(str::to_owned).collect()
    }

    pub(crate) async fn until_notes(&self, number: usize) {
        while self.notes().len() < number {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) fn hold_commands(&self) {
        std::fs::write(self.path("client/hold"), "").unwrap();
    }

    pub(crate) fn let_commands_go(&self) {
        std::fs::remove_file(self.path("client/hold")).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A client whose words are read.
pub(crate) struct SeenClient {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl SeenClient {
    /// Returns the next thing it tells of a kind.
    pub(crate) fn tells(&mut self, event: &str) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "it ended without `{event}`");
            let told: Value = serde_json::from_str(&line).unwrap();
            if told["event"] == event {
                return told;
            }
        }
    }
}

impl Drop for SeenClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.kill_client();
    }
}
