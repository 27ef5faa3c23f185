//! Connections that drop, pages that reload, servers that restart: nothing is lost.

use serde_json::{Value, json};

use crate::world::{Client, World, name};

const TALK: &str = r#"
[[script]]
prompt = 'write'
[[script.turn]]
say = "One."
call = { tool = "Write", input = { file_path = "a.txt", content = "a" } }
[[script.turn]]
say = "Two."

[[script]]
[[script.turn]]
say = "I remember: {{prompt}}."
"#;

#[tokio::test]
async fn a_run_goes_on_without_its_client_and_who_comes_back_sees_it_all() {
    let world = World::playing(TALK).await;
    let mut client = world.client().await;
    client.run("write").await;
    let init = client.next().await;
    let session = init["session_id"].clone();
    drop(client);
    let mut back = world.client().await;
    let request = back.until("tool_approval_request").await;
    back.send(json!({"command": "resume", "after": 0, "session_id": session})).await;
    assert_eq!(back.next().await["content"]["active"], true);
    back.decide(&request, true, None).await;
    let told = back.gather("result/success").await;
    let told = logged(&told);
    assert_eq!(
        told,
        [
            "system/init",
            "user/prompt",
            "assistant/text",
            "assistant/tool_use",
            "tool_approval_resolved",
            "user/tool_result",
            "assistant/text",
            "result/success"
        ]
    );
    assert_eq!(world.file("a.txt"), "a");
}

#[tokio::test]
async fn resuming_after_a_number_gives_what_came_after_it_once() {
    let world = World::playing(TALK).await;
    let mut client = world.client().await;
    client.run("hello").await;
    let all = client.gather("result/success").await;
    let middle = all.iter().find(|message| name(message) == "assistant/text").unwrap();
    let mut other = world.client().await;
    other.send(json!({"command": "resume", "after": middle["seq"]})).await;
    let resumed = other.next().await;
    assert_eq!(name(&resumed), "system/resumed");
    assert_eq!(resumed["content"]["head"], all.last().unwrap()["seq"]);
    assert_eq!(logged(&[other.next().await]), ["result/success"]);
    assert_eq!(name(&other.next().await), "system/caught_up");
    // What comes now comes to it too, also from runs it did not start.
    client.run("more").await;
    assert_eq!(logged(&other.gather("result/success").await).len(), 4);
}

/// Of what is settled nothing is remembered for a connection: a replay tells of it as of any other.
#[tokio::test]
async fn resuming_on_the_same_connection_tells_of_what_was_settled_on_it() {
    let world = World::playing(TALK).await;
    let mut client = world.client().await;
    client.run("write").await;
    let request = client.until("tool_approval_request").await;
    client.decide(&request, true, None).await;
    client.until("result/success").await;
    client.send(json!({"command": "resume", "after": 0})).await;
    let mut told = client.gather("result/success").await;
    assert_eq!(name(&client.next().await), "system/caught_up");
    told.retain(|message| name(message).starts_with("tool_approval"));
    let [again, resolved] = told.as_slice() else { panic!("{told:#?}") };
    assert_eq!(
        (&again["request_id"], &again["status"]),
        (&request["request_id"], &json!("APPROVED"))
    );
    assert_eq!(again["allowed_decisions"], json!([]));
    assert_eq!(resolved["request_id"], request["request_id"]);
}

/// A page that opens a new conversation names it itself, and hears nothing of the others.
#[tokio::test]
async fn a_conversation_that_has_not_begun_can_be_watched() {
    let world = World::playing(TALK).await;
    let mut client = world.client().await;
    client.run("write").await;
    let request = client.until("tool_approval_request").await;
    client.decide(&request, true, None).await;
    client.until("result/success").await;
    let mut page = world.client().await;
    page.send(json!({"command": "resume", "after": 0, "session_id": "mine"})).await;
    assert_eq!(name(&page.next().await), "system/resumed");
    assert_eq!(name(&page.next().await), "system/caught_up");
    page.send(json!({"command": "run", "prompt": "hello", "session_id": "mine"})).await;
    let init = page.next().await;
    assert_eq!((name(&init).as_str(), &init["session_id"]), ("system/init", &json!("mine")));
    page.until("result/success").await;
}

