//! Commands tried out over a copy of the workspace: what is shown, what a yes keeps, what is not kept.

mod same;

use std::os::unix::fs::symlink;

use countersign_core::{
    CommandPreview, Preview, RehearsalEnd, RehearsalResult, RehearsalState, ToolCall, ToolOutput,
};
use countersign_tools::{
    Bash, Environment, RehearsalError, StagedRehearsal, Tool, ToolError, Workspace, keep_rehearsed,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::world::{World, assert_has};

#[tokio::test]
async fn what_a_command_does_is_shown_and_nothing_has_happened() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write("a.txt", "one\ntwo\n");
    world.write("gone.txt", "bye\n");
    world.write("old/deep/x", "x\n");
    world.write("run.sh", "echo\n");
    let command = "sed -i s/two/2/ a.txt; rm gone.txt; rm -r old; mkdir -p new/empty; echo n > new/n; \
                   chmod +x run.sh; ln -s a.txt link; touch a.txt; echo said; echo wrong >&2";
    let staged = rehearsed(&world, command).await;
    let shown = staged.rehearsal_result();
    assert_eq!(shown.end, RehearsalEnd::Exited { code: 0 });
    assert_eq!(shown.output, "said\nwrong");
    assert_eq!(shown.runs_again, None);
    let names: Vec<_> = shown.files.iter().map(|file| file.file_path.as_str()).collect();
    assert_eq!(names, ["a.txt", "gone.txt", "link", "new/n", "old/deep/x", "run.sh"]);
    assert_eq!(lines(shown, "a.txt"), ["-two", "+2"]);
    let file = |name: &str| shown.files.iter().find(|file| file.file_path == name).unwrap();
    assert!(file("gone.txt").is_deleted && file("old/deep/x").is_deleted);
    assert!(file("new/n").is_new_file);
    assert_eq!(file("link").link_target.as_deref(), Some("a.txt"));
    assert_eq!(file("run.sh").new_mode.as_deref(), Some("100755"));
    assert_eq!(
        shown.folders,
        [
            "new folder `new`",
            "new folder `new/empty`",
            "folder `old` removed",
            "folder `old/deep` removed"
        ]
    );
    assert_eq!(world.names(), ["a.txt", "gone.txt", "old", "run.sh"]);
    assert_eq!(world.text("a.txt"), "one\ntwo\n");
}

#[tokio::test]
async fn a_yes_keeps_exactly_what_was_shown() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write("a.txt", "one\n");
    world.write("old/deep/x", "x\n");
    world.write("again/was", "w\n");
    let command = "date +%s%N > a.txt; rm -r old; mkdir -p new/empty; install -m 750 a.txt new/b; \
                   rm -r again; mkdir again; echo i > again/is; echo done";
    let staged = rehearsed(&world, command).await;
    let written = lines(staged.rehearsal_result(), "a.txt").remove(1);
    assert_eq!(kept(&world, command, staged).await.unwrap(), ToolOutput::ok("done"));
    assert_eq!(format!("+{}", world.text("a.txt").trim_end()), written, "not run a second time");
    assert_eq!(world.names(), ["a.txt", "again", "new"]);
    assert_eq!((world.text("new/b"), world.mode("new/b")), (world.text("a.txt"), 0o750));
    assert!(world.path("new/empty").is_dir());
    assert!(world.path("again/is").exists() && !world.path("again/was").exists());
    let left = std::fs::read_dir(world.outside.join("own/sandbox/rehearsals")).unwrap();
    assert_eq!(left.count(), 0, "what was tried out is gone");
}

#[tokio::test]
async fn a_failing_command_is_shown_with_its_code_and_kept_with_what_it_left() {
    let Some(world) = World::in_sandbox().await else { return };
    let command = "echo half > half; echo broken >&2; exit 3";
    let staged = rehearsed(&world, command).await;
    assert_eq!(staged.rehearsal_result().end, RehearsalEnd::Exited { code: 3 });
    assert_eq!(staged.rehearsal_result().runs_again, None);
    let output = kept(&world, command, staged).await.unwrap();
    assert_eq!(output, ToolOutput::error("broken\nExit code 3"));
    assert_eq!(world.text("half"), "half\n");
}

#[tokio::test]
async fn nothing_is_kept_once_something_has_moved_underneath() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write("in", "1");
    world.write("deep/down/other", "1");
    for change in [
        &(|| world.write("in", "2")) as &dyn Fn(),
        &|| world.write("deep/down/other", "2"),
        &|| world.write("deep/new", ""),
        &|| std::fs::remove_file(world.path("deep/new")).unwrap(),
        &|| world.set_mode("deep/down/other", 0o600),
        &|| symlink("in", world.path("link")).unwrap(),
    ] {
        let staged = rehearsed(&world, "cp in out").await;
        assert!(!staged.has_moved());
        change();
        assert!(staged.has_moved());
        let refused = kept(&world, "cp in out", staged).await.unwrap_err();
        assert!(matches!(refused, ToolError::OutOfDate), "{refused}");
        assert!(!world.path("out").exists());
    }
}

