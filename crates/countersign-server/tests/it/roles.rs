//! Roles: what a token may do, and that an agent's decides nothing.

use countersign_gate::TokenRole;
use futures_util::StreamExt;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;
use uuid::Uuid;

use crate::world::{Client, World};

const ASKS: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "Write", id = "toolu_1", input = { file_path = "a.txt", content = "x" } }
[[script.turn]]
say = "done"
"#;

const RUNS_ELSEWHERE: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "read_file", id = "toolu_1", input = { path = "a.txt" } }
[[script.turn]]
say = "Heard: {{result}}"
"#;

const CALLS: &str = "/my/projects/default/tools/calls";

#[tokio::test]
async fn each_role_gets_as_far_as_the_table_says() {
    use TokenRole::{Admin, Agent, Approver, Viewer};
    let world = World::playing(ASKS).await;
    let everybody = &[Admin, Approver, Agent, Viewer][..];
    let readers = &[Admin, Approver, Viewer][..];
    let (workers, deciders) = (&[Admin, Approver, Agent][..], &[Admin, Approver][..]);
    let unknown = "0190d3c4-0000-7000-8000-000000000001";
    for (method, path, admitted) in [
        (Method::GET, String::new(), readers),
        (Method::PATCH, String::new(), &[Admin]),
        (Method::POST, "/chat/messages".to_owned(), deciders),
        (Method::GET, "/sessions".to_owned(), readers),
        (Method::GET, "/sessions/s/messages".to_owned(), readers),
        (Method::POST, "/sessions/s/interrupt".to_owned(), deciders),
        (Method::GET, "/approvals".to_owned(), readers),
        (Method::GET, format!("/approvals/{unknown}"), readers),
        (Method::GET, format!("/approvals/{unknown}/diff"), readers),
        (Method::POST, format!("/approvals/{unknown}/approve"), deciders),
        (Method::POST, format!("/approvals/{unknown}/reject"), deciders),
        (Method::GET, "/tools/available".to_owned(), everybody),
        (Method::GET, "/tools/executions".to_owned(), readers),
        (Method::POST, "/tools/calls".to_owned(), workers),
        (Method::GET, format!("/tools/{unknown}"), everybody),
        (Method::POST, format!("/tools/{unknown}/result"), workers),
        (Method::POST, format!("/tools/{unknown}/lease"), workers),
        (Method::GET, format!("/tools/{unknown}/undo"), readers),
        (Method::POST, format!("/tools/{unknown}/undo"), deciders),
        (Method::POST, format!("/runs/{unknown}/undo"), deciders),
        (Method::GET, "/rules".to_owned(), readers),
        (Method::PUT, "/rules".to_owned(), &[Admin]),
        (Method::POST, "/rules/check".to_owned(), readers),
        (Method::POST, "/rules/trust".to_owned(), &[Admin]),
        (Method::DELETE, format!("/rules/{unknown}"), &[Admin]),
        (Method::GET, "/audit".to_owned(), readers),
    ] {
        for role in TokenRole::ALL {
            let (_, token) = token(&world, role, "somebody").await;
            let path = format!("/my/projects/default{path}");
            // Whatever is wrong with the body, that comes after the role.
            let body = (method != Method::GET).then(|| json!({"nonsense": 1}));
            let (status, body) = ask(&world, &token, method.clone(), &path, body).await;
            if admitted.contains(&role) {
                assert_ne!(status, StatusCode::FORBIDDEN, "{role} {method} {path}: {body}");
                assert_ne!(status, StatusCode::UNAUTHORIZED, "{role} {method} {path}: {body}");
            } else {
                assert_eq!(status, StatusCode::FORBIDDEN, "{role} {method} {path}: {body}");
                assert_eq!(body["error"]["code"], "role");
                let said = body["error"]["message"].as_str().unwrap();
                assert!(said.contains("needs the role"), "{said}");
            }
        }
    }
    let (_, agent) = token(&world, Agent, "somebody").await;
    let (status, _) = ask(&world, &agent, Method::GET, "/my/projects", None).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    let page = world.http.get(world.url(&format!("/agent?token={agent}"))).send().await.unwrap();
    assert_eq!(page.status(), StatusCode::UNAUTHORIZED, "an agent has no page");
}

