//! Every command: what it prints, where, and how it ends.

use std::os::unix::fs::PermissionsExt;

use reqwest::redirect::Policy;
use serde_json::{Value, json};

use crate::world::{Client, Serving, TOKEN, output, stderr};

#[test]
fn wrong_usage_ends_with_2_and_errors_with_1_and_a_hint() {
    for wrong in [&["fly"][..], &["serve", "--listen", "nowhere"], &["model"], &[]] {
        assert_eq!(output(wrong).status.code(), Some(2), "{wrong:?}");
    }
    for (args, error, hint) in [
        (&["serve", "--root", "/not/there"][..], "`/not/there` cannot be a workspace", "--root"),
        (&["serve", "--database", "mysql://x"], "of no kind that is known", "sqlite:PATH"),
        (
            &["serve", "--data", "/dev/null/x", "--listen", "127.0.0.1:0"],
            "the data folder",
            "--data",
        ),
    ] {
        let output = output(args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains(&format!("error: {error}")) || said.contains(error), "{said}");
        assert!(
            said.lines().any(|line| line.starts_with("hint: ") && line.contains(hint)),
            "{said}"
        );
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_port_in_use_is_said_with_the_way_out() {
    let first = Serving::start(&["serve", "--demo", "--listen", "127.0.0.1:0"], &[]);
    let address = first.url.strip_prefix("http://").unwrap();
    let second = output(&["serve", "--demo", "--listen", address]);
    let said = stderr(&second);
    assert_eq!(second.status.code(), Some(1));
    assert!(said.contains("could not listen on") && said.contains("hint: "), "{said}");
}

#[tokio::test]
async fn serve_prints_one_line_and_stops_when_asked() {
    let serving = Serving::start(&["serve", "--demo", "--listen", "127.0.0.1:0"], &[]);
    let url = serving.url.clone();
    let data = serving.home.path().join(".local/share/countersign");
    assert_eq!(data.metadata().unwrap().permissions().mode() & 0o777, 0o700, "for its owner alone");
    let health = reqwest::get(format!("{url}/healthz")).await.unwrap();
    assert_eq!(health.text().await.unwrap(), "ok\n");
    let (status, said) = serving.stop();
    assert!(status.success(), "{said}");
    assert!(said.contains("Sign in (works once): ") && said.contains("/agent?token="), "{said}");
    assert!(said.ends_with("Stopped.\n"), "{said}");
}

#[tokio::test]
async fn the_sign_in_link_of_the_demo_works_once() {
    let mut serving = Serving::start(&["demo", "--no-open", "--listen", "127.0.0.1:0"], &[]);
    let client = reqwest::Client::builder().no_proxy().redirect(Policy::none()).build().unwrap();
    let status = async |url: &str| client.get(url).send().await.unwrap().status().as_u16();
    for way in ["/agent", "/agent?token=guess", "/agent?token="] {
        assert_eq!(status(&format!("{}{way}", serving.url)).await, 401, "{way}");
    }
    assert!(serving.says("no API key is needed").starts_with("Demo: "));
    let said = serving.says("Sign in");
    let link = said.split_once(": ").unwrap().1;
    assert_eq!(status(link).await, 303, "the first time it signs in");
    assert_eq!(status(link).await, 401, "the second time it does not");
    assert!(serving.stop().0.success());
}

#[tokio::test]
async fn metrics_are_served_in_prometheus_format() {
    let args = ["serve", "--demo", "--listen", "127.0.0.1:0", "--token", TOKEN];
    let serving = Serving::start(&args, &[]);
    let mut client = serving.client().await;
    let run = async |client: &mut Client, prompt: &str, until: &str| {
        client.send(json!({"command": "run", "prompt": prompt})).await;
        client.until(until).await
    };
    run(&mut client, "read nothing.txt", "result/success").await;
    let prompt = "Create a new file called a.txt with the content \"one\"";
    let asked = run(&mut client, prompt, "tool_approval_request").await;
    let id = asked["request_id"].as_str().unwrap();
    let approve = format!("{}/my/projects/default/approvals/{id}/approve", serving.url);
    for _ in 0..3 {
        let request = reqwest::Client::new().post(&approve).bearer_auth(TOKEN).body("{}");
        assert_eq!(request.send().await.unwrap().status(), 200);
    }
    client.until("result/success").await;
    let prompt = "Create a new file called b.txt with the content \"two\"";
    run(&mut client, prompt, "tool_approval_request").await;
    let metrics = reqwest::get(format!("{}/metrics", serving.url)).await.unwrap();
    let metrics = metrics.text().await.unwrap();
    let value = |name: &str| -> f64 {
        let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name}: {metrics}")).parse().unwrap()
    };
    assert_eq!(value("countersign_runs_total").to_string(), "3");
    let approved = value("countersign_decisions_total{status=\"approved\"}").to_string();
    assert_eq!(approved, "1", "the same decision said again is none");
    assert_eq!(value("countersign_pending").to_string(), "1", "one waits for a person");
    assert!(value("countersign_commits_total") >= 1.0);
    assert!(value("countersign_writes_total") >= value("countersign_commits_total"));
}

#[test]
fn openapi_is_printed_as_json() {
    let printed = output(&["openapi"]);
    let document: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert!(document["components"]["schemas"]["ServerMessage"].is_object());
}

#[test]
fn secrets_given_to_the_binary_show_up_nowhere() {
    let args = ["serve", "--listen", "127.0.0.1:0"];
    let env = [("ANTHROPIC_API_KEY", "k-very-secret"), ("COUNTERSIGN_TOKEN", "t-very-secret")];
    let serving = Serving::start(&args, &env);
    let data = serving.home.path().join(".local/share/countersign");
    let kept = all_that_is_in(&data);
    assert!(kept.windows(6).any(|bytes| bytes == b"SQLite"), "the database is among it");
    assert!(!kept.windows(11).any(|bytes| bytes == b"very-secret"));
    let (_, said) = serving.stop();
    assert!(!said.contains("very-secret"), "{said}");
    let help = output(&["serve", "-h"]);
    assert!(!String::from_utf8(help.stdout).unwrap().contains("very-secret"));
}

/// What is in all files below a folder, but for those that nobody can read.
fn all_that_is_in(folder: &std::path::Path) -> Vec<u8> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let content = |entry: std::fs::DirEntry| match entry.file_type().unwrap() {
        kind if kind.is_dir() => all_that_is_in(&entry.path()),
        kind if kind.is_file() => std::fs::read(entry.path()).unwrap_or_default(),
        _ => Vec::new(),
    };
    entries.flat_map(content).collect()
}

