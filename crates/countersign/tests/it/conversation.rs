//! Whole conversations through the binary and real HTTP on both sides.

use serde_json::json;

use crate::world::{Serving, TOKEN, output, stderr};

const SCENARIO: &str = r#"
key = "k-test"

[[script]]
[[script.turn]]
fail = { status = 529, times = 1 }
cut = { after_events = 4 }
say = "Writing it."
call = { tool = "Bash", input = { command = "env | sort > env.txt; cat env.txt" } }
[[script.turn]]
expect = { result = 'PATH=', is_error = false }
say = "Done."
"#;

/// The binary against a Messages API over HTTP that is overloaded once and cut once: the answer comes,
/// the command runs once, and nothing of the keys is in its environment.
#[tokio::test]
async fn the_binary_talks_to_a_messages_api_and_gets_through_failures() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("scenario.toml");
    std::fs::write(&scenario, SCENARIO).unwrap();
    let model = Serving::start(&["model", "--scenario", scenario.to_str().unwrap()], &[]);
    let env = [("ANTHROPIC_API_KEY", "k-test"), ("ANTHROPIC_BASE_URL", model.url.as_str())];
    let args = ["serve", "--listen", "127.0.0.1:0", "--token", TOKEN, "--root"];
    let serving = Serving::start(&[&args[..], &[folder.path().to_str().unwrap()]].concat(), &env);
    let mut client = serving.client().await;
    client.send(json!({"command": "run", "prompt": "go"})).await;
    let request = client.until("tool_approval_request").await;
    let id = &request["request_id"];
    client
        .send(json!({"command": "tool_approval_response", "request_id": id, "approved": true}))
        .await;
    client.until("result/success").await;
    let environment = std::fs::read_to_string(folder.path().join("env.txt")).unwrap();
    assert!(!environment.contains("k-test") && !environment.contains(TOKEN), "{environment}");
    assert!(!environment.contains("ANTHROPIC"), "{environment}");
}

/// What was recorded can be replayed under other rules while the server runs, and shows where a person
/// had decided otherwise.
#[tokio::test]
async fn recorded_calls_are_replayed_under_other_rules() {
    let folder = tempfile::tempdir().unwrap();
    let (root, data) = (folder.path().join("ws"), folder.path().join("data"));
    std::fs::create_dir(&root).unwrap();
    let (root, data) = (root.to_str().unwrap(), data.to_str().unwrap());
    let args = ["serve", "--demo", "--listen", "127.0.0.1:0", "--token", TOKEN];
    let serving = Serving::start(&[&args[..], &["--root", root, "--data", data]].concat(), &[]);
    let mut client = serving.client().await;
    let prompt = "Create a new file called a.txt with the content \"one\"";
    client.send(json!({"command": "run", "prompt": prompt})).await;
    let request = client.until("tool_approval_request").await;
    let no = json!({"command": "tool_approval_response", "request_id": request["request_id"],
        "approved": false});
    client.send(no).await;
    client.until("result/success").await;
    let rules = folder.path().join("new.toml");
    std::fs::write(&rules, "[permissions]\nallow = ['Edit(/*.txt)']\n").unwrap();
    let args = ["policy", "simulate", "--rules", rules.to_str().unwrap()];
    let out = output(&[&args[..], &["--root", root, "--data", data]].concat());
    let text = String::from_utf8(out.stdout.clone()).unwrap();
    assert!(out.status.success(), "{}", stderr(&out));
    assert!(text.starts_with("1 recorded calls\n"), "{text}");
    assert!(text.contains("against what people had decided:\n  ask → allow"), "{text}");
    assert!(text.contains("(Edit(/*.txt), a person rejected it)"), "{text}");
}

#[tokio::test]
async fn without_a_key_a_prompt_fails_with_what_to_do() {
    let args = ["serve", "--listen", "127.0.0.1:0", "--token", TOKEN];
    let serving = Serving::start(&args, &[]);
    let mut client = serving.client().await;
    client.send(json!({"command": "run", "prompt": "go"})).await;
    let failed = client.until("result/error").await;
    assert_eq!(failed["content"]["code"], "no_api_key");
    assert!(failed["hint"].as_str().unwrap().contains("ANTHROPIC_API_KEY"), "{failed}");
    let (_, said) = serving.stop();
    assert!(said.contains("No API key is set"), "{said}");
}

/// S1's manual test, to the letter, on the demo model.
#[tokio::test]
async fn the_demo_does_the_founding_documents_manual_test() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["serve", "--demo", "--listen", "127.0.0.1:0", "--token", TOKEN, "--root"];
    let serving = Serving::start(&[&args[..], &[folder.path().to_str().unwrap()]].concat(), &[]);
    let mut client = serving.client().await;
    let prompt = r#"Create a new file called test_sdk.txt with the content "Hello from SDK mode!""#;
    client.send(json!({"command": "run", "prompt": prompt, "permission_mode": "sdk"})).await;
    let request = client.until("tool_approval_request").await;
    assert_eq!(request["diff_lines"][3], "+Hello from SDK mode!");
    let no = json!({"command": "tool_approval_response", "request_id": request["request_id"],
        "approved": false, "feedback": "use a different name"});
    client.send(no).await;
    let told = client.until("user/tool_result").await;
    assert_eq!(told["content"]["content"], "User rejected: use a different name");
    let second = client.until("tool_approval_request").await;
    assert_ne!(second["file_path"], "test_sdk.txt");
    let yes = json!({"command": "tool_approval_response", "request_id": second["request_id"],
        "approved": true});
    client.send(yes).await;
    client.until("result/success").await;
    let written = folder.path().join(second["file_path"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(written).unwrap(), "Hello from SDK mode!");
    assert!(!folder.path().join("test_sdk.txt").exists());
}