#[tokio::test]
async fn an_agent_waits_for_its_own_calls_and_knows_of_no_others() {
    let world = World::playing(ASKS).await;
    let (_, mine) = token(&world, TokenRole::Agent, "mine").await;
    let (_, other) = token(&world, TokenRole::Agent, "other").await;
    let (_, approver) = token(&world, TokenRole::Approver, "ana").await;
    let (status, call) = ask(&world, &mine, Method::POST, CALLS, Some(write())).await;
    assert_eq!((status, &call["status"]), (StatusCode::OK, &json!("awaiting_approval")), "{call}");
    let path = format!("/my/projects/default/tools/{}", call["tool_id"].as_str().unwrap());
    for (method, rest) in [(Method::GET, ""), (Method::POST, "/lease"), (Method::POST, "/result")] {
        let body = json!({"status": "completed", "result": {"success": true}});
        let body = (method == Method::POST).then_some(body);
        let (status, body) = ask(&world, &other, method, &format!("{path}{rest}"), body).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{rest}: {body}");
    }
    let (status, taken) = ask(&world, &other, Method::POST, CALLS, Some(write())).await;
    assert_eq!((status, &taken["error"]["code"]), (StatusCode::CONFLICT, &json!("other_call")));
    assert!(taken.get("execution").is_none(), "nothing of another's call: {taken}");

    let approval = call["approval_id"].as_str().unwrap();
    let approve = format!("/my/projects/default/approvals/{approval}/approve");
    let yes = Some(json!({"decision": "approved"}));
    for agent in [&mine, &other] {
        let (status, _) = ask(&world, agent, Method::POST, &approve, yes.clone()).await;
        assert_eq!(status, StatusCode::FORBIDDEN);
    }
    let waited = format!("{path}?wait_seconds=60&known_status=awaiting_approval");
    let waiting = ask(&world, &mine, Method::GET, &waited, None);
    let deciding = ask(&world, &approver, Method::POST, &approve, yes);
    let ((_, told), (status, _)) = tokio::join!(waiting, deciding);
    assert_eq!(status, StatusCode::OK);
    assert_eq!((&told["status"], &told["decided_by"]), (&json!("approved"), &json!("ana")));
    let done = json!({"status": "completed", "result": {"success": true}});
    let (status, taken) =
        ask(&world, &mine, Method::POST, &format!("{path}/result"), Some(done)).await;
    assert_eq!(status, StatusCode::OK, "{taken}");
}

#[tokio::test]
async fn an_agents_client_hears_of_what_it_is_lent_and_of_nothing_else() {
    let world = World::playing(RUNS_ELSEWHERE).await;
    let (id, mine) = token(&world, TokenRole::Agent, "laptop").await;
    let (_, other) = token(&world, TokenRole::Agent, "other").await;
    let url = world.url("/my/projects/default/chat/stream?client_id=c1");
    let mut stream = world.http.get(&url).bearer_auth(&mine).send().await.unwrap();
    world.until_client(&format!("{id}:c1")).await;
    let (status, _) =
        world.post("/my/projects/default/chat/messages", json!({"content": "go"})).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let mut said = String::new();
    while !said.contains("tool.execution_signal") || !said.ends_with("\n\n") {
        said.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
    }
    let names: Vec<_> = said.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(names.first(), Some(&"tool.execution_signal"), "neither prompts nor texts: {said}");
    let data = said.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let signal: Value = serde_json::from_str(data).unwrap();
    let tool = signal["tool_id"].as_str().unwrap();
    let result = format!("/my/projects/default/tools/{tool}/result");
    let mut done = json!({"status": "completed", "result": {"success": true, "stdout": "x"}});
    // Under the same name, another token is another client.
    let theirs = world.http.get(&url).bearer_auth(&other).send().await.unwrap();
    assert_eq!(theirs.status(), StatusCode::OK);
    let (status, _) = ask(&world, &other, Method::POST, &result, Some(done.clone())).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    done["lease"] = json!("guessed");
    let (status, told) = ask(&world, &other, Method::POST, &result, Some(done.clone())).await;
    assert_eq!((status, told.get("execution")), (StatusCode::CONFLICT, None), "{told}");
    done["lease"] = signal["lease"].clone();
    let (status, taken) = ask(&world, &mine, Method::POST, &result, Some(done)).await;
    assert_eq!(status, StatusCode::OK, "{taken}");
}

