//! One inbox over all projects: what waits anywhere is seen, named and decided where a person is.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::world::{World, name};

const WRITES: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "Write", id = "w", input = { file_path = "a.txt", content = "a" } }
[[script.turn]]
say = "Done."
"#;

fn write(file: &str) -> Value {
    json!({"file_path": file, "content": "x"})
}

#[tokio::test]
async fn what_waits_in_another_project_is_shown_and_decided_in_the_inbox() {
    let world = World::playing(WRITES).await;
    let shop = world.project("shop").await;
    let before = world.hand_in(&shop, "Write", write("before.txt")).await;
    let mut inbox = world.client_with("&inbox=all").await;
    let first = inbox.until("tool_approval_request").await;
    assert_eq!(first["request_id"], before["approval_id"]);
    assert_eq!(
        first["workspace"],
        json!({"project_id": shop, "name": "shop", "root": world.root.join("shop")})
    );
    let after = world.hand_in(&shop, "Write", write("after.txt")).await;
    let second = inbox.until("tool_approval_request").await;
    assert_eq!(second["request_id"], after["approval_id"]);
    assert_eq!(second["seq"], Value::Null, "numbers are those of the connection's own project");
    inbox.decide(&first, true, None).await;
    inbox.decide(&second, false, Some("elsewhere")).await;
    for (request, status) in [(&first, "APPROVED"), (&second, "REJECTED")] {
        let resolved = inbox.until("tool_approval_resolved").await;
        assert_eq!(
            (&resolved["request_id"], &resolved["status"], &resolved["seq"]),
            (&request["request_id"], &json!(status), &Value::Null)
        );
    }
}

#[tokio::test]
async fn a_project_that_is_made_later_is_in_the_inbox_too() {
    let world = World::playing(WRITES).await;
    let mut inbox = world.client_with("&project=default&inbox=all").await;
    inbox.send(json!({"command": "resume", "after": 0})).await;
    inbox.until("system/caught_up").await;
    let late = world.project("late").await;
    let call = world.hand_in(&late, "Write", write("a.txt")).await;
    let request = inbox.until("tool_approval_request").await;
    assert_eq!(
        (&request["request_id"], &request["workspace"]["name"]),
        (&call["approval_id"], &json!("late"))
    );
}

#[tokio::test]
async fn without_the_inbox_another_projects_requests_are_neither_shown_nor_decided() {
    let world = World::playing(WRITES).await;
    let shop = world.project("shop").await;
    let call = world.hand_in(&shop, "Write", write("a.txt")).await;
    let mut plain = world.client().await;
    let unseen = json!({"request_id": call["approval_id"]});
    plain.decide(&unseen, true, None).await;
    assert_eq!(plain.next().await["content"]["code"], "unknown_request");
    let mut other = world.client_with(&format!("&project={shop}")).await;
    let request = other.until("tool_approval_request").await;
    plain.approve_all(&[&request]).await;
    let answered = plain.next().await;
    assert_eq!(answered["content"]["answers"][0]["code"], "not_found", "{answered}");
    other.decide(&request, true, None).await;
    assert_eq!(other.until("tool_approval_resolved").await["status"], "APPROVED");
}

