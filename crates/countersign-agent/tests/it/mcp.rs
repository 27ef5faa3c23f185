//! MCP servers as tools: a real one from npm, over its pipes and over HTTP, each call through the gate.

#![expect(clippy::disallowed_methods, reason = "where the server is, and one of the test's own")]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use countersign_core::ExecutionStatus;
use countersign_tools::{Environment, McpServerPin, McpServers, TrustStatus};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

use crate::workshop::{Workshop, code};

const CALLS: &str = r#"
[[script]]
prompt = '^echo$'
[[script.turn]]
call = { tool = "mcp__all__echo", input = { message = "hello" } }
[[script.turn]]
say = "Done."
[[script]]
prompt = '^environment$'
[[script.turn]]
call = { tool = "mcp__all__get-env", input = {} }
[[script.turn]]
say = "Done."
[[script]]
prompt = '^picture$'
[[script.turn]]
call = { tool = "mcp__all__get-tiny-image", input = {} }
[[script.turn]]
say = "Seen."
"#;

#[tokio::test]
async fn a_call_asks_and_runs_at_the_server_when_it_is_approved() {
    let Some(world) = World::new() else { return };
    let mut shop = world.trusted().await;
    let mut run = shop.start("echo", None).await;
    let asked = run.until_asked().await;
    let approval = shop.approval(asked).await;
    assert_eq!(approval.call().tool_name, "mcp__all__echo");
    assert!(
        approval.summary().contains("`echo` of the MCP server `all`"),
        "{}",
        approval.summary()
    );
    shop.approve(asked).await;
    assert_eq!(code(&run.end().await), "done");
    assert_eq!(run.results(), [("Echo: hello", false)]);
    shop = world.offering(shop);
    let mut again = shop.start("picture", None).await;
    let asked = again.until_asked().await;
    shop.approve(asked).await;
    again.end().await;
    let picture = &shop.sent()[2]["content"][0]["content"];
    assert!(picture.to_string().contains("image/png"), "a picture is shown to the model");
    world.servers.close().await;
}

#[tokio::test]
async fn a_server_sees_only_the_environment_it_is_given() {
    let Some(world) = World::new() else { return };
    world.declare("env = { GREETING = 'hi' }");
    let shop = world.trusted().await;
    let mut run = shop.start("environment", None).await;
    let asked = run.until_asked().await;
    shop.approve(asked).await;
    run.end().await;
    let [(told, false)] = run.results()[..] else { panic!("{:?}", run.results()) };
    let told: serde_json::Map<String, serde_json::Value> = serde_json::from_str(told).unwrap();
    let mut names: Vec<_> = told.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["GREETING", "PATH"]);
}

#[tokio::test]
async fn what_a_file_declares_is_neither_started_nor_offered_before_a_person_has_looked() {
    let Some(world) = World::new() else { return };
    let shop = world.offering(Workshop::playing(CALLS));
    assert!(!shop.tools.names().any(|name| name.starts_with("mcp__")));
    let standings = world.servers.trust_statuses(&world.root).unwrap();
    assert_eq!(standings[0].2, TrustStatus::New);
    let shop = world.trusted().await;
    assert!(shop.tools.get("mcp__all__echo").is_some());
    // Whoever changes the file, a model for instance, has consent for nothing.
    world.declare("env = { NODE_OPTIONS = '--require ./evil.js' }");
    let offered = world.offering(Workshop::playing(CALLS));
    assert!(!offered.tools.names().any(|name| name.starts_with("mcp__")));
    assert_eq!(world.servers.trust_statuses(&world.root).unwrap()[0].2, TrustStatus::Changed);
    let refused = world.refusal(&shop).await;
    assert!(refused.contains("how it is started is not what the user consented to"), "{refused}");
}

#[tokio::test]
async fn a_tool_that_describes_itself_otherwise_is_not_called_until_a_person_has_looked_again() {
    let Some(world) = World::new() else { return };
    world.trusted().await;
    let mut pin = world.pin();
    let echo = pin.tools.iter_mut().find(|tool| tool.name == "echo").unwrap();
    echo.description = "What was consented to was something else.".to_owned();
    world.servers.pin(&world.root, "all", Some(pin)).unwrap();
    let shop = world.offering(Workshop::playing(CALLS));
    let refused = world.refusal(&shop).await;
    assert!(refused.contains("the tool `echo` describes itself"), "{refused}");
    assert!(refused.contains("countersign mcp trust all"), "{refused}");
    let shop = world.trusted().await;
    let mut run = shop.start("echo", None).await;
    let asked = run.until_asked().await;
    shop.approve(asked).await;
    run.end().await;
    assert_eq!(run.results(), [("Echo: hello", false)]);
}