#[tokio::test]
async fn a_socket_takes_from_each_role_what_it_may_say() {
    let world = World::playing(ASKS).await;
    let (_, agent) = token(&world, TokenRole::Agent, "hook").await;
    assert!(connect_async(socket(&world, &agent)).await.is_err());
    let (_, viewer) = token(&world, TokenRole::Viewer, "wall").await;
    let mut viewing = Client { socket: connect_async(socket(&world, &viewer)).await.unwrap().0 };
    viewing.run("go").await;
    let refused = viewing.next().await;
    assert_eq!(
        (&refused["type"], &refused["content"]["code"]),
        (&json!("result"), &json!("role")),
        "{refused}"
    );
    let (_, approver) = token(&world, TokenRole::Approver, "ana").await;
    let mut deciding = Client { socket: connect_async(socket(&world, &approver)).await.unwrap().0 };
    deciding.run("go").await;
    let request = deciding.until("tool_approval_request").await;
    let shown = viewing.until("tool_approval_request").await;
    assert_eq!(shown["request_id"], request["request_id"]);
    assert_eq!(shown["allowed_decisions"], json!([]), "nothing is offered that is refused");
    assert_ne!(request["allowed_decisions"], json!([]));
    viewing.decide(&shown, true, None).await;
    assert_eq!(viewing.until("error").await["content"]["code"], "role");
    for command in ["cancel", "approve_all"] {
        let all = json!({"command": command, "session_id": request["session_id"], "requests": []});
        viewing.send(all).await;
        assert_eq!(viewing.until("error").await["content"]["code"], "role", "{command}");
    }
    deciding.decide(&request, true, None).await;
    let decided = viewing.until("tool_approval_resolved").await;
    assert_eq!(decided["decided_by"], "ana");
    deciding.until("result/success").await;
}

#[tokio::test]
async fn a_revoked_token_is_worth_nothing_from_that_moment() {
    let world = World::playing(ASKS).await;
    let (id, approver) = token(&world, TokenRole::Approver, "ana").await;
    let mut deciding = Client { socket: connect_async(socket(&world, &approver)).await.unwrap().0 };
    deciding.run("go").await;
    let request = deciding.until("tool_approval_request").await;
    let signed_in = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let page = signed_in.no_proxy().build().unwrap();
    let page = page.get(world.url(&format!("/agent?token={approver}"))).send().await.unwrap();
    let cookie = page.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    let secret = page.headers()["location"].to_str().unwrap().rsplit('=').next().unwrap();
    let listing = || {
        let request = world.http.get(world.url("/my/projects/default/sessions"));
        request.header("cookie", cookie).header("x-countersign-session", secret).send()
    };
    assert_eq!(listing().await.unwrap().status(), StatusCode::OK);

    let now = world.gate().clock().now();
    assert!(world.gate().store().revoke_token(id, now).await.unwrap());
    assert!(!world.gate().store().revoke_token(id, now).await.unwrap(), "once");
    let (status, _) = ask(&world, &approver, Method::GET, "/my/projects", None).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert_eq!(listing().await.unwrap().status(), StatusCode::UNAUTHORIZED, "the page, too");
    deciding.decide(&request, true, None).await;
    loop {
        match deciding.socket.next().await {
            Some(Ok(Message::Text(text))) => {
                let said: Value = serde_json::from_str(&text).unwrap();
                assert_ne!(said["type"], "tool_approval_resolved", "{said}");
                if said["content"]["code"] == "not_signed_in" {
                    break;
                }
            }
            Some(Ok(Message::Close(_)) | Err(_)) | None => break,
            Some(Ok(_)) => {}
        }
    }
    assert!(!world.path("a.txt").exists());
}

async fn token(world: &World, role: TokenRole, name: &str) -> (Uuid, String) {
    let (kept, secret) = world.gate().create_token(role, Some(name)).await.unwrap();
    (kept.id, secret)
}

fn socket(world: &World, token: &str) -> String {
    format!("ws://{}/api/terminal/ws/agent?token={token}", world.address)
}

fn write() -> Value {
    json!({"tool_name": "Write", "tool_input": {"file_path": "a.txt", "content": "x"},
        "tool_use_id": "t1", "session_id": "s"})
}

async fn ask(
    world: &World,
    token: &str,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> (StatusCode, Value) {
    let mut request = world.http.request(method, world.url(path)).bearer_auth(token);
    if let Some(body) = body {
        request = request.body(body.to_string());
    }
    let answer = request.send().await.unwrap();
    let (status, text) = (answer.status(), answer.text().await.unwrap());
    (status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status} {text}")))
}