#[tokio::test]
async fn a_permit_for_a_rehearsal_does_not_run_the_command_and_keeps_no_other_rehearsal() {
    let Some(world) = World::in_sandbox().await else { return };
    let (one, other) =
        (rehearsed(&world, "date +%N > a").await, rehearsed(&world, "echo b > b").await);
    let permit =
        || world.shown("Bash", json!({"command": "date +%N > a"}), with(one.rehearsal_result()));
    let refused = world.run_permit(permit()).await.unwrap_err();
    assert!(matches!(refused, ToolError::OutOfDate), "{refused}");
    let refused = keep_rehearsed(world.tool("Bash"), permit(), other).await.unwrap_err();
    assert!(matches!(refused, ToolError::OutOfDate), "{refused}");
    let plain = world.approve("Bash", json!({"command": "date +%N > a"}));
    let refused = keep_rehearsed(world.tool("Bash"), plain, one).await.unwrap_err();
    assert!(matches!(refused, ToolError::OutOfDate), "{refused}");
    assert_eq!(world.names(), [] as [&str; 0]);
}

#[tokio::test]
async fn a_command_that_never_ends_shows_what_it_did_until_then_and_is_not_kept() {
    let Some(world) = World::in_sandbox().await else { return };
    let command = "echo 1 > a; echo begun; sleep 1000";
    let input = json!({"command": command, "timeout": 1500});
    let staged = try_out(&world, input).await.unwrap();
    assert_eq!(staged.rehearsal_result().end, RehearsalEnd::TimedOut { after_ms: 1500 });
    assert_eq!(lines(staged.rehearsal_result(), "a"), ["+1"]);
    assert_has(&staged.rehearsal_result().output, "begun");
    assert_eq!(
        staged.rehearsal_result().runs_again.as_deref(),
        Some("it had not ended after 1.500s")
    );
}

#[tokio::test]
async fn what_leaves_the_workspace_is_not_tried_out_and_says_why() {
    let Some(world) = World::in_sandbox().await else { return };
    for (command, why) in [
        ("echo hi > ../outside/x", "it changes files outside the workspace"),
        ("rm /etc/hosts", "it changes files outside the workspace"),
        ("mv a ../outside/a", "it moves files across the border of the workspace"),
        ("curl https://example.com", "it reaches the network"),
        ("cat .env", "it reads keys or passwords"),
    ] {
        let refused = try_out(&world, json!({"command": command})).await.unwrap_err();
        assert_eq!(refused, RehearsalError(why.to_owned()), "{command}");
    }
    let out = json!({"command": "echo hi", "dangerouslyDisableSandbox": true});
    let refused = try_out(&world, out).await.unwrap_err();
    assert_eq!(refused.0, "it asks to run outside the sandbox");
    let bare = World::new();
    let refused = try_out(&bare, json!({"command": "echo hi"})).await.unwrap_err();
    assert_eq!(refused.0, "there is no sandbox here that would hold it");
}

#[tokio::test]
async fn where_the_workspace_cannot_be_laid_over_it_says_so() {
    let Some(world) = World::in_sandbox().await else { return };
    // The kernel takes a comma in this path for the end of it.
    let root = world.outside.join("a,b");
    std::fs::create_dir(&root).unwrap();
    let workspace = Workspace::new([root.clone()]).unwrap();
    let path = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    let bash = Bash::new(workspace, Environment::from(vec![path]));
    let bash = bash.with_sandbox(world.sandbox.clone());
    let call = ToolCall { cwd: root, ..world.call("Bash", json!({"command": "echo hi"})) };
    let refused = bash.rehearse(&call, CancellationToken::new()).await.unwrap_err();
    assert_has(&refused.0, "the workspace cannot be laid over here: its overlay: ");
}

#[tokio::test]
async fn a_program_that_writes_outside_hits_the_wall_and_is_not_kept() {
    let Some(world) = World::in_sandbox().await else { return };
    let outside = world.outside.join("x");
    world.write("build.sh", format!("echo 1 > built; echo 2 > {}", outside.display()));
    let staged = rehearsed(&world, "bash build.sh").await;
    let why = staged.rehearsal_result().runs_again.clone().unwrap();
    assert_has(&why, "the sandbox was in its way");
    assert!(!outside.exists() && !world.path("built").exists());
    assert_eq!(lines(staged.rehearsal_result(), "built"), ["+1"]);
}