#[test]
fn each_bench_prints_one_line_of_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("old"), "a\nb\n").unwrap();
    std::fs::write(path("new"), "a\nc\n").unwrap();
    for args in [
        &["bench", "approval", "--n", "8", "--c", "4", "--db", &path("bench.db")][..],
        &["bench", "diff", "--old", &path("old"), "--new", &path("new"), "--rounds", "2"],
        &["bench", "policy", "--rounds", "2"],
    ] {
        let printed = output(args);
        assert!(printed.status.success(), "{}", stderr(&printed));
        let line: Value = serde_json::from_slice(&printed.stdout).unwrap();
        assert_eq!(line["role"], "ours");
        assert!(line["p50_us"].as_f64().unwrap() > 0.0, "{line}");
    }
}

#[test]
fn every_listener_sees_a_request_exactly_once() {
    let printed = output(&["bench", "listeners", "--n", "200"]);
    assert!(printed.status.success(), "{}", stderr(&printed));
    let line: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!((&line["n"], &line["saw_once"]), (&json!(200), &json!(200)));
    assert!(line["last_ms"].as_f64() >= line["first_ms"].as_f64(), "{line}");
}

/// The user's rules hold, out of reach of the agent's commands, and what a workspace allows waits.
#[tokio::test]
async fn rules_in_files_hold_and_a_workspace_waits_for_trust() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().canonicalize().unwrap().join(name);
    std::fs::create_dir_all(path("config/countersign")).unwrap();
    std::fs::create_dir(path("ws")).unwrap();
    let own = path("config/countersign/config.toml");
    std::fs::write(&own, "[permissions]\ndeny = ['Bash(git push:*)']\n").unwrap();
    let allows = "[permissions]\nallow = ['Bash(touch:*)']\n";
    std::fs::write(path("ws/countersign.toml"), allows).unwrap();
    let (root, config) = (path("ws").display().to_string(), path("config").display().to_string());
    let args = ["serve", "--demo", "--listen", "127.0.0.1:0", "--token", TOKEN, "--root", &root];
    let mut serving = Serving::start(&args, &[("XDG_CONFIG_HOME", &config)]);
    let said = serving.says("countersign policy trust");
    assert!(said.starts_with("`countersign.toml` of this workspace allows things"), "{said}");
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let check = async |tool: &str, input: Value| -> String {
        let url = format!("{}/my/projects/default/rules/check", serving.url);
        let call = json!({"tool_name": tool, "tool_input": input});
        let answer = client.post(url).bearer_auth(TOKEN).json(&call).send().await.unwrap();
        let said: Value = answer.json().await.unwrap();
        said["verdict"].as_str().unwrap().to_owned()
    };
    let bash = async |command: &str| check("Bash", json!({"command": command})).await;
    assert_eq!(bash("git push").await, "deny");
    assert_eq!(bash("touch a").await, "ask");
    assert_eq!(bash(&format!("echo > {}", own.display())).await, "deny", "that would be cheating");
    let read = async || check("Read", json!({"file_path": "countersign.toml"})).await;
    assert_eq!(read().await, "allow");
    std::fs::write(&own, "[permissions\n").unwrap();
    assert_eq!(read().await, "ask", "what cannot be read asks");
}