#[tokio::test]
async fn a_program_that_was_replaced_is_not_started() {
    let Some(world) = World::new() else { return };
    let own = world.root.join("start.mjs");
    std::fs::write(&own, format!("await import({:?})", world.program)).unwrap();
    world.declare_args(&["start.mjs"], "");
    let shop = world.trusted().await;
    world.servers.close().await;
    std::fs::write(&own, "console.error('evil')").unwrap();
    let refused = world.refusal(&shop).await;
    assert!(refused.contains("what starting it would run"), "{refused}");
}

#[tokio::test]
async fn consent_that_is_taken_back_holds_at_once() {
    let Some(world) = World::new() else { return };
    let shop = world.trusted().await;
    world.servers.pin(&world.root, "all", None).unwrap();
    let refused = world.refusal(&shop).await;
    assert!(refused.contains("is not used"), "{refused}");
}

#[tokio::test]
async fn a_program_that_is_no_server_is_refused_with_what_it_said() {
    let Some(world) = World::new() else { return };
    world.declare_args(&["-e", "console.error('no such thing'); process.exit(3)"], "");
    let declared = world.servers.declared(&world.root).unwrap();
    let error = world.servers.inspect_server(&world.root, &declared["all"]).await.unwrap_err();
    assert!(error.to_string().contains("no such thing"), "{error}");
}

#[tokio::test]
async fn a_server_is_reached_over_http() {
    let Some(world) = World::new() else { return };
    let (_server, url) = world.serve().await;
    let text = format!("[mcp.all]\nurl = '{url}'\n");
    std::fs::write(world.root.join("countersign.toml"), text).unwrap();
    let shop = world.trusted().await;
    let mut run = shop.start("echo", None).await;
    let asked = run.until_asked().await;
    assert_eq!(shop.approval(asked).await.status(), ExecutionStatus::AwaitingApproval);
    shop.approve(asked).await;
    assert_eq!(code(&run.end().await), "done");
    assert_eq!(run.results(), [("Echo: hello", false)]);
}

/// A workspace that declares the server, and where consent is kept.
struct World {
    root: PathBuf,
    program: PathBuf,
    servers: Arc<McpServers>,
    _folders: [tempfile::TempDir; 2],
}

impl World {
    /// None where these tests are left out.
    fn new() -> Option<Self> {
        let without = std::env::var("COUNTERSIGN_TEST_WITHOUT").unwrap_or_default();
        if without.split(',').any(|it| it == "mcp") {
            return None;
        }
        let program = std::env::var_os("COUNTERSIGN_TEST_MCP_SERVER").unwrap_or_else(|| {
            panic!("set COUNTERSIGN_TEST_MCP_SERVER to what `scripts/mcp-server path` prints")
        });
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [root, data] = folders.each_ref().map(|it| it.path().canonicalize().unwrap());
        let servers = Arc::new(McpServers::new(data.join("mcp.json"), None, environment()));
        let world = Self { root, program: program.into(), servers, _folders: folders };
        world.declare("");
        Some(world)
    }

    fn declare(&self, more: &str) {
        self.declare_args(&[self.program.to_str().unwrap()], more);
    }

    fn declare_args(&self, args: &[&str], more: &str) {
        let text = format!("[mcp.all]\ncommand = 'node'\nargs = {args:?}\n{more}\n");
        std::fs::write(self.root.join("countersign.toml"), text).unwrap();
    }

    fn pin(&self) -> McpServerPin {
        self.servers.pinned(&self.root, "all").unwrap()
    }

    /// A person has looked, and consented.
    async fn trusted(&self) -> Workshop {
        let declared = self.servers.declared(&self.root).unwrap();
        let pin = self.servers.inspect_server(&self.root, &declared["all"]).await.unwrap();
        self.servers.pin(&self.root, "all", Some(pin)).unwrap();
        self.offering(Workshop::playing(CALLS))
    }

    fn offering(&self, mut shop: Workshop) -> Workshop {
        shop.tools = self.servers.add_to(shop.tools, &self.root);
        shop
    }

    /// What the model is told of a call that is approved and does not run.
    async fn refusal(&self, shop: &Workshop) -> String {
        let mut run = shop.start("echo", None).await;
        let asked = run.until_asked().await;
        shop.approve(asked).await;
        run.end().await;
        let [(told, true)] = run.results()[..] else { panic!("{:?}", run.results()) };
        told.to_owned()
    }

    /// Starts it where others reach it, on loopback.
    async fn serve(&self) -> (Child, String) {
        // Whoever takes the port in between makes the test fail, not lie.
        let port = {
            let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
            free.local_addr().unwrap().port()
        };
        let mut server = Command::new("node")
            .args([self.program.as_path(), Path::new("streamableHttp")])
            .env_clear()
            .env("PATH", path())
            .env("HOME", &self.root)
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            if line.contains("listening") {
                break;
            }
        }
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        (server, format!("http://127.0.0.1:{port}/mcp"))
    }
}

fn environment() -> Environment {
    Environment::from(vec![("PATH".to_owned(), path())])
}

fn path() -> String {
    std::env::var("PATH").unwrap()
}
