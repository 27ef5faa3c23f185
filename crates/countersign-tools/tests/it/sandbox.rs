//! The sandbox with real children: what it is worth here, and that everyday work goes on inside.

mod client;
mod escapes;
mod mcp;
mod outside;
mod swaps;

use std::path::Path;
use std::process::Stdio;

use countersign_core::ToolOutput;
use countersign_tools::{
    ChildView, CommandSpec, Environment, IsolationLevel, NetworkAccess, Sandbox, SandboxSetup,
    Workspace,
};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::world::World;

#[tokio::test]
async fn the_probe_finds_the_best_level_and_says_why_it_is_not_better() {
    let Some(world) = World::in_sandbox().await else { return };
    assert_eq!(world.sandbox.level(), IsolationLevel::Full, "{:?}", world.sandbox.why());
    assert_eq!(world.sandbox.why(), None);
}

#[tokio::test]
async fn everyday_work_goes_on_inside() {
    let Some(world) = World::in_sandbox().await else { return };
    let root = world.root.display().to_string();
    assert_eq!(run(&world, "pwd").await, ToolOutput::ok(root));
    assert_eq!(run(&world, "mkdir -p a && echo hi > a/b && cat a/b").await, ToolOutput::ok("hi"));
    assert_eq!(world.text("a/b"), "hi\n");
    assert_eq!(run(&world, "echo t > /tmp/x && cat /tmp/x").await, ToolOutput::ok("t"));
    assert!(run(&world, "ls /tmp/x").await.is_error, "another `/tmp` each time");
    let failed = run(&world, "echo out; echo err >&2; exit 3").await;
    assert_eq!(failed, ToolOutput::error("out\nerr\nExit code 3"));
    let here = "bash -c 'echo x | cat >/dev/stdout' && (exec 3<>/dev/null) && seq 3 | wc -l";
    assert_eq!(run(&world, here).await, ToolOutput::ok("x\n3"));
    assert_eq!(world.names(), ["a"], "nothing is left behind");
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_whole_and_tells_what_it_had() {
    let Some(world) = World::in_sandbox().await else { return };
    let input = json!({"command": "echo so far; sleep 1000", "timeout": 1500});
    let output = world.run("Bash", input).await.unwrap();
    assert_eq!(output, ToolOutput::error("so far\nCommand timed out after 1.500s"));
}

#[tokio::test]
async fn without_bubblewrap_there_is_still_a_fence() {
    let Some(world) = World::in_sandbox_of(|setup| setup.at_most = IsolationLevel::Fence).await
    else {
        return;
    };
    let key = world.outside.join("own/token");
    std::fs::write(&key, "THE-TOKEN").unwrap();
    assert_eq!(run(&world, "echo hi > a && cat a").await, ToolOutput::ok("hi"));
    assert_eq!(run(&world, "echo t > $TMPDIR/x && cat $TMPDIR/x").await, ToolOutput::ok("t"));
    let (key, outside) = (key.display(), world.outside.join("planted"));
    let read = run(&world, &format!("cat \"$(printf {key})\"")).await.content;
    assert!(!read.contains("THE-TOKEN") && read.contains("hidden"), "{read}");
    let wrote = run(&world, &format!("echo x > \"$(printf {})\"", outside.display())).await;
    assert!(wrote.is_error && !outside.exists(), "{wrote:?}");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let reached = run(&world, &format!("exec 3<>/dev/tcp/127.0.0.1/{port}")).await;
    assert!(reached.is_error && reached.content.contains("ran in a sandbox"), "{reached:?}");
    let server = std::process::id();
    let process = run(&world, &format!("cat /proc/{server}/environ; kill -0 {server}")).await;
    assert!(process.is_error && process.content.contains("ran in a sandbox"), "{process:?}");
    // What it does not do, it does not claim.
    world.write(".env", "KEY=1");
    world.write("x.sh", "cat .env; cat /etc/shadow");
    let seen = run(&world, "bash x.sh").await.content;
    assert!(seen.contains("KEY=1") && seen.contains("ran in a sandbox"), "{seen}");
    let described = world.toolbox.get("Bash").unwrap().description().to_owned();
    for claim in [&seen, &described] {
        assert!(!claim.contains(".env`") && !claim.contains("no files that hold keys"), "{claim}");
    }
    assert!(described.contains("Within the workspace nothing is hidden"), "{described}");
}

#[tokio::test]
async fn where_nothing_can_be_closed_there_is_no_sandbox_and_it_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let setup = SandboxSetup::new(vec!["/bin/false".to_owned()], folder.path().join("own"));
    let sandbox = Sandbox::probe(setup).await;
    assert_eq!(sandbox.level(), IsolationLevel::None);
    assert!(sandbox.why().unwrap().contains("did not get to try"), "{:?}", sandbox.why());
    let setup = SandboxSetup {
        bubblewrap: Some("/nowhere/bwrap".into()),
        at_most: IsolationLevel::Full,
        ..SandboxSetup::new(vec!["/bin/false".to_owned()], folder.path().join("own"))
    };
    assert_eq!(Sandbox::probe(setup).await.why(), Some("bubblewrap is not installed"));
}