#[tokio::test]
async fn approve_all_takes_exactly_what_was_seen_and_answers_for_each() {
    let world = World::playing(WRITES).await;
    let shop = world.project("shop").await;
    let mut inbox = world.client_with("&inbox=all").await;
    let mut shown = async |project: &str, tool: &str, input: Value| {
        world.hand_in(project, tool, input).await;
        inbox.until("tool_approval_request").await
    };
    let here = shown("default", "Write", write("1.txt")).await;
    let there = shown(&shop, "Write", write("2.txt")).await;
    let high = shown("default", "Bash", json!({"command": "rm -rf build"})).await;
    let mut changed = shown("default", "Write", write("3.txt")).await;
    changed["digest"] = json!("another");
    let settled = shown(&shop, "Write", write("4.txt")).await;
    let unlisted = shown("default", "Write", write("5.txt")).await;
    inbox.decide(&settled, false, None).await;
    inbox.until("tool_approval_resolved").await;
    let unknown = json!({"request_id": "no-such-id", "digest": "d"});
    inbox.approve_all(&[&here, &there, &there, &high, &changed, &settled, &unknown]).await;
    let answered = inbox.until("approve_all_answered").await;
    let answers: Vec<_> = answered["content"]["answers"].as_array().unwrap().iter().collect();
    let brief = |it: &&Value| json!([it["request_id"], it["outcome"], it["code"]]);
    assert_eq!(
        answers.iter().map(brief).collect::<Vec<_>>(),
        [
            json!([here["request_id"], "approved", null]),
            json!([there["request_id"], "approved", null]),
            json!([high["request_id"], "refused", "high_risk"]),
            json!([changed["request_id"], "refused", "digest_mismatch"]),
            json!([settled["request_id"], "refused", "already_settled"]),
            json!(["no-such-id", "refused", "not_found"]),
        ]
    );
    assert!(answers.iter().skip(2).all(|it| it["message"].is_string()), "{answered}");
    let waiting = world.get("/my/approvals?status=pending").await;
    let mut waiting: Vec<_> = waiting["approvals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["approval_id"].clone())
        .collect();
    waiting.sort_by_key(ToString::to_string);
    let mut left = [&high, &changed, &unlisted].map(|it| it["request_id"].clone());
    left.sort_by_key(ToString::to_string);
    assert_eq!(waiting, left);
}

#[tokio::test]
async fn approve_all_without_a_list_approves_nothing() {
    let world = World::playing(WRITES).await;
    let mut client = world.client().await;
    client.run("go").await;
    let request = client.until("tool_approval_request").await;
    client.send(json!({"command": "approve_all", "session_id": request["session_id"]})).await;
    let refused = client.next().await;
    assert_eq!(
        (name(&refused), &refused["content"]["code"]),
        ("error".to_owned(), &json!("requests_missing"))
    );
    assert!(refused["content"]["message"].as_str().unwrap().contains("\"requests\""));
    let many: Vec<_> =
        (0..1001).map(|n| json!({"request_id": n.to_string(), "digest": "d"})).collect();
    client.send(json!({"command": "approve_all", "requests": many})).await;
    assert_eq!(client.next().await["content"]["code"], "too_many_requests");
    let status = world.get("/my/approvals?status=pending").await;
    assert_eq!(status["approvals"][0]["approval_id"], request["request_id"]);
}

#[tokio::test]
async fn approve_all_goes_on_when_its_sender_has_gone() {
    let world = World::playing(WRITES).await;
    let shop = world.project("shop").await;
    let mut watching = world.client_with(&format!("&project={shop}")).await;
    let mut inbox = world.client_with("&inbox=all").await;
    let mut seen = Vec::new();
    for n in 0..60 {
        world.hand_in(&shop, "Write", write(&format!("{n}.txt"))).await;
        seen.push(inbox.until("tool_approval_request").await);
    }
    inbox.approve_all(&seen.iter().collect::<Vec<_>>()).await;
    drop(inbox);
    for _ in &seen {
        assert_eq!(watching.until("tool_approval_resolved").await["status"], "APPROVED");
    }
}

#[tokio::test]
async fn every_view_names_workspace_conversation_and_agent() {
    let world = World::playing(WRITES).await;
    let mut stream = world.stream("").await;
    let mut client = world.client().await;
    client.run("write a file for me").await;
    let request = client.until("tool_approval_request").await;
    let id = request["request_id"].as_str().unwrap();
    let session = &request["session_id"];
    let project = world.get("/my/projects/default").await["project_id"].clone();
    let workspace = json!({"project_id": project, "name": "ws", "root": world.root});
    let conversation = json!({"session_id": session, "title": "write a file for me"});
    let told = stream.until("tool.approval_request").await.data;
    let listed = world.get("/my/projects/default/approvals").await["approvals"][0].clone();
    let all = world.get("/my/approvals").await["approvals"][0].clone();
    let one = world.get(&format!("/my/projects/default/approvals/{id}")).await;
    let calls = world.get("/my/projects/default/tools/executions").await["executions"][0].clone();
    for view in [&request, &told, &listed, &all, &one, &calls] {
        assert_eq!(
            (&view["workspace"], &view["conversation"], &view["agent_name"]),
            (&workspace, &conversation, &json!("Countersign agent")),
            "{view}"
        );
    }
    let (status, conflict) = world
        .post(&format!("/my/projects/default/approvals/{id}/approve"), json!({"digest": "other"}))
        .await;
    assert_eq!((status, &conflict["approval"]["workspace"]), (StatusCode::CONFLICT, &workspace));
}

#[tokio::test]
async fn a_caller_is_called_by_its_token_and_has_no_conversation_of_ours() {
    let world = World::playing(WRITES).await;
    let mut client = world.client().await;
    client.run("a talk of the person").await;
    let session = client.until("tool_approval_request").await["session_id"].clone();
    let role = countersign_gate::TokenRole::Agent;
    let (token, secret) = world.gate().create_token(role, Some("deploy-bot")).await.unwrap();
    let body = json!({"tool_name": "Write", "tool_input": write("b.txt"), "session_id": session});
    let path = world.url("/my/projects/default/tools/calls");
    let call = world.http.post(path).bearer_auth(&secret).body(body.to_string()).send().await;
    let call: Value = call.unwrap().json().await.unwrap();
    assert_eq!(call["agent_name"], "deploy-bot", "{call}");
    assert_eq!(call["conversation"], json!({"session_id": session, "title": null}));
    let request = client.until("tool_approval_request").await;
    assert_eq!(request["agent_name"], "deploy-bot", "{}", token.id);
}
