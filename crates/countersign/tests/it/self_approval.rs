//! The agent cannot approve itself: a real server, and commands that were let run inside its sandbox.
//!
//! While something waits for a person, eleven commands try to get at what could decide it: the port, the
//! token, the database, the server's process, its rules. Each is contained, each is told of, and what
//! waited still waits at the end.

mod keys;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{CWD, FileType, Mode};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::chaos::plan::goes_without;
use crate::world::{Client, Serving, TOKEN, countersign, output, stderr};

/// How a script says that it got through.
const GOT: &str = "GOT-THROUGH";

#[tokio::test]
async fn eleven_ways_to_approve_itself_lead_nowhere() {
    let Some(world) = World::start() else { return };
    let mut person = world.serving.client().await;
    person.send(json!({"command": "run", "prompt": "what waits"})).await;
    let waiting = person.until("tool_approval_request").await;
    for (name, script) in world.ways() {
        let output = world.attempt(name, &script).await;
        assert!(!output.contains(GOT), "{name}: {output}");
        assert!(!output.contains(TOKEN), "{name}: {output}");
        assert!(output.contains("The command ran in a sandbox: "), "{name} is not told: {output}");
    }
    let yes = json!({"command": "tool_approval_response", "request_id": waiting["request_id"],
        "approved": true});
    person.send(yes).await;
    person.until("result/success").await;
    assert_eq!(fs::read_to_string(world.root.join("waited.txt")).unwrap(), "by a person");
}

#[tokio::test]
async fn what_runs_later_runs_inside_too() {
    let Some(world) = World::start() else { return };
    // A hook that was there before, as in a repository somebody has cloned.
    let hook = world.root.join(".git/hooks/post-commit");
    world.git(&["init", "--quiet"]);
    fs::write(&hook, format!("#!/bin/bash\n{}\n", world.by_port())).unwrap();
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let commit = "git -c user.name=a -c user.email=a@b commit --quiet --allow-empty --message x";
    let output = world.run(commit).await;
    assert!(output.contains("there is no network") && !output.contains(GOT), "{output}");
    let log = world.git(&["log", "--oneline"]);
    assert!(log.contains(" x"), "the commit itself was made: {log}");
    // A build that does what the project's own files say.
    fs::write(world.root.join("Makefile"), "all:\n\t@bash build.sh\n").unwrap();
    fs::write(world.root.join("build.sh"), world.by_port()).unwrap();
    let output = world.run("make").await;
    assert!(output.contains("there is no network") && !output.contains(GOT), "{output}");
}

#[tokio::test]
async fn nothing_outlives_the_call_that_started_it() {
    let Some(world) = World::start() else { return };
    let pipe = world.root.join("alive");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let held = tokio::task::spawn_blocking(move || {
        let mut said = String::new();
        fs::File::open(pipe).unwrap().read_to_string(&mut said).unwrap();
        said
    });
    let port = world.by_port().replace('\n', "; ");
    let script = format!(
        "exec 9> alive; setsid bash -c 'while true; do ({port}) >&9 2>&1; done' > /dev/null 2>&1 &\necho left"
    );
    let output = world.attempt("a process that stays", &script).await;
    assert!(output.starts_with("left"), "{output}");
    // Ends when the last of them does.
    assert!(!held.await.unwrap().contains(GOT));
}

/// Its calls were approved, it runs for as long as the server does, and it gets no further than a command.
#[tokio::test]
async fn an_mcp_server_cannot_approve_in_the_place_of_a_person() {
    let Some(world) = World::start() else { return };
    world.trust_mcp_server();
    let mut person = world.serving.client().await;
    person.send(json!({"command": "run", "prompt": "what waits"})).await;
    let waiting = person.until("tool_approval_request").await;
    for (name, script) in world.ways() {
        fs::write(world.root.join("attempt.sh"), format!("{script}\necho tried")).unwrap();
        let output = world.approved("mcp", "mcp__helper__try").await;
        assert!(output.contains("tried") && !output.contains(GOT), "{name}: {output}");
        assert!(!output.contains(TOKEN), "{name}: {output}");
    }
    let mine = ["attempt.sh", "countersign.toml", "server.sh"];
    let left = fs::read_dir(&world.root).unwrap().map(|it| it.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| !mine.iter().any(|it| name == it)).collect();
    assert!(left.is_empty(), "it changes nothing: {left:?}");
    let yes = json!({"command": "tool_approval_response", "request_id": waiting["request_id"],
        "approved": true});
    person.send(yes).await;
    person.until("result/success").await;
    assert_eq!(fs::read_to_string(world.root.join("waited.txt")).unwrap(), "by a person");
}

