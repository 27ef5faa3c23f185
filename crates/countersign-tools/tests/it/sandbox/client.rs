//! The client's commands, inside a sandbox of the client's machine.

use std::fs;

use countersign_tools::{ClientSide, Environment, ExecuteCommand};
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_command_of_the_client_is_held_like_one_of_the_server() {
    let Some(world) = World::in_sandbox().await else { return };
    let own = world.outside.join("own");
    fs::write(own.join("token"), "THE-TOKEN").unwrap();
    let side = ClientSide::for_local_machine(&world.root, [own.clone()]).unwrap();
    let environment = Environment::from(vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let command =
        ExecuteCommand::new(side).with_environment(environment).with_sandbox(world.sandbox.clone());
    let world = world.with_tool(command);
    let run = async |command: &str, args: &[&str]| {
        world.run("execute_command", json!({ "command": command, "args": args })).await
    };
    let wrote = run("bash", &["-c", "echo hi > made && cat made"]).await.unwrap();
    assert!(!wrote.is_error && wrote.content.contains("hi"), "{wrote:?}");
    assert_eq!(world.text("made"), "hi\n");
    world.write(
        "x.sh",
        format!("cat {}; echo x > {}/x", own.join("token").display(), own.display()),
    );
    let tried = run("bash", &["x.sh"]).await.unwrap();
    assert!(tried.is_error && !tried.content.contains("THE-TOKEN"), "{tried:?}");
    assert!(!own.join("x").exists());
    let says = "The command ran in a sandbox: ";
    assert!(tried.content.contains(says) && tried.content.contains("--sandbox off"), "{tried:?}");
    let missing = run("no-such-program", &[]).await.unwrap_err().to_string();
    assert_eq!(missing, "Command not found: no-such-program");
}