#[tokio::test]
async fn git_alone_may_change_its_folder_but_not_what_makes_it_run_things() {
    let Some(world) = World::in_sandbox().await else { return };
    let identity = "git -c user.name=a -c user.email=a@b";
    let init = run(&world, "git init --quiet").await;
    assert_eq!(init, ToolOutput::ok("(no output)"));
    world.write("a", "1");
    let commit = format!("git add a && {identity} commit --quiet --message one");
    assert_eq!(run(&world, &commit).await, ToolOutput::ok("(no output)"));
    let refused = run(&world, "git config core.pager evil").await;
    assert!(refused.is_error && refused.content.contains("ran in a sandbox"), "{refused:?}");
    world.write("x.sh", format!("echo 2 > a; {identity} commit --all --message two"));
    let mixed = run(&world, "bash x.sh").await;
    assert!(mixed.is_error && mixed.content.contains("steers later runs"), "{mixed:?}");
}

#[tokio::test]
async fn another_folder_can_be_shown_in_the_place_of_the_workspace() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write("a", "real");
    let copy = world.outside.join("copy");
    std::fs::create_dir(&copy).unwrap();
    std::fs::write(copy.join("a"), "copied").unwrap();
    std::fs::write(copy.join(".env"), "KEY").unwrap();
    let workspace = Workspace::new([world.root.clone()]).unwrap();
    let view = ChildView::for_workspace(&workspace, None).with_substitute_root(&world.root, &copy);
    let said = started(&world, &view, "cat a .env; echo changed > a").await;
    assert_eq!(said, "copied");
    assert_eq!(std::fs::read_to_string(copy.join("a")).unwrap(), "changed\n");
    assert_eq!(world.text("a"), "real");
}

#[tokio::test]
async fn changes_can_be_kept_apart_from_the_workspace() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write("a", "real");
    world.write("gone", "real");
    world.write(".git/config", "real");
    world.write(".env", "KEY");
    let [upper, work] = ["upper", "work"].map(|name| world.outside.join(name));
    std::fs::create_dir(&upper).unwrap();
    std::fs::create_dir(&work).unwrap();
    let workspace = Workspace::new([world.root.clone()]).unwrap();
    let view = ChildView::for_workspace(&workspace, None).with_overlay(&world.root, &upper, &work);
    let script =
        "echo changed > a; mkdir b; echo new > b/c; rm gone; cat a; cat .env; echo x > .git/config";
    assert_eq!(started(&world, &view, script).await, "changed");
    assert_eq!(world.names(), [".env", ".git", "a", "gone"], "nothing has happened");
    assert_eq!(world.text("a") + &world.text("gone") + &world.text(".git/config"), "realrealreal");
    assert_eq!(std::fs::read_to_string(upper.join("b/c")).unwrap(), "new\n");
    assert_eq!(std::fs::read_to_string(upper.join("a")).unwrap(), "changed\n");
    // What was done before is seen by who comes next.
    assert_eq!(started(&world, &view, "cat a; ls").await, "changed\na\nb");
}

/// An MCP server over stdio is a child like any other: it answers, and reaches nothing.
#[tokio::test]
async fn a_server_over_stdio_runs_inside_and_cannot_reach_ours() {
    let Some(world) = World::in_sandbox().await else { return };
    let token = world.outside.join("own/token");
    std::fs::write(&token, "THE-TOKEN").unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let own = world.outside.join("own");
    let workspace = Workspace::new([world.root.clone()]).unwrap().keeping_out_of([own]);
    let script = format!(
        "read line; echo \"heard $line\"; cat {} 2>&1; (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>&1 || true",
        token.display()
    );
    let said = started(&world, &ChildView::for_workspace(&workspace, None), &script).await;
    assert!(said.starts_with("heard hello\n"), "{said}");
    assert!(!said.contains("THE-TOKEN") && said.contains("refused"), "{said}");
}

/// The way to other machines is a proxy, and this machine is none of them.
#[tokio::test]
async fn hosts_are_reached_by_name_and_never_this_machine() {
    let Some(world) = World::in_sandbox().await else { return };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let workspace = Workspace::new([world.root.clone()]).unwrap();
    let view = ChildView::for_workspace(&workspace, None);
    let ask = |host: &str| {
        format!(
            "echo $http_proxy; exec 3<>/dev/tcp/127.0.0.1/3128; \
             printf 'GET http://{host}:{port}/ HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3"
        )
    };
    let allowed = NetworkAccess::Hosts(vec!["localhost".to_owned()]);
    let said = started(&world, &view.clone().with_network(allowed), &ask("localhost")).await;
    assert!(said.contains("`localhost` leads to this machine or its own network"), "{said}");
    assert!(said.starts_with("http://127.0.0.1:3128"), "{said}");
    let allowed = NetworkAccess::Hosts(vec!["example.com".to_owned()]);
    let said = started(&world, &view.with_network(allowed), &ask("localhost")).await;
    assert!(said.contains("`localhost` is not among the hosts that were allowed"), "{said}");
    let refused = listener.accept().unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::WouldBlock);
}

/// Starts a command by hand, as somebody would who speaks to it, and says `hello` to it.
async fn started(world: &World, view: &ChildView, script: &str) -> String {
    let arguments = ["-c".to_owned(), script.to_owned()];
    let path = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    let environment = Environment::from(vec![path]);
    let start = CommandSpec {
        program: Path::new("/bin/bash"),
        arguments: &arguments,
        cwd: &world.root,
        environment: &environment,
    };
    let confined = world.sandbox.confine(view, &start).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the child is what is tested")]
    let mut child = tokio::process::Command::new(confined.program());
    let mut child = child
        .args(confined.arguments())
        .env_clear()
        .envs(confined.environment().iter())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"hello\n").await.unwrap();
    let output = child.wait_with_output().await.unwrap();
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

async fn run(world: &World, command: &str) -> ToolOutput {
    world.run("Bash", json!({ "command": command })).await.unwrap()
}