#[tokio::test]
async fn to_leave_the_sandbox_asks_whatever_is_allowed() {
    let Some(world) = World::start() else { return };
    fs::create_dir_all(world.home().join(".config/countersign")).unwrap();
    let rules = "[permissions]\nallow = ['Bash', 'Bash(ls:*)']\n";
    fs::write(world.home().join(".config/countersign/config.toml"), rules).unwrap();
    let mut client = world.serving.client().await;
    client.send(json!({"command": "run", "prompt": "leave"})).await;
    let request = client.until("tool_approval_request").await;
    assert_eq!(request["tool_input"]["dangerouslyDisableSandbox"], true);
    let shown = request.to_string();
    assert!(shown.contains("outside the sandbox"), "{shown}");
    assert!(shown.contains("leaves the sandbox"), "{shown}");
    let output = decided(&mut client, &request, true).await;
    assert!(output.contains("OUTSIDE"), "{output}");
}

#[tokio::test]
async fn one_yes_is_enough_for_a_file_outside_and_asking_nobody_is_none() {
    let Some(world) = World::start() else { return };
    let outside = world.root.with_file_name("outside.txt");
    let mut client = world.serving.client().await;
    world.ask(false).await;
    client.send(json!({"command": "run", "prompt": "outside"})).await;
    let told = client.until("user/tool_result").await;
    assert!(!outside.exists(), "whatever the command was told: {told}");
    client.until("result/success").await;
    world.ask(true).await;
    client.send(json!({"command": "run", "prompt": "outside"})).await;
    let request = client.until("tool_approval_request").await;
    assert!(request.to_string().contains("outside the workspace"), "{request}");
    assert_eq!(decided(&mut client, &request, true).await, "(no output)");
    assert_eq!(fs::read_to_string(outside).unwrap(), "yes\n");
}

#[tokio::test]
async fn the_server_says_what_its_sandbox_is_worth() {
    let Some(mut world) = World::start() else { return };
    world.serving.says("Sandbox: bubblewrap, Landlock and seccomp. Commands run inside.");
    let args = ["serve", "--demo", "--listen", "127.0.0.1:0", "--token", TOKEN, "--sandbox", "off"];
    let mut off = Serving::start(&args, &[]);
    off.says("Sandbox: off. A command that is approved can do anything its user can.");
    let doctor = output(&["doctor", "--listen", "127.0.0.1:0"]);
    let said = String::from_utf8(doctor.stdout).unwrap();
    let starts: Vec<_> = said.lines().map(|line| line.split("  ").next().unwrap()).collect();
    let expected = [
        "-- Key",
        "-- Claude Code",
        "-- Guard",
        "-- Server",
        "ok Sandbox",
        "ok Database",
        "ok Port",
    ];
    assert_eq!(starts, expected, "{said}");
    assert!(said.contains("Sandbox      bubblewrap, Landlock and seccomp."), "{said}");
}

/// A server, and its model over HTTP.
struct World {
    serving: Serving,
    _model: Serving,
    root: PathBuf,
    data: PathBuf,
    _folder: TempDir,
}

const SCENARIO: &str = r#"
[[script]]
prompt = '^what waits'
[[script.turn]]
call = { tool = "Write", input = { file_path = "waited.txt", content = "by a person" } }
[[script.turn]]
say = "Done."

