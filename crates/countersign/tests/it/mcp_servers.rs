//! MCP servers of our own agent: declared by a file, used once a person has looked at them.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::world::{Serving, TOKEN, countersign, stderr};

/// Ourselves: a server with one tool.
const DECLARED: &str =
    concat!("[mcp.gate]\ncommand = '", env!("CARGO_BIN_EXE_countersign"), "'\nargs = ['mcp']\n");

#[tokio::test]
async fn a_declared_server_is_offered_once_it_is_trusted_and_not_when_it_changes() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("ws");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("countersign.toml"), DECLARED).unwrap();
    let data = home.path().join("data").display().to_string();
    let run = |args: &[&str]| {
        let mut command = countersign(home.path());
        command.args(args).args(["--data", &data]).current_dir(&root);
        command.output().unwrap()
    };
    let standing = || listed(&run(&["mcp", "list", "--json"]));

    let place = root.display().to_string();
    let args = ["serve", "--demo", "--listen", "127.0.0.1:0", "--token", TOKEN, "--root", &place];
    let mut serving = Serving::start(&[&args[..], &["--data", &data]].concat(), &[]);
    serving.says("The MCP server `gate` is not used until you have looked at it");
    let offers = async || {
        let url = format!("{}/my/projects/default/tools/available?executor=local", serving.url);
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = client.get(url).bearer_auth(TOKEN).send().await.unwrap();
        let said: Value = answer.json().await.unwrap();
        let tools = said["tools"].as_array().unwrap().clone();
        tools.iter().any(|tool| tool["name"] == "mcp__gate__approve")
    };
    assert_eq!((standing(), offers().await), (json!(["gate", "new", 0]), false));

    let unsure = run(&["mcp", "trust", "gate"]);
    assert!(stderr(&unsure).contains("hint: say --yes"), "{}", stderr(&unsure));
    let trusted = run(&["mcp", "trust", "gate", "--yes"]);
    let seen = stderr(&trusted);
    assert!(trusted.status.success(), "{seen}");
    assert!(seen.contains("It calls itself: countersign "), "{seen}");
    assert!(seen.contains("Says whether a tool may be used"), "what its tool says: {seen}");
    assert_eq!((standing(), offers().await), (json!(["gate", "trusted", 1]), true));

    let changed = DECLARED.replace("['mcp']", "['mcp', '--wait', '1']");
    fs::write(root.join("countersign.toml"), changed).unwrap();
    assert_eq!((standing(), offers().await), (json!(["gate", "changed", 1]), false));

    fs::write(root.join("countersign.toml"), DECLARED).unwrap();
    assert!(offers().await, "it is what was trusted again");
    assert!(run(&["mcp", "forget", "gate"]).status.success());
    assert!(!offers().await);
}

fn listed(output: &Output) -> Value {
    let row: Value = serde_json::from_slice(&output.stdout).unwrap();
    json!([row["name"], row["standing"], row["tools"]])
}