#[tokio::test]
async fn what_steers_later_runs_is_kept_only_where_the_command_names_it() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write("x.sh", "mkdir -p .vscode; echo '{}' > .vscode/tasks.json");
    let staged = rehearsed(&world, "bash x.sh").await;
    assert_has(
        &staged.rehearsal_result().runs_again.clone().unwrap(),
        "it makes `.vscode`, which steers",
    );
    let staged = rehearsed(&world, "mkdir .vscode; echo '{}' > .vscode/tasks.json").await;
    assert_eq!(staged.rehearsal_result().runs_again, None);
}

#[tokio::test]
async fn keys_are_not_seen_and_the_net_is_not_reached() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write(".env", "KEY=1");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("cat .env > copy; (exec 3<>/dev/tcp/127.0.0.1/{port}); true");
    world.write("x.sh", script);
    let staged = rehearsed(&world, "bash x.sh").await;
    assert!(lines(staged.rehearsal_result(), "copy").is_empty());
    assert!(listener.accept().is_err());
}

#[tokio::test]
async fn a_commit_is_kept_with_what_git_writes_for_itself() {
    let Some(world) = World::in_sandbox().await else { return };
    let identity = "git -c user.name=a -c user.email=a@b";
    world.ok("Bash", json!({"command": "git init --quiet"})).await;
    world.write("a", "1");
    let command = format!("git add a && {identity} commit --quiet --message one");
    let staged = rehearsed(&world, &command).await;
    assert_eq!(staged.rehearsal_result().runs_again, None);
    assert_eq!(staged.rehearsal_result().files, []);
    assert_has(&staged.rehearsal_result().folders.join("\n"), "of git's own in `.git`");
    kept(&world, &command, staged).await.unwrap();
    let log = world.ok("Bash", json!({"command": "git log --oneline && git status --short"})).await;
    assert!(log.ends_with("one") && log.lines().count() == 1, "{log}");
}

#[tokio::test]
async fn what_cannot_be_shown_is_not_kept() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write("a", "1");
    world.link("a", "link");
    for (command, why) in [
        ("mkfifo pipe", "it makes a device, a FIFO or a socket: `pipe`"),
        ("ln -sf b link", "it changes where a link leads: `link`"),
        ("rm link", "it removes what is no file: `link`"),
        ("rm a; mkdir a", "it puts a folder in the place of a file: `a`"),
        ("for i in {1..201}; do echo > f$i; done", "it changed more than can be shown"),
    ] {
        let staged = rehearsed(&world, command).await;
        assert_has(staged.rehearsal_result().runs_again.as_deref().unwrap_or_default(), why);
    }
    let many = rehearsed(&world, "for i in {1..203}; do echo > f$i; done").await;
    assert_eq!((many.rehearsal_result().files.len(), many.rehearsal_result().more_files), (200, 3));
}

#[tokio::test]
async fn what_somebody_left_who_is_no_more_is_swept_away_and_what_is_in_use_stays() {
    let Some(world) = World::in_sandbox().await else { return };
    let staged = rehearsed(&world, "echo 1 > a").await;
    let room = world.outside.join("own/sandbox/rehearsals");
    let left = room.join("rehearsal-left");
    std::fs::create_dir_all(left.join("0/upper")).unwrap();
    std::fs::write(left.join("lock"), "").unwrap();
    drop(rehearsed(&world, "echo 2 > b").await);
    assert!(!left.exists());
    kept(&world, "echo 1 > a", staged).await.unwrap();
    assert_eq!(world.text("a"), "1\n");
}

async fn try_out(
    world: &World,
    input: serde_json::Value,
) -> Result<StagedRehearsal, RehearsalError> {
    let call = world.call("Bash", input);
    world.tool("Bash").rehearse(&call, CancellationToken::new()).await
}

async fn rehearsed(world: &World, command: &str) -> StagedRehearsal {
    try_out(world, json!({"command": command})).await.unwrap()
}

/// Keeps a rehearsal that a person has seen.
async fn kept(
    world: &World,
    command: &str,
    staged: StagedRehearsal,
) -> Result<ToolOutput, ToolError> {
    let permit = world.shown("Bash", json!({"command": command}), with(staged.rehearsal_result()));
    keep_rehearsed(world.tool("Bash"), permit, staged).await
}

fn with(shown: &RehearsalResult) -> Preview {
    Preview::Command(CommandPreview {
        canonical: None,
        command: String::new(),
        cwd: String::new(),
        description: None,
        timeout_ms: 0,
        warnings: Vec::new(),
        parts: Vec::new(),
        rehearsal: Some(RehearsalState::Done(Box::new(shown.clone()))),
    })
}

fn lines(shown: &RehearsalResult, name: &str) -> Vec<String> {
    let file = shown.files.iter().find(|file| file.file_path == name);
    let lines = file.map(|file| file.diff.lines.clone()).unwrap_or_default();
    let is_change = |line: &String| {
        line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
    };
    lines.into_iter().filter(is_change).collect()
}
