//! What whoever runs a server sees of it: the log and the metrics.

use serde_json::{Value, json};

use crate::world::{Client, Serving, TOKEN};

const WRITES: &str = "Create a new file called a.txt with the content \"one\"";

const JSON: [&str; 8] =
    ["serve", "--demo", "--listen", "127.0.0.1:0", "--token", TOKEN, "--log-format", "json"];

#[tokio::test]
async fn a_call_leaves_a_line_of_json_for_each_of_its_steps() {
    let serving = Serving::start(&JSON, &[]);
    let mut client = serving.client().await;
    let asked = ask(&mut client, WRITES).await;
    approve(&serving, &asked, "click-1").await;
    client.until("result/success").await;
    let lines = json_lines(&serving.stop().1);
    let steps: Vec<_> = lines.iter().filter(|line| line["target"] == "activity").collect();
    let told: Vec<_> = steps.iter().map(|line| text(&line["message"])).collect();
    let expected = [
        "run started",
        "model answered",
        "call asked",
        "call decided",
        "call started",
        "call executed",
        "model answered",
        "run ended",
    ];
    assert_eq!(told, expected);
    let [_, _, request, decided, _, executed, _, ended] = steps[..] else { panic!("{steps:?}") };
    for line in [request, decided, executed] {
        let fields = ["tool", "verdict", "risk", "approval_id"].map(|name| text(&line[name]));
        assert_eq!(fields, ["Write", "ask", "MEDIUM", text(&asked["request_id"])], "{line}");
        assert_eq!(line["level"], "INFO");
        for id in ["execution_id", "run_id", "session_id", "project_id"] {
            assert_eq!(line[id], request[id], "{id} of {line}");
            assert!(!text(&line[id]).is_empty(), "{id} of {line}");
        }
    }
    assert_eq!(request["status"], "AWAITING_APPROVAL");
    assert_eq!((&decided["decision"], &decided["by"]), (&json!("approve"), &json!("person")));
    assert!(decided["waited_ms"].is_u64(), "{decided}");
    assert_eq!(executed["status"], "COMPLETED");
    assert!(executed["duration_ms"].is_u64(), "{executed}");
    assert_eq!((&ended["outcome"], &ended["run_id"]), (&json!("done"), &request["run_id"]));
    assert!(ended["duration_ms"].is_u64(), "{ended}");
    let spans = |line: &Value| -> Vec<String> {
        let spans = line["spans"].as_array().into_iter().flatten();
        spans.map(|span| text(&span["name"]).to_owned()).collect()
    };
    assert_eq!(spans(request), ["run", "call"]);
    assert_eq!(spans(decided), ["request"]);
    assert_eq!(decided["spans"][0]["request_id"], "click-1");
    assert_eq!(executed["spans"][1]["decision"], Value::Null, "it was decided elsewhere");
    assert_eq!(executed["spans"][1]["verdict"], "ask");
}

#[tokio::test]
async fn what_a_caller_hands_in_is_told_with_its_edit() {
    let serving = Serving::start(&JSON, &[]);
    let input = json!({"file_path": "b.txt", "content": "k-very-secret"});
    let body = json!({"tool_name": "Write", "tool_input": input});
    let call = post(&serving, "tools/calls", "hand-in", body).await;
    let edited = json!({"file_path": "b.txt", "content": "k-very-edited"});
    let decision = json!({"message": "k-very-private", "edited_input": edited});
    let path = format!("approvals/{}/approve", text(&call["approval_id"]));
    post(&serving, &path, "edit", decision).await;
    let said = serving.stop().1;
    assert!(!said.contains("k-very"), "{said}");
    let lines = json_lines(&said);
    let steps: Vec<_> = lines.iter().filter(|line| line["target"] == "activity").collect();
    let told = |line: &&Value| {
        let request = line["spans"][0]["request_id"].clone();
        [line["message"].clone(), line["decision"].clone(), request]
    };
    let told: Vec<_> = steps.iter().map(told).collect();
    let expected = [
        [json!("call asked"), Value::Null, json!("hand-in")],
        [json!("call decided"), json!("edit"), json!("edit")],
    ];
    assert_eq!(told, expected, "{said}");
}