#[tokio::test]
async fn a_plain_client_hears_of_its_own_runs_and_of_everybodys_requests() {
    let world = World::playing(TALK).await;
    let (mut one, mut two) = (world.client().await, world.client().await);
    one.run("write").await;
    let request = two.next().await;
    assert_eq!(name(&request), "tool_approval_request");
    two.decide(&request, true, None).await;
    assert_eq!(name(&two.next().await), "tool_approval_resolved");
    one.until("result/success").await;
    two.run("hello").await;
    assert_eq!(name(&two.next().await), "system/init", "nothing of the other run in between");
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_restart() {
    let world = World::playing(TALK).await;
    let mut client = world.client().await;
    client.run("hello").await;
    let first = client.gather("result/success").await;
    let world = world.restarted().await;
    let mut client = world.client().await;
    client.send(json!({"command": "run", "prompt": "and now", "continue": true})).await;
    let second = client.gather("result/success").await;
    assert_eq!(first[0]["session_id"], second[0]["session_id"]);
    assert!(second[0]["seq"].as_u64() > first[0]["seq"].as_u64(), "one log, one count");
}

#[tokio::test]
async fn a_request_that_waits_survives_a_stop_and_a_kill_and_runs_once() {
    for kill in [false, true] {
        let world = World::playing(TALK).await;
        let mut client = world.client().await;
        client.run("write").await;
        let before = client.until("tool_approval_request").await;
        let world = if kill { world.killed().await } else { world.restarted().await };
        let (mut one, mut two) = (world.client().await, world.client().await);
        let mut requests = Vec::new();
        for client in [&mut one, &mut two] {
            let session = before["session_id"].clone();
            client.send(json!({"command": "resume", "after": 0, "session_id": session})).await;
            requests.push(client.until("tool_approval_request").await);
            let resumed = client.until("system/resumed").await;
            assert_eq!(resumed["content"]["active"], true);
        }
        for request in &requests {
            for key in ["request_id", "digest", "expires_at", "tool_use_id"] {
                assert_eq!(request[key], before[key], "{key}");
            }
        }
        one.decide(&requests[0], true, None).await;
        let told = [
            "system/init",
            "user/prompt",
            "assistant/text",
            "assistant/tool_use",
            "system/run_resumed",
            "tool_approval_resolved",
            "user/tool_result",
            "assistant/text",
            "result/success",
        ];
        for client in [&mut one, &mut two] {
            assert_eq!(logged(&client.gather("result/success").await), told);
        }
        assert_eq!(world.file("a.txt"), "a");
    }
}

#[tokio::test]
async fn a_run_that_goes_on_can_be_stopped_and_approved_in_one() {
    for (command, end) in [("cancel", "result/error"), ("approve_all", "result/success")] {
        let world = World::playing(TALK).await;
        let mut client = world.client().await;
        client.run("write").await;
        let session = client.until("tool_approval_request").await["session_id"].clone();
        let world = world.killed().await;
        let mut client = world.client().await;
        let request = client.until("tool_approval_request").await;
        client.send(json!({"command": "resume", "after": 0, "session_id": session})).await;
        client.until("system/caught_up").await;
        if command == "cancel" {
            client.send(json!({"command": command, "session_id": session})).await;
        } else {
            client.approve_all(&[&request]).await;
        }
        client.until(end).await;
        assert_eq!(world.path("a.txt").exists(), command == "approve_all");
        client.send(json!({"command": "run", "prompt": "hello", "continue": true})).await;
        client.until("result/success").await;
    }
}

/// What runs gets a while to come to its end when the server is told to stop.
#[tokio::test]
async fn a_command_that_runs_when_the_server_stops_comes_to_its_end() {
    let world =
        World::playing(&commands("touch started; until test -e go; do :; done; echo done >> ran"))
            .await;
    let mut client = world.client().await;
    let session = started(&world, &mut client).await;
    let go = world.path("go");
    let stopping = tokio::spawn(world.restarted());
    client.until_closed().await;
    std::fs::write(go, "").unwrap();
    let world = stopping.await.unwrap();
    let mut client = world.client().await;
    client.send(json!({"command": "resume", "after": 0, "session_id": session})).await;
    let told = client.gather("result/success").await;
    let result = told.iter().find(|message| name(message) == "user/tool_result").unwrap();
    assert_eq!(result["content"]["is_error"], false, "{result}");
    assert_eq!(world.file("ran"), "done\n");
}

#[tokio::test]
async fn a_command_that_ran_when_the_server_died_is_not_run_again() {
    let world =
        World::playing(&commands("echo once >> ran; touch started; until test -e go; do :; done"))
            .await;
    let mut client = world.client().await;
    let session = started(&world, &mut client).await;
    let world = world.killed_and(|root| std::fs::write(root.join("go"), "").unwrap()).await;
    let mut client = world.client().await;
    client.send(json!({"command": "resume", "after": 0, "session_id": session})).await;
    let told = client.gather("result/success").await;
    let result = told.iter().find(|message| name(message) == "user/tool_result").unwrap();
    let content = result["content"]["content"].as_str().unwrap();
    assert!(content.contains("Whether it took effect is unknown"), "{content}");
    assert_eq!(world.file("ran"), "once\n");
}

#[tokio::test]
async fn a_run_whose_folder_is_gone_is_ended_and_says_so() {
    let world = World::playing(TALK).await;
    std::fs::create_dir(world.path("sub")).unwrap();
    let mut client = world.client().await;
    client.send(json!({"command": "run", "prompt": "write", "cwd": "sub"})).await;
    let session = client.until("tool_approval_request").await["session_id"].clone();
    let world = world.killed_and(|root| std::fs::remove_dir(root.join("sub")).unwrap()).await;
    let mut client = world.client().await;
    client.send(json!({"command": "resume", "after": 0, "session_id": session})).await;
    let told = client.gather("result/error").await;
    let message = told.last().unwrap()["content"]["message"].as_str().unwrap();
    assert!(message.contains("cannot be worked in"), "{message}");
    assert!(logged(&told).contains(&"tool_approval_resolved".to_owned()));
    client.send(json!({"command": "run", "prompt": "hello", "continue": true})).await;
    client.until("result/success").await;
}

fn commands(command: &str) -> String {
    format!(
        "[[script]]\n[[script.turn]]\ncall = {{ tool = 'Bash', input = {{ command = '{command}' }} }}\n\
         [[script.turn]]\nsay = 'Done.'"
    )
}

/// Runs the command and returns its conversation once it has started.
async fn started(world: &World, client: &mut Client) -> Value {
    client.run("go").await;
    let request = client.until("tool_approval_request").await;
    client.decide(&request, true, None).await;
    while !world.path("started").exists() {
        tokio::task::yield_now().await;
    }
    request["session_id"].clone()
}

/// The names of the messages that are in the log, in order; numbers must rise.
fn logged(messages: &[Value]) -> Vec<String> {
    let logged: Vec<_> = messages.iter().filter(|message| message["seq"].is_u64()).collect();
    assert!(logged.is_sorted_by_key(|message| message["seq"].as_u64()), "{logged:?}");
    logged.into_iter().map(name).collect()
}