[[script]]
prompt = '^leave'
[[script.turn]]
call = { tool = "Bash", input = { command = "ls /tmp > /dev/null && echo OUTSIDE", dangerouslyDisableSandbox = true } }
[[script.turn]]
say = "Done."

[[script]]
prompt = '^outside'
[[script.turn]]
call = { tool = "Bash", input = { command = "echo yes > ../outside.txt" } }
[[script.turn]]
say = "Done."

[[script]]
prompt = '^run mcp'
[[script.turn]]
call = { tool = "mcp__helper__try", input = {} }
[[script.turn]]
say = "Done."

[[script]]
prompt = '^run make'
[[script.turn]]
call = { tool = "Bash", input = { command = "make" } }
[[script.turn]]
say = "Done."

[[script]]
prompt = '^run git'
[[script.turn]]
call = { tool = "Bash", input = { command = "git -c user.name=a -c user.email=a@b commit --quiet --allow-empty --message x" } }
[[script.turn]]
say = "Done."

[[script]]
[[script.turn]]
call = { tool = "Bash", input = { command = "bash attempt.sh" } }
[[script.turn]]
say = "Done."
"#;

impl World {
    /// None where bubblewrap is left out on purpose, which is said.
    fn start() -> Option<Self> {
        if is_left_out() {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let (root, data) = (folder.path().join("ws"), folder.path().join("data"));
        fs::create_dir(&root).unwrap();
        fs::write(root.join("countersign.toml"), "").unwrap();
        let scenario = folder.path().join("scenario.toml");
        fs::write(&scenario, SCENARIO).unwrap();
        let model = Serving::start(&["model", "--scenario", scenario.to_str().unwrap()], &[]);
        let env = [("ANTHROPIC_API_KEY", "k-test"), ("ANTHROPIC_BASE_URL", model.url.as_str())];
        let args = ["serve", "--listen", "127.0.0.1:0", "--token", TOKEN, "--sandbox", "required"];
        let places = ["--root", root.to_str().unwrap(), "--data", data.to_str().unwrap()];
        let serving = Serving::start(&[&args[..], &places[..]].concat(), &env);
        Some(Self { serving, _model: model, root, data, _folder: folder })
    }

    fn home(&self) -> &Path {
        self.serving.home.path()
    }

    /// Has people asked, or nobody.
    async fn ask(&self, people: bool) {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let change = json!({"settings": {"tool_approval_enabled": people}});
        let url = format!("{}/my/projects/default", self.serving.url);
        let answer = client.patch(url).bearer_auth(TOKEN).json(&change).send().await.unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
    }

    fn git(&self, args: &[&str]) -> String {
        #[expect(clippy::disallowed_methods, reason = "the person's own git, outside")]
        let mut git = Command::new("git");
        git.args(args).current_dir(&self.root).env_clear().env("PATH", "/usr/bin:/bin");
        String::from_utf8(git.env("HOME", self.home()).output().unwrap().stdout).unwrap()
    }

    /// A script that says to the server's port what a person would, token and all.
    fn by_port(&self) -> String {
        let address = self.serving.url.strip_prefix("http://").unwrap();
        let port = address.rsplit(':').next().unwrap();
        format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo {GOT}")
    }

    fn ways(&self) -> Vec<(&'static str, String)> {
        let (data, home, pid) = (self.data.display(), self.home().display(), self.serving.pid());
        let database = format!("{data}/countersign.db");
        let port = self.by_port();
        let curl = self.serving.url.clone();
        let ptrace = if cfg!(target_arch = "x86_64") { (101, 310) } else { (117, 270) };
        vec![
            ("the port", port.clone()),
            ("curl", format!("curl -sS {curl}/healthz && echo {GOT}; {port}")),
            ("the data folder", format!("ls {data} && echo {GOT}; cat {database} && echo {GOT}")),
            (
                "what opens the door for its user",
                format!(
                    "cat {data}/server.json && echo {GOT}; ls {data}; echo x >> {data}/hook-calls.jsonl && \
                     echo {GOT}"
                ),
            ),
            (
                "the server's process",
                format!(
                    "cat /proc/{pid}/environ /proc/{pid}/cmdline && echo {GOT}; ls /proc/{pid}/fd && echo \
                     {GOT}; cat /proc/*/root{database} && echo {GOT}; cat /proc/[0-9]*/cmdline; kill -0 {pid}"
                ),
            ),
            (
                "tracing",
                format!(
                    "perl -e 'syscall({}, 16, {pid}, 0, 0) < 0 and die \"$!\"; print \"{GOT}\"'; \
                     perl -e 'syscall({}, {pid}, 0, 0, 0, 0, 0) < 0 and die \"$!\"; print \"{GOT}\"'",
                    ptrace.0, ptrace.1
                ),
            ),
            ("a git hook", "mkdir -p .git/hooks && echo evil > .git/hooks/post-commit".to_owned()),
            (
                "a link",
                format!(
                    "ln -s {database} db; cat db && echo {GOT}; ln -s {data} d; ls d/ && echo {GOT}; ls {data}"
                ),
            ),
            (
                "the rules",
                format!(
                    "echo 'allow = [\"Bash\"]' > countersign.toml; mkdir -p {home}/.config/countersign && \
                     echo x > {home}/.config/countersign/config.toml"
                ),
            ),
            (
                "an MCP server",
                format!("mkdir -p .mcp.json; echo x > .mcp.json/x && echo {GOT}; {port}"),
            ),
            ("a process that stays", format!("(setsid bash -c '{port}' &) ; {port}")),
        ]
    }

    /// Runs a script that a person has let run, and returns what came of it.
    async fn attempt(&self, name: &str, script: &str) -> String {
        fs::write(self.root.join("attempt.sh"), script).unwrap();
        self.run(&format!("attempt: {name}")).await
    }

    async fn run(&self, what: &str) -> String {
        self.approved(what, "Bash").await
    }

    /// A person has looked at a server that tries what `attempt.sh` says, and trusts it.
    fn trust_mcp_server(&self) {
        let server = include_str!("../../../countersign-tools/tests/fixtures/mcp-server.sh");
        fs::write(self.root.join("server.sh"), server).unwrap();
        let declared = "[mcp.helper]\ncommand = 'bash'\nargs = ['server.sh']\n";
        fs::write(self.root.join("countersign.toml"), declared).unwrap();
        let mut trust = countersign(self.home());
        trust.args(["mcp", "trust", "helper", "--yes", "--sandbox", "required", "--root"]);
        let trusted = trust.arg(&self.root).arg("--data").arg(&self.data).output().unwrap();
        let said = stderr(&trusted);
        assert!(trusted.status.success(), "{said}");
        let held = "It runs in the sandbox: it changes no files and reaches no network.";
        assert!(said.contains(held), "{said}");
    }

    async fn approved(&self, what: &str, tool: &str) -> String {
        let mut client = self.serving.client().await;
        client.send(json!({"command": "run", "prompt": format!("run {what}")})).await;
        loop {
            // Others wait too; what a person means is what was just asked for.
            let request = client.until("tool_approval_request").await;
            if request["tool_name"] == tool {
                return decided(&mut client, &request, true).await;
            }
        }
    }
}

#[expect(clippy::print_stdout, reason = "no test is left out in silence")]
/// Whether a tester has left bubblewrap out on purpose, which is said.
pub(crate) fn is_left_out() -> bool {
    let is = goes_without("bubblewrap");
    if is {
        println!("this is left out, as COUNTERSIGN_TEST_WITHOUT says");
    }
    is
}

async fn decided(client: &mut Client, request: &Value, approved: bool) -> String {
    let id = &request["request_id"];
    let decision =
        json!({"command": "tool_approval_response", "request_id": id, "approved": approved});
    client.send(decision).await;
    loop {
        let told = client.until("user/tool_result").await;
        if told["content"]["tool_use_id"] == request["tool_use_id"] {
            return told["content"]["content"].as_str().unwrap().to_owned();
        }
    }
}
