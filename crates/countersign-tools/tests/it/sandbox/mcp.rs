//! MCP servers inside: each gets what its declaration asks for and a person has seen, and nothing else.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::ToolOutput;
use countersign_tools::{
    Environment, McpConfinement, McpServers, ToolError, TrustStatus, parse_declarations,
};
use serde_json::json;

use crate::world::World;

/// A server with one tool, which runs a script of the workspace and tells what that said.
const SERVER: &str = include_str!("../../fixtures/mcp-server.sh");

#[tokio::test]
async fn a_server_gets_neither_our_state_nor_a_file_outside_nor_a_port() {
    let Some(mut bench) = Bench::new("").await else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let world = &bench.world;
    std::fs::write(world.outside.join("own/token"), "THE-TOKEN").unwrap();
    std::fs::create_dir(world.outside.join("home/.ssh")).unwrap();
    std::fs::write(world.outside.join("home/.ssh/id_rsa"), "THE-KEY").unwrap();
    world.write(".env", "THE-SECRET");
    world.write("plain", "hello");
    let (outside, server) = (world.outside.display().to_string(), std::process::id());
    let said = bench
        .attempt(&format!(
            "cat plain; echo; cat {outside}/own/token; ls {outside}/own; cat {outside}/home/.ssh/id_rsa; \
             cat .env; echo x > {outside}/planted; echo x > planted; mkdir .git; (exec 3<>/dev/tcp/127.0.0.1/{port}) \
             && echo GOT-THROUGH; cat /proc/{server}/environ && echo GOT-THROUGH; kill -0 {server} && \
             echo GOT-THROUGH; unshare --user true && echo GOT-THROUGH; echo t > /tmp/t && cat /tmp/t"
        ))
        .await;
    for never in ["THE-TOKEN", "THE-KEY", "THE-SECRET", "GOT-THROUGH"] {
        assert!(!said.contains(never), "{said}");
    }
    assert!(said.starts_with("hello|") && said.ends_with("t|"), "work goes on: {said}");
    let world = &bench.world;
    assert!(!world.outside.join("planted").exists());
    let names = [".env", "attempt.sh", "countersign.toml", "plain", "server.sh"];
    assert_eq!(world.names(), names, "nothing is made in the workspace, nor stands in it: {said}");
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn a_server_that_says_so_changes_the_workspace_but_not_what_is_protected_there() {
    let Some(mut bench) = Bench::new("writes = true").await else { return };
    bench.world.write(".git/config", "as it was");
    let outside = bench.world.outside.join("planted");
    let script = format!("echo x > made; echo y > .git/config; echo z > {}", outside.display());
    let said = bench.attempt(&script).await;
    assert_eq!(bench.world.text("made"), "x\n");
    assert_eq!(bench.world.text(".git/config"), "as it was", "{said}");
    assert!(!outside.exists(), "{said}");
}

#[tokio::test]
async fn hosts_are_reached_through_the_proxy_if_they_are_declared_and_this_machine_never() {
    let Some(mut bench) = Bench::new("hosts = ['a.example']").await else { return };
    let ask = |host: &str| {
        format!(
            "echo $https_proxy; exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://{host}/ \
             HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3"
        )
    };
    let said = bench.attempt(&ask("b.example")).await;
    assert!(said.contains("`b.example` is not among the hosts that were allowed"), "{said}");
    let said = bench.attempt(&ask("localhost")).await;
    assert!(said.starts_with("http://127.0.0.1:3128|"), "{said}");
    assert!(said.contains("`localhost` is not among the hosts"), "{said}");
}

#[tokio::test]
async fn to_ask_for_more_is_to_be_looked_at_again() {
    let Some(mut bench) = Bench::new("").await else { return };
    bench.attempt("").await;
    let told = || {
        let declared = bench.servers.declared(&bench.world.root).unwrap();
        bench.servers.confinement().describe_confinement(&declared["s"])
    };
    assert_eq!(told(), "It runs in the sandbox: it changes no files and reaches no network.");
    for (more, expected) in [
        ("hosts = ['a.example']", "changes no files and reaches a.example."),
        ("hosts = ['*']\nwrites = true", "files of the workspace and reaches any public host."),
        ("sandbox = false", "approve calls in your place."),
    ] {
        bench.declare(more);
        let standings = bench.servers.trust_statuses(&bench.world.root).unwrap();
        assert_eq!(standings[0].2, TrustStatus::Changed, "{more}");
        assert!(told().ends_with(expected), "{}", told());
    }
}

#[tokio::test]
async fn a_server_that_asks_for_it_runs_outside_unless_the_sandbox_is_required() {
    let Some(mut bench) = Bench::new("sandbox = false").await else { return };
    let outside = bench.world.outside.join("made");
    bench.attempt(&format!("echo x > {}", outside.display())).await;
    assert!(outside.exists());
    let required = bench.servers(true);
    let declared = required.declared(&bench.world.root).unwrap();
    let refused =
        required.inspect_server(&bench.world.root, &declared["s"]).await.unwrap_err().to_string();
    let why = "the sandbox is required here, and it asks to run outside";
    assert!(refused.ends_with(why), "{refused}");
}

#[tokio::test]
async fn a_key_is_given_by_name_and_what_steers_programs_is_not() {
    let Some(mut bench) = Bench::new("env = { API_TOKEN = 'given' }").await else { return };
    assert_eq!(bench.attempt("echo $API_TOKEN").await, "given|");
    bench.declare("env = { LD_PRELOAD = './evil.so' }");
    let declared = bench.servers.declared(&bench.world.root).unwrap();
    let refused =
        bench.servers.inspect_server(&bench.world.root, &declared["s"]).await.unwrap_err();
    assert!(
        refused.to_string().contains("`LD_PRELOAD` makes programs load something"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_server_that_uses_too_much_is_ended_and_the_next_call_starts_it_again() {
    let Some(world) = World::in_sandbox_of(|setup| setup.limits.memory = 256 << 20).await else {
        return;
    };
    let mut bench = Bench::of(world, "bash", "");
    let many = r#"for i in 1 2 3 4 5 6; do perl -e '$x = "a" x 80_000_000; sleep 60' & done; wait"#;
    let ended = bench.tried(many).await.unwrap_err().to_string();
    assert!(ended.contains("used more than 256 MiB of memory"), "{ended}");
    assert_eq!(bench.attempt("echo again").await, "again|");
}

#[tokio::test]
async fn a_launcher_has_its_cache_and_what_it_leaves_there_is_gone_with_it() {
    let Some(mut bench) = Bench::with("tools/npx", "").await else { return };
    let cache = bench.world.outside.join("home/.npm");
    std::fs::create_dir_all(cache.join("_npx")).unwrap();
    std::fs::write(cache.join("_npx/package"), "cached").unwrap();
    let script = "cat ~/.npm/_npx/package; echo; echo new > ~/.npm/_npx/package; mkdir ~/.npm/_logs && echo x > \
                  ~/.npm/_logs/x; cat ~/.npm/_npx/package ~/.npm/_logs/x; echo y > ~/y";
    let said = bench.attempt(script).await;
    assert!(said.starts_with("cached|new|x|"), "{said}");
    assert_eq!(std::fs::read_to_string(cache.join("_npx/package")).unwrap(), "cached");
    assert!(!cache.join("_logs").exists() && !bench.world.outside.join("home/y").exists());
    bench.servers.close().await;
    let state = std::fs::read_dir(bench.world.outside.join("own/sandbox")).unwrap();
    let left: Vec<_> = state.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!left.iter().any(|name| name.starts_with("countersign-")), "{left:?}");
}

#[tokio::test]
async fn a_server_from_npm_runs_inside() {
    let Some(bench) = Bench::new("").await else { return };
    let Some(program) = from_npm() else { return };
    let is_modules = |folder: &&Path| folder.ends_with("node_modules");
    let modules = program.ancestors().filter(is_modules).last().unwrap();
    let text = format!("[mcp.all]\ncommand = 'node'\nargs = [{:?}]", program.display().to_string());
    let declared = &parse_declarations(&text).unwrap()["all"];
    let seen = bench.servers.inspect_server(modules.parent().unwrap(), declared).await.unwrap();
    assert!(seen.tools.iter().any(|tool| tool.name == "echo"), "{:?}", seen.tools);
}

/// None where it is left out on purpose, which is said.
#[expect(clippy::disallowed_methods, reason = "what a tester says is in the environment")]
fn from_npm() -> Option<PathBuf> {
    let without = std::env::var("COUNTERSIGN_TEST_WITHOUT").unwrap_or_default();
    if without.split(',').any(|it| it == "mcp") {
        println!("this is left out, as COUNTERSIGN_TEST_WITHOUT says");
        return None;
    }
    let said = std::env::var_os("COUNTERSIGN_TEST_MCP_SERVER");
    Some(
        said.expect("set COUNTERSIGN_TEST_MCP_SERVER to what `scripts/mcp-server path` prints")
            .into(),
    )
}

/// A workspace that declares the server.
struct Bench {
    world: World,
    servers: Arc<McpServers>,
    command: &'static str,
}

impl Bench {
    async fn new(more: &str) -> Option<Self> {
        Self::with("bash", more).await
    }

    async fn with(command: &'static str, more: &str) -> Option<Self> {
        Some(Self::of(World::in_sandbox().await?, command, more))
    }

    fn of(world: World, command: &'static str, more: &str) -> Self {
        world.write("server.sh", SERVER);
        world.write("attempt.sh", "");
        if command != "bash" {
            world.write(command, "#!/bin/bash\nexec bash \"$@\"\n");
            world.set_mode(command, 0o755);
        }
        let servers = servers(&world, false);
        let bench = Self { world, servers, command };
        bench.declare(more);
        bench
    }

    fn declare(&self, more: &str) {
        let Self { command, .. } = self;
        let text = format!("[mcp.s]\ncommand = '{command}'\nargs = ['server.sh']\n{more}\n");
        self.world.write("countersign.toml", text);
    }

    fn servers(&self, required: bool) -> Arc<McpServers> {
        servers(&self.world, required)
    }

    /// A person consents to the server as it is declared; its tool runs a script and tells.
    async fn attempt(&mut self, script: &str) -> String {
        let output = self.tried(script).await.unwrap();
        assert!(!output.is_error, "{output:?}");
        output.content
    }

    async fn tried(&mut self, script: &str) -> Result<ToolOutput, ToolError> {
        let root = &self.world.root;
        let declared = self.servers.declared(root).unwrap();
        let pin = self.servers.inspect_server(root, &declared["s"]).await.unwrap();
        self.servers.pin(root, "s", Some(pin)).unwrap();
        self.world.write("attempt.sh", script);
        self.world.toolbox = self.servers.add_to(self.world.toolbox.clone(), root);
        self.world.run("mcp__s__try", json!({})).await
    }
}

fn servers(world: &World, required: bool) -> Arc<McpServers> {
    let own = world.outside.join("own");
    let variable = |name: &str, value: PathBuf| (name.to_owned(), value.display().to_string());
    let environment = Environment::from(vec![
        variable("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
        variable("HOME", world.outside.join("home")),
    ]);
    let confinement =
        McpConfinement { sandbox: world.sandbox.clone(), required, own: vec![own.clone()] };
    let servers = McpServers::new(own.join("mcp.json"), None, environment);
    Arc::new(servers.confined_by(confinement))
}
