//! The examples of the SDK, run as people run them, with the real CLI on the path.
#![expect(clippy::disallowed_methods, reason = "an example is a program; it starts with nothing")]

use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::AsyncWriteExt;

use super::cell::{self, in_a_cell};
use super::world::World;

in_a_cell! {
    async fn example_one_shot() {
        let world = world().await;
        assert_eq!(run(&world, "one_shot", "").await, "2 + 2 = 4\n");
    }

    async fn example_chat() {
        let world = world().await;
        std::fs::write(world.work().join("a.txt"), "a").unwrap();
        let said = run(&world, "chat", "Which of them is the largest?\n").await;
        let lines: Vec<_> = said.lines().filter(|line| !line.starts_with("$0.")).collect();
        assert_eq!(lines, ["I look.", "", "There is: a.txt", "The only one."]);
        assert_eq!(said.lines().filter(|line| line.starts_with("$0.")).count(), 2);
    }

    async fn example_permission() {
        let world = world().await;
        assert_eq!(
            run(&world, "permission", "").await,
            "may it use Bash?\nThe folder is there.\n\
             may it use Bash?\nI was told: Dangerous command not allowed\n"
        );
        assert_eq!(world.files(), ["notes"]);
    }

    async fn example_approval() {
        let asked = r#"Bash {"command":"mkdir notes","description":"Makes the folder"}? [y/n]"#;
        for (answer, told, files) in [
            ("y\n", "[Allowed]\nThe folder is there.\n", vec!["notes"]),
            ("n\n", "[Denied]\nI was not allowed to: The user said no.\n", vec![]),
        ] {
            let world = world().await;
            assert_eq!(run(&world, "approval", answer).await, format!("{asked}\n{told}"));
            assert_eq!(world.files(), files);
        }
    }

    async fn example_hooks() {
        let world = world().await;
        let said = run(&world, "hooks", "").await;
        let before = "[AUDIT] Tool: Bash\nIt said: hello\n[AUDIT] Tool: Bash\nI was told: ";
        assert!(said.starts_with(before) && said.contains("sudo not allowed"), "{said}");
    }

    async fn example_control() {
        let world = world().await;
        assert_eq!(
            run(&world, "control", "").await,
            "Written.\nundone in 1 file, 3 lines\nstopped: Some(AbortedStreaming)\n"
        );
        assert_eq!(world.files(), [] as [&str; 0]);
    }

    async fn example_tools() {
        let world = world().await;
        assert_eq!(run(&world, "tools", "").await, "In Bergen: rain.\n");
    }

    async fn example_streaming() {
        let world = world().await;
        let said = run(&world, "streaming", "").await;
        assert!(said.starts_with("Once upon a time there was a gate.\n["), "{said}");
    }

    async fn example_sessions() {
        let world = world().await;
        assert_eq!(
            run(&world, "sessions", "").await,
            "Hello Ana.\nAna.\nHello Bo.\nNames, tried: 6 messages\nNames: 4 messages\n"
        );
    }

    async fn example_options() {
        let world = world().await;
        let said = run(&world, "options", "").await;
        assert!(said.starts_with("asked about Write\nWritten.\n2 turns, $0."), "{said}");
        assert_eq!(world.files(), ["note.txt"]);
    }
}

#[test]
fn every_example_is_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../countersign-claude/examples");
    let examples = std::fs::read_dir(folder).unwrap();
    let names = examples.map(|entry| entry.unwrap().path().file_stem().unwrap().to_owned());
    let tests = include_str!("examples.rs");
    for name in names.filter(|name| name != "fake_cli") {
        let name = name.to_string_lossy();
        assert!(tests.contains(&format!("async fn example_{name}()")), "`{name}` is not run");
    }
}

async fn world() -> World {
    World::with(include_str!("examples.toml")).await
}

/// Runs an example and returns what it said.
async fn run(world: &World, example: &str, input: &str) -> String {
    // Cargo builds all examples into a folder beside that of the tests.
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().unwrap().with_file_name("examples").join(example);
    assert!(
        path.exists(),
        "{} is missing; build it: cargo build -p countersign-claude --examples",
        path.display()
    );
    let mut command = tokio::process::Command::new(path);
    command.env_clear().envs(world.environment()).env("PATH", programs(world));
    command.current_dir(world.work()).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
    let output = child.wait_with_output().await.unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

/// A path on which there is a `claude`.
fn programs(world: &World) -> String {
    let folder: PathBuf = world.work().with_file_name("bin");
    std::fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(cell::cli(), folder.join("claude")).unwrap();
    format!("{}:/usr/bin:/bin", folder.display())
}
