//! Files outside the workspace: one yes is enough for what it was said to, and for nothing else.

use std::fs;

use countersign_core::ToolOutput;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_file_that_a_person_said_yes_to_is_written_and_nothing_beside_it() {
    let Some(world) = World::in_sandbox().await else { return };
    let outside = world.outside.display().to_string();
    fs::write(world.outside.join("known"), "old").unwrap();
    fs::write(world.outside.join("other"), "old").unwrap();
    world.write("x.sh", format!("echo evil > {outside}/other; echo evil > {outside}/planted"));
    let line = format!("echo new > {outside}/known && echo made > {outside}/fresh; bash x.sh");
    consented(&world, &line).await;
    assert_eq!(fs::read_to_string(world.outside.join("known")).unwrap(), "new\n");
    assert_eq!(fs::read_to_string(world.outside.join("fresh")).unwrap(), "made\n");
    assert_eq!(fs::read_to_string(world.outside.join("other")).unwrap(), "old");
    assert!(!world.outside.join("planted").exists());
    let copied = consented(&world, &format!("cp x.sh {outside}/copy")).await;
    assert_eq!(copied, ToolOutput::ok("(no output)"));
    assert!(world.outside.join("copy").exists());
}

#[tokio::test]
async fn what_nobody_said_yes_to_stays_as_it_is() {
    let Some(world) = World::in_sandbox().await else { return };
    let known = world.outside.join("known");
    fs::write(&known, "old").unwrap();
    let command = format!("echo new > {}", known.display());
    let said = world.run("Bash", json!({ "command": command })).await.unwrap();
    assert!(said.is_error, "a mode may have let it run, which is no yes to this file: {said:?}");
    assert_eq!(fs::read_to_string(known).unwrap(), "old");
}

#[tokio::test]
async fn what_was_not_written_after_all_is_not_left_behind() {
    let Some(world) = World::in_sandbox().await else { return };
    let outside = world.outside.display();
    consented(&world, &format!("false && echo x > {outside}/never; true > {outside}/empty")).await;
    assert!(!world.outside.join("never").exists());
    assert_eq!(fs::read_to_string(world.outside.join("empty")).unwrap(), "", "it was made so");
}

#[tokio::test]
async fn no_yes_opens_keys_what_runs_later_our_own_state_or_another_name_of_a_file() {
    let Some(world) = World::in_sandbox().await else { return };
    let home = world.outside.join("home");
    for (folder, name) in [(".ssh", "config"), (".git", "config"), ("plain", "one")] {
        fs::create_dir(home.join(folder)).unwrap();
        fs::write(home.join(folder).join(name), "old").unwrap();
    }
    fs::hard_link(home.join(".git/config"), home.join("plain/linked")).unwrap();
    for file in [".ssh/config", ".git/config", "plain/linked"] {
        let path = home.join(file);
        let said = consented(&world, &format!("echo new > {}", path.display())).await;
        assert!(said.is_error, "{file}: {said:?}");
        assert_eq!(fs::read_to_string(path).unwrap(), "old", "{file}");
    }
    let line = format!("echo new > {}/plain/one", home.display());
    assert_eq!(consented(&world, &line).await, ToolOutput::ok("(no output)"));
}

#[tokio::test]
async fn what_is_no_single_file_says_that_the_sandbox_is_in_the_way() {
    let Some(world) = World::in_sandbox().await else { return };
    let outside = world.outside.display();
    fs::write(world.outside.join("gone"), "old").unwrap();
    for line in [
        format!("mkdir {outside}/folder"),
        format!("rm {outside}/gone"),
        format!("ln -s x {outside}/link"),
    ] {
        let said = consented(&world, &line).await;
        assert!(said.is_error && said.content.contains("ran in a sandbox"), "{line}: {said:?}");
    }
    assert!(world.outside.join("gone").exists());
}

async fn consented(world: &World, command: &str) -> ToolOutput {
    world.run_consented("Bash", json!({ "command": command })).await
}