#[tokio::test]
async fn requests_are_told_by_their_route_and_no_secret_is() {
    let args = ["serve", "--demo", "--listen", "127.0.0.1:0", "--token", TOKEN];
    let serving = Serving::start(&args, &[("COUNTERSIGN_LOG", "trace")]);
    let mut client = serving.client().await;
    ask(&mut client, WRITES).await;
    for path in
        ["/agent?token=k-very-secret", "/my/approvals?cursor=k-very-secret", "/k-very-secret"]
    {
        let url = format!("{}{path}", serving.url);
        let request = reqwest::Client::new().get(url).bearer_auth(TOKEN);
        request.header("x-request-id", "k-very-\"secret").send().await.unwrap();
    }
    let (_, said) = serving.stop();
    assert!(!said.contains("k-very-") && !said.contains(TOKEN), "{said}");
    assert!(!said.contains('\u{1b}'), "a pipe gets no colours: {said}");
    let answered = said.lines().filter(|line| line.contains(" request: request answered"));
    let routes: Vec<_> = answered.filter_map(|line| line.split("route=").nth(1)).collect();
    assert!(routes.iter().any(|route| route.starts_with("\"/my/approvals\"")), "{said}");
    let opened = said.lines().find(|line| line.contains("stream opened")).unwrap();
    assert!(opened.contains("status=101") && !opened.contains("duration"), "{opened}");
}

#[tokio::test]
async fn metrics_tell_how_long_things_take_and_how_old_the_oldest_request_is() {
    let serving = Serving::start(&JSON, &[]);
    let mut client = serving.client().await;
    assert_eq!(metric(&serving, "countersign_oldest_waiting_seconds").await, Some(0.0));
    let asked = ask(&mut client, WRITES).await;
    // It grows: the request was made less than a millisecond ago at first.
    while metric(&serving, "countersign_oldest_waiting_seconds").await == Some(0.0) {}
    let age = metric(&serving, "countersign_oldest_waiting_seconds").await.unwrap();
    assert!(age > 0.0 && age < 600.0, "{age}");
    approve(&serving, &asked, "click-1").await;
    client.until("result/success").await;
    assert_eq!(metric(&serving, "countersign_oldest_waiting_seconds").await, Some(0.0));
    for (name, label) in [
        ("countersign_verdict_seconds", "verdict=\"ask\""),
        ("countersign_decision_seconds", "decision=\"approve\""),
        ("countersign_execution_seconds", "status=\"completed\""),
    ] {
        for line in [
            format!("{name}_count{{{label}}}"),
            format!("{name}_bucket{{{label},le=\"10\"}}"),
            format!("{name}_bucket{{{label},le=\"+Inf\"}}"),
        ] {
            assert_eq!(metric(&serving, &line).await, Some(1.0), "{line}");
        }
        assert!(metric(&serving, &format!("{name}_sum{{{label}}}")).await.unwrap() >= 0.0);
    }
}

#[test]
fn an_unknown_log_format_is_wrong_usage() {
    let output = crate::world::output(&["serve", "--log-format", "xml"]);
    assert_eq!(output.status.code(), Some(2));
}

/// Runs a prompt until it asks, and returns the request.
async fn ask(client: &mut Client, prompt: &str) -> Value {
    client.send(json!({"command": "run", "prompt": prompt})).await;
    client.until("tool_approval_request").await
}

async fn approve(serving: &Serving, asked: &Value, request_id: &str) {
    let path = format!("approvals/{}/approve", text(&asked["request_id"]));
    post(serving, &path, request_id, json!({})).await;
}

async fn post(serving: &Serving, path: &str, request_id: &str, body: Value) -> Value {
    let url = format!("{}/my/projects/default/{path}", serving.url);
    let request = reqwest::Client::new().post(url).bearer_auth(TOKEN).json(&body);
    let answer = request.header("x-request-id", request_id).send().await.unwrap();
    assert_eq!(answer.headers()["x-request-id"], request_id);
    let (status, body) = (answer.status(), answer.text().await.unwrap());
    assert!(status.is_success(), "{status} {body}");
    serde_json::from_str(&body).unwrap()
}

/// Returns the value of one line of the metrics.
async fn metric(serving: &Serving, name: &str) -> Option<f64> {
    let metrics = reqwest::get(format!("{}/metrics", serving.url)).await.unwrap();
    let metrics = metrics.text().await.unwrap();
    let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.map(|value| value.parse().unwrap())
}

/// Returns the log; each of its lines is an object with a time, a level and a target.
fn json_lines(said: &str) -> Vec<Value> {
    let parse = |line: &str| -> Value {
        let object: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        for name in ["timestamp", "level", "target", "message"] {
            assert!(object[name].is_string(), "{name} of {line}");
        }
        object
    };
    said.lines().map(parse).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
